// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.atomic.AtomicLong;
import sun.misc.Unsafe;

/**
 * Allocates and frees native memory as fast as it can.
 *
 * <p>Arguments: seconds (6), threads (2). Facts: mallocs, frees, bytes, ops_per_s.
 */
public class AllocStorm {
    private static final int ROUND = 256;
    private static final AtomicLong ROUNDS = new AtomicLong();
    private static final Unsafe UNSAFE = UnsafeAccess.get();

    static void storm(long end) {
        long rounds = 0;
        while (System.nanoTime() < end) {
            for (int i = 0; i < ROUND; i++) {
                long block = UNSAFE.allocateMemory(64 + 8 * (i & 31));
                UNSAFE.putByte(block, (byte) i);
                UNSAFE.freeMemory(block);
            }
            rounds++;
        }
        ROUNDS.addAndGet(rounds);
    }

    public static void main(String[] args) throws Exception {
        long seconds = args.length > 0 ? Long.parseLong(args[0]) : 6;
        Thread[] threads = new Thread[args.length > 1 ? Integer.parseInt(args[1]) : 2];
        Truth.ready();
        long start = System.nanoTime();
        long end = start + seconds * 1_000_000_000L;
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> storm(end), "storm-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        long blocks = ROUNDS.get() * ROUND;
        Truth.put("mallocs", blocks);
        Truth.put("frees", blocks);
        Truth.put("bytes", ROUNDS.get() * 8 * (64 * 32 + 8 * 31 * 16));
        Truth.put("ops_per_s", blocks * 1_000_000_000L / (System.nanoTime() - start));
        Truth.end();
    }
}
