// SPDX-License-Identifier: Apache-2.0
/**
 * Threads that want one monitor, and may have it again before those who wait are awake.
 *
 * <p>Crowd SECONDS THREADS.
 */
public class Crowd {
    static final class Gate {}

    private static final Gate GATE = new Gate();
    private static long shared;

    private static void work(long ns) {
        long end = System.nanoTime() + ns;
        while (System.nanoTime() < end) {
            shared++;
        }
    }

    static void pass(int seed) {
        synchronized (GATE) {
            work((seed & 7) == 0 ? 2_000_000 : 20_000);
        }
        if ((seed & 24) == 0) {
            work(10_000);
        }
    }

    public static void main(String[] args) throws Exception {
        Truth.ready();
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        Thread[] threads = new Thread[Integer.parseInt(args[1])];
        for (int i = 0; i < threads.length; i++) {
            int first = i;
            threads[i] = new Thread(() -> {
                int seed = first;
                while (System.nanoTime() < end) {
                    seed = seed * 1103515245 + 12345;
                    pass(seed >>> 16);
                }
            }, "crowd-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Truth.end();
    }
}
