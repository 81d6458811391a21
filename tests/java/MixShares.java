// SPDX-License-Identifier: Apache-2.0
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/**
 * Three methods burn CPU on thread "mix" in slices of 60, 30 and 10 %. Slices have random lengths:
 * fixed ones beat against the sampling clock. Argument: seconds of CPU time.
 *
 * TRUTH.cpu_ns: what the thread's own CPU clock says of each method.
 */
public class MixShares {
    static long spin(long x, int n) {
        for (int i = 0; i < n; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    static void heavy(long ns) {
        long start = Truth.cpu();
        do {
            Truth.sink += spin(start, 20000);
        } while (Truth.cpu() - start < ns);
    }

    static void middle(long ns) {
        long start = Truth.cpu();
        do {
            Truth.sink += spin(start, 20000);
        } while (Truth.cpu() - start < ns);
    }

    static void light(long ns) {
        long start = Truth.cpu();
        do {
            Truth.sink += spin(start, 20000);
        } while (Truth.cpu() - start < ns);
    }

    static void run(long ns) {
        long heavy = 0;
        long middle = 0;
        long light = 0;
        Random random = new Random(1);
        while (Truth.cpu() < ns) {
            long a = Truth.cpu();
            heavy((long) (6_000_000 * (0.5 + random.nextDouble())));
            long b = Truth.cpu();
            middle((long) (3_000_000 * (0.5 + random.nextDouble())));
            long c = Truth.cpu();
            light((long) (1_000_000 * (0.5 + random.nextDouble())));
            long d = Truth.cpu();
            heavy += b - a;
            middle += c - b;
            light += d - c;
        }
        Map<String, Long> cpu = new LinkedHashMap<>();
        cpu.put("heavy", heavy);
        cpu.put("middle", middle);
        cpu.put("light", light);
        Truth.put("cpu_ns", cpu);
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 8;
        Truth.ready();
        Thread thread = new Thread(() -> run(seconds * 1_000_000_000L), "mix");
        thread.start();
        thread.join();
        Truth.end();
    }
}
