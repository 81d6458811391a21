// SPDX-License-Identifier: Apache-2.0
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/**
 * Two loops of the same work on thread "bias", about half the time each: counted() has no safepoint
 * poll inside (run with -XX:LoopStripMiningIter=0 -XX:-UseCountedLoopSafepoints), polled() has one
 * in every round. A profiler that samples at safepoints charges nearly all to the second.
 *
 * TRUTH.cpu_ns: what the thread's own CPU clock says of each. Argument: seconds of CPU time.
 */
public class SafepointBias {
    static final int ROUNDS = 2_000_000;

    static long counted(long x) {
        for (int i = 0; i < ROUNDS; i++) {
            x = x * 6364136223846793005L + i;
        }
        return x;
    }

    /** The bound is volatile, so the loop is not a counted one. */
    static volatile int bound = ROUNDS;

    static long polled(long x) {
        for (int i = 0; i < bound; i++) {
            x = x * 6364136223846793005L + i;
        }
        return x;
    }

    static void run(long ns) {
        long counted = 0;
        long polled = 0;
        Random random = new Random(1);
        while (Truth.cpu() < ns) {
            long a = Truth.cpu();
            for (int k = random.nextInt(3); k >= 0; k--) {
                Truth.sink += counted(a);
            }
            long b = Truth.cpu();
            for (int k = random.nextInt(3); k >= 0; k--) {
                Truth.sink += polled(a);
            }
            counted += b - a;
            polled += Truth.cpu() - b;
        }
        Map<String, Long> cpu = new LinkedHashMap<>();
        cpu.put("counted", counted);
        cpu.put("polled", polled);
        Truth.put("cpu_ns", cpu);
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 8;
        Truth.ready();
        Thread thread = new Thread(() -> run(seconds * 1_000_000_000L), "bias");
        thread.start();
        thread.join();
        Truth.end();
    }
}
