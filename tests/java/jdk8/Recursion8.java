// SPDX-License-Identifier: Apache-2.0
import java.util.Collections;

/** Recursion of a given depth to leaf(), on thread "deep". Arguments: depth, seconds. */
public class Recursion8 {
    static long end;

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
        return left <= 0 ? leaf() : a(left - 1) + left;
    }

    public static void main(String[] arguments) throws Exception {
        final int depth = Integer.parseInt(arguments[0]);
        Truth8.ready();
        end = System.nanoTime() + Long.parseLong(arguments[1]) * 1_000_000_000L;
        Thread thread = new Thread(null, () -> Truth8.sink += a(depth - 1), "deep", 64L << 20);
        thread.start();
        thread.join();
        Truth8.end("recursion", Collections.singletonMap("depth", depth));
    }
}
