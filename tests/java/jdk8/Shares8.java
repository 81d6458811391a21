// SPDX-License-Identifier: Apache-2.0
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;

/** MixShares in the language of Java 8, on thread "mix". Argument: seconds of CPU time. */
public class Shares8 {
    static long spin(long x, int n) {
        for (int i = 0; i < n; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        return x;
    }

    static void heavy(long ns) {
        long start = Truth8.cpu();
        do {
            Truth8.sink += spin(start, 20000);
        } while (Truth8.cpu() - start < ns);
    }

    static void light(long ns) {
        long start = Truth8.cpu();
        do {
            Truth8.sink += spin(start, 20000);
        } while (Truth8.cpu() - start < ns);
    }

    static void run(long ns, Map<String, Long> cpu) {
        Random random = new Random(1);
        long heavy = 0;
        long light = 0;
        while (Truth8.cpu() < ns) {
            long a = Truth8.cpu();
            heavy((long) (7_000_000 * (0.5 + random.nextDouble())));
            long b = Truth8.cpu();
            light((long) (3_000_000 * (0.5 + random.nextDouble())));
            heavy += b - a;
            light += Truth8.cpu() - b;
        }
        cpu.put("heavy", heavy);
        cpu.put("light", light);
    }

    public static void main(String[] arguments) throws Exception {
        final long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 8;
        final Map<String, Long> cpu = new LinkedHashMap<>();
        Truth8.ready();
        Thread thread = new Thread(() -> run(seconds * 1_000_000_000L, cpu), "mix");
        thread.start();
        thread.join();
        Truth8.end("cpu_ns", cpu);
    }
}
