// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CountDownLatch;

/** Many threads that, once all are there, want a CPU for some seconds. */
public final class BusyThreads {
    static void burn(CountDownLatch go, long ns) {
        try {
            go.await();
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
        long until = System.nanoTime() + ns;
        long x = until;
        while (System.nanoTime() < until) {
            for (int i = 0; i < 20000; i++) {
                x = x * 31 + i;
            }
        }
        Truth.sink += x;
    }

    public static void main(String[] arguments) throws Exception {
        long ns = Long.parseLong(arguments[0]) * 1_000_000_000L;
        CountDownLatch go = new CountDownLatch(1);
        Thread[] threads = new Thread[Integer.parseInt(arguments[1])];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> burn(go, ns), "busy-" + i);
            threads[i].start();
        }
        Truth.ready();
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        Truth.end();
    }
}
