// SPDX-License-Identifier: Apache-2.0
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * run, outer, mid, inner and core are small: C2 makes one compiled method of them. osr() is one call
 * that never returns early, so only on-stack replacement speeds it up. Argument: seconds.
 *
 * TRUTH.cpu_ns: of "chain" and "osr"; TRUTH.chain: the five in calling order.
 */
public class InlineOsr {
    /** Not inlined when the JVM is told so: what is above it is then exact in the debug info. */
    static long leaf(long x) {
        for (int i = 0; i < 40; i++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    static long core(long x) {
        return leaf(x) + 1;
    }

    static long inner(long x) {
        long sum = 0;
        for (int i = 0; i < 64; i++) {
            sum += core(x + i);
        }
        return sum;
    }

    static long mid(long x) {
        return inner(x) + inner(x + 1);
    }

    static long outer(long x) {
        return mid(x) ^ mid(x + 7);
    }

    static long run(long ns) {
        long start = Truth.cpu();
        long sum = 1;
        do {
            for (int i = 0; i < 250; i++) {
                sum += outer(sum);
            }
        } while (Truth.cpu() - start < ns);
        return sum;
    }

    static long osr(long end) {
        long sum = 1;
        for (long i = 0;; i++) {
            sum = sum * 31 + i;
            if ((i & 0xfffff) == 0 && System.nanoTime() > end) {
                return sum;
            }
        }
    }

    public static void main(String[] arguments) throws Exception {
        long half = (arguments.length > 0 ? Long.parseLong(arguments[0]) : 8) * 500_000_000L;
        Truth.ready();
        Map<String, Long> cpu = new TreeMap<>();
        long start = Truth.cpu();
        Truth.sink += run(half);
        cpu.put("chain", Truth.cpu() - start);
        start = Truth.cpu();
        Truth.sink += osr(System.nanoTime() + half);
        cpu.put("osr", Truth.cpu() - start);
        Truth.put("cpu_ns", cpu);
        Truth.put("chain", List.of("run", "outer", "mid", "inner", "core"));
        Truth.end();
    }
}
