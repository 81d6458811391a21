// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What every program here does: prints "READY pid", waits for a line on standard input when
 * -Dwait=true, does its work, prints one line "TRUTH {json}" with the numbers that a recording of it
 * is judged by, and stays alive for -Dhold=SECONDS more.
 */
final class Truth {
    private static final Map<String, Object> FACTS = new LinkedHashMap<>();
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /** Results go here, so that no loop can be optimised away. */
    static volatile long sink;

    private Truth() {}

    static void ready() throws IOException {
        System.out.println("READY " + ProcessHandle.current().pid());
        System.out.flush();
        if (Boolean.getBoolean("wait")) {
            System.in.read();
        }
    }

    /** CPU time of the calling thread. */
    static long cpu() {
        return THREADS.getCurrentThreadCpuTime();
    }

    static synchronized void put(String name, Object value) {
        FACTS.put(name, value);
    }

    static void end() throws InterruptedException {
        StringBuilder line = new StringBuilder("TRUTH ");
        value(line, FACTS);
        System.out.println(line);
        System.out.flush();
        Thread.sleep(1000L * Long.getLong("hold", 0));
    }

    private static void value(StringBuilder to, Object value) {
        if (value == null || value instanceof Number || value instanceof Boolean) {
            to.append(value);
        } else if (value instanceof Collection) {
            String comma = "";
            to.append('[');
            for (Object element : (Collection<?>) value) {
                to.append(comma);
                value(to, element);
                comma = ",";
            }
            to.append(']');
        } else if (value instanceof Map) {
            String comma = "";
            to.append('{');
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                to.append(comma).append('"').append(entry.getKey()).append("\":");
                value(to, entry.getValue());
                comma = ",";
            }
            to.append('}');
        } else {
            to.append('"').append(value.toString().replace("\\", "\\\\").replace("\"", "\\\"")).append('"');
        }
    }
}
