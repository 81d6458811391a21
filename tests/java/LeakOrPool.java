// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.List;
import sun.misc.Unsafe;

/**
 * Four sites that grow in four ways, while the program works: leak() grows in every round, pool()
 * until it has what is needed, swing() grows and gives all back again, and once() grows in one
 * round. The heap is collected after a third and after two thirds.
 *
 * <p>Arguments: seconds, and how many times as much once() allocates. Facts: live bytes by site, and
 * how many blocks were allocated.
 */
public class LeakOrPool {
    private static final Unsafe UNSAFE = UnsafeAccess.get();
    private static final int ROUNDS = 90;
    private static final int BLOCK = 10000;
    private static final List<Long> LEAKED = new ArrayList<>();
    private static final List<Long> POOLED = new ArrayList<>();
    private static final List<Long> SWINGING = new ArrayList<>();
    private static final List<Long> AT_ONCE = new ArrayList<>();

    static void leak() {
        LEAKED.add(UNSAFE.allocateMemory(BLOCK));
    }

    static void pool(int round) {
        if (round % 3 == 0 && round < ROUNDS / 3) {
            POOLED.add(UNSAFE.allocateMemory(BLOCK));
        }
    }

    static void swing(int round) {
        if (round % 12 == 0) {
            SWINGING.forEach(UNSAFE::freeMemory);
            SWINGING.clear();
        }
        SWINGING.add(UNSAFE.allocateMemory(BLOCK));
    }

    static void once(int times) {
        for (int i = 0; i < 100 * times; i++) {
            AT_ONCE.add(UNSAFE.allocateMemory(BLOCK));
        }
    }

    static void work(long nanos) {
        long end = System.nanoTime() + nanos;
        while (System.nanoTime() < end) {
            Truth.sink += end;
        }
    }

    static long bytes(List<Long> blocks) {
        return (long) blocks.size() * BLOCK;
    }

    public static void main(String[] args) throws Exception {
        long nanos = Integer.parseInt(args[0]) * 1000000000L / ROUNDS;
        Truth.ready();
        for (int round = 0; round < ROUNDS; round++) {
            leak();
            pool(round);
            swing(round);
            if (round == 6) {
                once(args.length > 1 ? Integer.parseInt(args[1]) : 1);
            }
            if (round == ROUNDS / 3 || round == 2 * ROUNDS / 3) {
                System.gc();
            }
            work(nanos);
        }
        Truth.put("allocations", ROUNDS + POOLED.size() + ROUNDS + AT_ONCE.size());
        Truth.put("leak", bytes(LEAKED));
        Truth.put("pool", bytes(POOLED));
        Truth.put("swing", bytes(SWINGING));
        Truth.put("once", bytes(AT_ONCE));
        Truth.end();
    }
}
