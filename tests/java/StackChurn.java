// SPDX-License-Identifier: Apache-2.0
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.zip.Inflater;

/**
 * Allocates native memory, at the same stack pointers again and again, under stacks that differ
 * somewhere below, while their code changes: methods are compiled and deoptimized, classes whose
 * methods are on the stacks are unloaded and others get their addresses, objects move.
 */
public class StackChurn {
    private static final int DEPTH = 12;
    private static final int PATHS = 24;
    private static final int ROUND_MS = 40;

    /** On each stack, by a class that lives for a round. */
    public interface Step {
        long go(int depth, int path);
    }

    /** Loaded again in each round, by a loader of its own. */
    public static class Even implements Step {
        @Override
        public long go(int depth, int path) {
            return left(depth, path) + 1;
        }
    }

    /** The same: which of the two there is decides what the compilers may assume. */
    public static class Odd implements Step {
        @Override
        public long go(int depth, int path) {
            return right(depth, path) + 1;
        }
    }

    private static final class Loader extends ClassLoader {
        Loader() {
            super(StackChurn.class.getClassLoader());
        }

        Class<?> define(Class<?> like) {
            byte[] file = ClassMaker.bytes(like);
            return defineClass(like.getName(), file, 0, file.length);
        }
    }

    private static volatile Step step = new Even();
    private static volatile boolean ends;

    /** left and right have frames of one size: only return addresses tell which of them it was. */
    public static long left(int depth, int path) {
        return (depth == 0 ? allocate() : turn(depth - 1, path)) + 1;
    }

    public static long right(int depth, int path) {
        return (depth == 0 ? allocate() : turn(depth - 1, path)) + 2;
    }

    private static long turn(int depth, int path) {
        if (depth == DEPTH / 2) {
            return step.go(depth, path >>> 1);
        }
        return (path & 1) == 0 ? left(depth, path >>> 1) : right(depth, path >>> 1);
    }

    private static long allocate() {
        Inflater inflater = new Inflater();
        inflater.end();
        return 1;
    }

    private static void work(int seed) {
        long sum = 0, calls = 0;
        while (!ends) {
            // Few enough to come again soon, and some that come once.
            int path = (int) (calls % 8 == 7 ? calls : calls % PATHS) * 0x9E37 + seed;
            sum += left(DEPTH, path & 0xfff);
            calls++;
        }
        Truth.sink += sum;
        Truth.put("calls" + seed, calls);
    }

    private static Step load(Class<?> type) throws Exception {
        return (Step) new Loader().define(type).getDeclaredConstructor().newInstance();
    }

    private static long collections() {
        long sum = 0;
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            sum += bean.getCollectionCount();
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        int seconds = Integer.parseInt(arguments[0]);
        Thread[] threads = new Thread[2];

        Truth.ready();
        for (int i = 0; i < threads.length; i++) {
            int seed = i;
            threads[i] = new Thread(() -> work(seed), "churn-" + i);
            threads[i].start();
        }
        long end = System.nanoTime() + seconds * 1_000_000_000L, rounds = 0;
        while (System.nanoTime() < end) {
            step = load(rounds % 3 == 0 ? Odd.class : Even.class);
            if (++rounds % 4 == 0) {
                System.gc();
            }
            Thread.sleep(ROUND_MS);
        }
        ends = true;
        for (Thread thread : threads) {
            thread.join();
        }
        Truth.put("rounds", rounds);
        Truth.put("unloaded", ManagementFactory.getClassLoadingMXBean().getUnloadedClassCount());
        Truth.put("collections", collections());
        Truth.end();
    }
}
