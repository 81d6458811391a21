// SPDX-License-Identifier: Apache-2.0
import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** Says after each round of work "ROUND when cpu": the monotonic clock and the CPU time of the process, in ns. */
final class Rounds {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private Rounds() {}

    static void end() {
        System.out.println("ROUND " + System.nanoTime() + " " + SYSTEM.getProcessCpuTime());
    }
}
