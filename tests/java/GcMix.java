// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ThreadLocalRandom;

/**
 * Collections of every kind, and other work of the VM: garbage of many sizes beside objects that
 * stay for a while, a full collection and dumps of all threads now and then. Run with a small heap.
 * Argument: seconds (4).
 *
 * <p>Facts: rounds, full.
 */
public class GcMix {
    private static final byte[][] KEPT = new byte[12_000][];
    private static Object last;

    /** Some 8 MB, of which one object in eight stays until another takes its place. */
    private static void allocate(ThreadLocalRandom random) {
        for (int i = 0; i < 4000; i++) {
            byte[] bytes = new byte[random.nextInt(16, 4000)];
            if ((i & 7) == 0) {
                KEPT[random.nextInt(KEPT.length)] = bytes;
            }
            last = bytes;
        }
        last = new byte[3_000_000];
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 4;
        Truth.ready();
        long rounds = 0;
        long full = 0;
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            allocate(ThreadLocalRandom.current());
            rounds++;
            if (rounds % 10 == 0) {
                Truth.sink += Thread.getAllStackTraces().size();
                Thread.sleep(20);
            }
            if (rounds % 150 == 75) {
                System.gc();
                full++;
            }
        }
        Truth.sink += last.hashCode();
        Truth.put("rounds", rounds);
        Truth.put("full", full);
        Truth.end();
    }
}
