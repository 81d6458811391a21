// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.atomic.AtomicLong;

/**
 * Each virtual thread goes DEPTH calls deep, then burns 3 ms of CPU and sleeps 1 ms in turn. After a
 * sleep the JVM puts only the newest frames back on the carrier's stack; the rest stays in the heap.
 * Arguments: seconds, threads, depth.
 *
 * TRUTH.depth: frames step() between task() and burn().
 */
public class VirtualThreads {
    static final AtomicLong CALLS = new AtomicLong();
    static long end;

    static void burn() {
        long start = System.nanoTime();
        long x = start;
        while (System.nanoTime() - start < 3_000_000) {
            for (int i = 0; i < 5000; i++) {
                x = x * 31 + i;
            }
        }
        Truth.sink += x;
        CALLS.incrementAndGet();
    }

    static long step(int left) throws InterruptedException {
        if (left > 0) {
            return step(left - 1) + 1;
        }
        while (System.nanoTime() < end) {
            burn();
            Thread.sleep(1);
        }
        return 0;
    }

    static void task(int depth) {
        try {
            Truth.sink += step(depth - 1);
        } catch (InterruptedException e) {
            throw new RuntimeException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 8;
        int count = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 64;
        int depth = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 40;
        Truth.ready();
        end = System.nanoTime() + seconds * 1_000_000_000L;
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            threads[i] = Thread.ofVirtual().name("vt-" + i).start(() -> task(depth));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Truth.put("depth", depth);
        Truth.put("burn_calls", CALLS.get());
        Truth.end();
    }
}
