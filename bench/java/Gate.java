// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.lang.management.ManagementFactory;

/**
 * Around a fixed amount of work: prints READY, waits for the file -Dgate=FILE to appear (a profiler
 * attaches meanwhile), and at the end prints "RESULT cpu_ns=N wall_ns=N", of the whole process.
 */
final class Gate {
    private static final com.sun.management.OperatingSystemMXBean SYSTEM =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static long wall;
    private static long cpu;

    private Gate() {}

    static void begin() throws InterruptedException {
        String gate = System.getProperty("gate");
        System.out.println("READY");
        System.out.flush();
        while (gate != null && !new File(gate).exists()) {
            Thread.sleep(20);
        }
        cpu = SYSTEM.getProcessCpuTime();
        wall = System.nanoTime();
    }

    static void end() {
        long cpuNs = SYSTEM.getProcessCpuTime() - cpu;
        long wallNs = System.nanoTime() - wall;
        System.out.println("RESULT cpu_ns=" + cpuNs + " wall_ns=" + wallNs);
        System.out.flush();
    }
}
