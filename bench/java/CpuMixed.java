// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntUnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Deep recursion, collections, lambdas and regular expressions; the same work in every round, until it is killed.
 * After each round prints "ROUND when cpu": the monotonic clock and the CPU time of this thread, in ns.
 */
public class CpuMixed {
    static final Pattern ADDRESS = Pattern.compile("(\\w+)@(\\w+)\\.(com|org|net)(/[a-z]+)*");
    static long sink;

    static int recurse(int depth, int x) {
        return depth == 0 ? x ^ 0x5bd1e995 : recurse(depth - 1, x * 31 + depth) + (x & 3);
    }

    static long collections(int n) {
        Map<Integer, String> names = new HashMap<>();
        Map<String, Integer> counts = new TreeMap<>();
        for (int i = 0; i < n; i++) {
            names.put(i * 7919, "k" + i % 997);
            counts.merge("k" + i % 997, 1, Integer::sum);
        }
        long sum = 0;
        for (Map.Entry<Integer, String> entry : names.entrySet()) {
            sum += entry.getKey() ^ counts.get(entry.getValue());
        }
        return sum;
    }

    static long lambdas(int n) {
        IntUnaryOperator triple = x -> x * 3 + 1;
        IntUnaryOperator both = triple.andThen(x -> x ^ (x >>> 7)).compose(x -> x + 11);
        return IntStream.range(0, n).map(both).filter(x -> (x & 1) == 0).boxed()
                .collect(Collectors.summingLong(x -> x));
    }

    static long regex(int n) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            Matcher matcher = ADDRESS.matcher("user" + i + "@host" + i % 13 + ".org/a/b/c/zz");
            if (matcher.find()) {
                sum += matcher.end();
            }
        }
        return sum;
    }

    static void round(int number) {
        for (int k = 0; k < 150; k++) {
            sink += recurse(900, number + k);
        }
        sink += collections(7500);
        sink += lambdas(75000);
        sink += regex(6000);
    }

    public static void main(String[] arguments) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        System.out.println("READY");
        for (int number = 0;; number++) {
            round(number);
            System.out.println("ROUND " + System.nanoTime() + " " + threads.getCurrentThreadCpuTime());
        }
    }
}
