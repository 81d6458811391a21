// SPDX-License-Identifier: Apache-2.0

/**
 * Three methods call each other, a to b to c to a, until DEPTH calls are on the stack of thread
 * "deep"; there leaf() burns CPU and returns only when the time is over. Arguments: depth, seconds.
 *
 * TRUTH.depth: frames a, b and c between run() and leaf().
 */
public class DeepRecursion {
    static long end;
    static int depth;

    static long leaf() {
        long x = 1;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 10000; i++) {
                x = x * 31 + i;
            }
        }
        return x;
    }

    static long a(int left) {
        return left <= 0 ? leaf() : b(left - 1) + left;
    }

    static long b(int left) {
        return left <= 0 ? leaf() : c(left - 1) + left;
    }

    static long c(int left) {
        return left <= 0 ? leaf() : a(left - 1) + left;
    }

    static void run() {
        Truth.sink += a(depth - 1);
    }

    public static void main(String[] arguments) throws Exception {
        depth = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 2000;
        long seconds = arguments.length > 1 ? Long.parseLong(arguments[1]) : 8;
        Truth.ready();
        end = System.nanoTime() + seconds * 1_000_000_000L;
        Thread thread = new Thread(null, DeepRecursion::run, "deep", 512L << 20);
        thread.start();
        thread.join();
        Truth.put("depth", depth);
        Truth.end();
    }
}
