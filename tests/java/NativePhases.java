// SPDX-License-Identifier: Apache-2.0
import java.util.Random;
import sun.misc.Unsafe;

/**
 * Allocates and frees native memory in phases that differ in how many blocks there are and in how large they are.
 *
 * <p>Arguments: seconds (30), longest phase in ms (600). Facts: bytes, phases.
 */
public class NativePhases {
    private static final Unsafe UNSAFE = UnsafeAccess.get();
    private static final Random RANDOM = new Random(5);
    static volatile long sink;

    /** Some work beside each block. */
    static long work(int steps) {
        long x = sink;
        for (int i = 0; i < steps; i++) {
            x = x * 6364136223846793005L + 1442695040888963407L;
        }
        sink = x;
        return x;
    }

    static long phase(long end) {
        int size = 64 << RANDOM.nextInt(6);
        int steps = 500 << RANDOM.nextInt(4);
        long bytes = 0;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 64; i++) {
                long block = UNSAFE.allocateMemory(size);
                UNSAFE.putByte(block, (byte) work(steps));
                UNSAFE.freeMemory(block);
            }
            bytes += 64L * size;
        }
        return bytes;
    }

    public static void main(String[] args) throws Exception {
        long seconds = args.length > 0 ? Long.parseLong(args[0]) : 30;
        int longest = args.length > 1 ? Integer.parseInt(args[1]) : 600;
        long bytes = 0;
        long phases = 0;
        Truth.ready();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            bytes += phase(System.nanoTime() + (1 + RANDOM.nextInt(longest)) * 1_000_000L);
            phases++;
        }
        Truth.put("bytes", bytes);
        Truth.put("phases", phases);
        Truth.end();
    }
}
