// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Map;

/** Truth in the language of Java 8. */
final class Truth8 {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    static volatile long sink;

    private Truth8() {}

    static void ready() throws Exception {
        System.out.println("READY " + ManagementFactory.getRuntimeMXBean().getName().split("@")[0]);
        System.out.flush();
        if (Boolean.getBoolean("wait")) {
            System.in.read();
        }
    }

    static long cpu() {
        return THREADS.getCurrentThreadCpuTime();
    }

    static void end(String name, Map<String, ? extends Number> numbers) throws Exception {
        StringBuilder line = new StringBuilder("TRUTH {\"" + name + "\":{");
        String comma = "";
        for (Map.Entry<String, ? extends Number> entry : numbers.entrySet()) {
            line.append(comma).append('"').append(entry.getKey()).append("\":").append(entry.getValue());
            comma = ",";
        }
        System.out.println(line.append("}}"));
        System.out.flush();
        Thread.sleep(1000L * Long.getLong("hold", 0));
    }
}
