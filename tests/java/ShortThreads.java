// SPDX-License-Identifier: Apache-2.0

/** For some seconds two threads burn CPU, each for a short life; then the next two. */
public final class ShortThreads {
    static void burn(long until) {
        long x = until;
        while (System.nanoTime() < until) {
            for (int i = 0; i < 20000; i++) {
                x = x * 31 + i;
            }
        }
        Truth.sink += x;
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = Long.parseLong(arguments[0]);
        long life = Long.parseLong(arguments[1]) * 1_000_000L;
        Truth.ready();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        int count = 0;
        while (System.nanoTime() < end) {
            Thread[] threads = new Thread[2];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = new Thread(() -> burn(System.nanoTime() + life), "short-" + count++);
                threads[i].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        Truth.put("threads", count);
        Truth.end();
    }
}
