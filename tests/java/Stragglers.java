// SPDX-License-Identifier: Apache-2.0

/**
 * A thread "slow" that runs a long loop without a safepoint poll, over and over (run with
 * -XX:LoopStripMiningIter=0 -XX:-UseCountedLoopSafepoints), four that sleep a millisecond at a time,
 * and one that brings the JVM to a safepoint whenever the loop has just begun. So these safepoints
 * wait for "slow", which is in counted() meanwhile.
 *
 * TRUTH.asked: how many, TRUTH.loop_ns: how much CPU time a loop takes at least. Argument: how many.
 */
public class Stragglers {
    /** How much CPU time a loop is to take. */
    static final long LOOP_NS = 20_000_000;

    static volatile int wanted;
    static volatile int begun;
    static volatile boolean done;

    static long counted(long x, int rounds) {
        for (int i = 0; i < rounds; i++) {
            x = x * 6364136223846793005L + i;
        }
        return x;
    }

    static long time(int rounds) {
        long start = Truth.cpu();
        Truth.sink += counted(start, rounds);
        return Truth.cpu() - start;
    }

    /** So many that a loop takes long enough, once it is compiled. */
    static int calibrate() {
        int rounds = 100_000;
        for (int i = 0; i < 300; i++) {
            Truth.sink += counted(i, rounds);
        }
        while (Math.min(time(rounds), time(rounds)) < LOOP_NS) {
            rounds += rounds / 4;
        }
        return rounds;
    }

    static void slow(int rounds) {
        long least = Long.MAX_VALUE;
        while (!done) {
            if (begun == wanted) {
                sleep(1);
                continue;
            }
            begun = wanted;
            least = Math.min(least, time(rounds));
        }
        Truth.put("loop_ns", least);
    }

    static void sleep(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    static void polite() {
        while (!done) {
            sleep(1);
        }
    }

    public static void main(String[] arguments) throws Exception {
        int asked = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 60;
        int rounds = calibrate();
        Truth.ready();
        Thread slow = new Thread(() -> slow(rounds), "slow");
        slow.start();
        for (int i = 0; i < 4; i++) {
            new Thread(Stragglers::polite, "polite-" + i).start();
        }
        for (int i = 1; i <= asked; i++) {
            wanted = i;
            while (begun != i) {
                Thread.yield();
            }
            Truth.sink += Thread.getAllStackTraces().size();
        }
        done = true;
        slow.join();
        Truth.put("asked", asked);
        Truth.end();
    }
}
