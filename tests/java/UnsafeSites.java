// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import sun.misc.Unsafe;

/**
 * Native allocations by site, all of them through os::malloc, os::realloc and os::free with the tag
 * Other. All sizes are multiples of 8, to which Unsafe rounds.
 *
 * <p>before() comes before READY, and of its 500 blocks freeOld() frees 250 after it. Facts: live
 * and blocks by site, allocations of all sites, frees of blocks from before.
 */
public class UnsafeSites {
    private static final Unsafe UNSAFE = UnsafeAccess.get();
    private static final List<Long> KEPT = new ArrayList<>();
    private static final int CROSSING = 300;

    static void before() {
        for (int i = 0; i < 500; i++) {
            KEPT.add(UNSAFE.allocateMemory(4096));
        }
    }

    static void freeOld() {
        for (int i = 0; i < 250; i++) {
            UNSAFE.freeMemory(KEPT.remove(KEPT.size() - 1));
        }
    }

    static void leak() {
        for (int i = 0; i < 1000; i++) {
            KEPT.add(UNSAFE.allocateMemory(1008));
        }
    }

    static void balanced() {
        for (int i = 0; i < 20000; i++) {
            UNSAFE.freeMemory(UNSAFE.allocateMemory(512));
        }
    }

    static void grow() {
        long block = UNSAFE.allocateMemory(1000);
        for (int size = 2000; size <= 64000; size += 1000) {
            block = UNSAFE.reallocateMemory(block, size);
        }
        KEPT.add(block);
    }

    static void shrink() {
        KEPT.add(UNSAFE.reallocateMemory(UNSAFE.allocateMemory(100000), 104));
    }

    static void make(BlockingQueue<Long> blocks) {
        try {
            for (int i = 0; i < CROSSING; i++) {
                blocks.put(UNSAFE.allocateMemory(3000));
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void destroy(BlockingQueue<Long> blocks) {
        try {
            for (int i = 0; i < CROSSING; i++) {
                UNSAFE.freeMemory(blocks.take());
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void cross() throws InterruptedException {
        BlockingQueue<Long> blocks = new ArrayBlockingQueue<>(16);
        Thread maker = new Thread(() -> make(blocks), "maker");
        Thread breaker = new Thread(() -> destroy(blocks), "breaker");
        maker.start();
        breaker.start();
        maker.join();
        breaker.join();
    }

    static void zero() {
        for (int i = 0; i < 100; i++) {
            UNSAFE.freeMemory(UNSAFE.allocateMemory(0));
        }
    }

    static void huge() {
        KEPT.add(UNSAFE.allocateMemory(64L << 20));
    }

    static void fail() {
        try {
            KEPT.add(UNSAFE.allocateMemory(1L << 46));
            Truth.put("failed", false);
        } catch (OutOfMemoryError e) {
            Truth.put("failed", true);
        }
    }

    public static void main(String[] args) throws Exception {
        before();
        Truth.ready();
        freeOld();
        leak();
        balanced();
        grow();
        shrink();
        cross();
        zero();
        huge();
        fail();
        Map<String, Object> live = new LinkedHashMap<>();
        Map<String, Object> blocks = new LinkedHashMap<>();
        live.put("leak", 1008000);
        live.put("grow", 64000);
        live.put("shrink", 104);
        live.put("huge", 64L << 20);
        blocks.put("leak", 1000);
        blocks.put("grow", 1);
        blocks.put("shrink", 1);
        blocks.put("huge", 1);
        Truth.put("live", live);
        Truth.put("blocks", blocks);
        Truth.put("allocations", 1000 + 20000 + 64 + 2 + CROSSING + 1);
        Truth.put("unknown_frees", 250);
        Truth.end();
    }
}
