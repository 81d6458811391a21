// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.atomic.AtomicInteger;

/**
 * THREADS threads that take short turns: each burns 1 ms of CPU every 600 ms, so that 500 of them
 * want less than one core. Arguments: seconds, threads.
 *
 * TRUTH.threads: how many had at least five turns.
 */
public class ManyThreads {
    static final AtomicInteger BUSY = new AtomicInteger();

    static void burn(long ns) {
        long start = Truth.cpu();
        long x = start;
        do {
            for (int i = 0; i < 20000; i++) {
                x = x * 31 + i;
            }
        } while (Truth.cpu() - start < ns);
        Truth.sink += x;
    }

    static void work(long end) {
        try {
            for (int turns = 1; System.nanoTime() < end; turns++) {
                burn(1_000_000);
                if (turns == 5) {
                    BUSY.incrementAndGet();
                }
                Thread.sleep(600);
            }
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 8;
        int count = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 500;
        Truth.ready();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = new Thread(() -> work(end), "many-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Truth.put("threads", BUSY.get());
        Truth.end();
    }
}
