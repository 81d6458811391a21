// SPDX-License-Identifier: Apache-2.0
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait at a known place for a known thing: for a monitor, in wait(), and in park().
 *
 * <p>Waits SECONDS. TRUTH has {"lock_wait": [count, nanoseconds], ...} of waits of 10 ms and more, as the threads
 * themselves measured them, and in "short" how often a thread parked for about 2 ms for an object of class Brief.
 * Threads notified-1 and -2 wait in beNotified(), for an object of class Notice, until notifier-1 or -2 says so.
 */
public class Waits {
    static final class Guard {}

    static final class Signal {}

    static final class Blocker {}

    static final class Brief {}

    static final class Notice {}

    private static final Guard GUARD = new Guard();
    private static final Signal SIGNAL = new Signal();
    private static final Blocker BLOCKER = new Blocker();
    private static final Brief BRIEF = new Brief();
    private static final Notice NOTICE = new Notice();
    private static final long LONG_NS = 10_000_000;
    private static final long[][] sums = new long[3][2];

    private static synchronized void add(int kind, long ns) {
        if (ns >= LONG_NS) {
            sums[kind][0]++;
            sums[kind][1] += ns;
        }
    }

    static void enter() throws InterruptedException {
        long before = System.nanoTime();
        synchronized (GUARD) {
            add(0, System.nanoTime() - before);
            Thread.sleep(20);
        }
        // Who has just had it would have it again before others are awake.
        Thread.sleep(1);
    }

    static void await() throws InterruptedException {
        synchronized (SIGNAL) {
            long before = System.nanoTime();
            SIGNAL.wait(40);
            add(1, System.nanoTime() - before);
        }
    }

    static void beNotified() throws InterruptedException {
        synchronized (NOTICE) {
            NOTICE.wait(500);
        }
    }

    static void notifyOne() throws InterruptedException {
        Thread.sleep(15);
        synchronized (NOTICE) {
            NOTICE.notify();
        }
    }

    static void park() {
        long before = System.nanoTime();
        LockSupport.parkNanos(BLOCKER, 30_000_000);
        add(2, System.nanoTime() - before);
    }

    private static long parks;

    static void parkShortly() {
        LockSupport.parkNanos(BRIEF, 2_000_000);
        parks++;
    }

    interface Step {
        void run() throws InterruptedException;
    }

    private static Thread start(String name, long end, Step step) {
        Thread thread = new Thread(() -> {
            try {
                while (System.nanoTime() < end) {
                    step.run();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, name);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        String[] names = {"lock_wait", "object_wait", "park"};
        Truth.ready();
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        Thread[] threads = {
            start("enter-1", end, Waits::enter), start("enter-2", end, Waits::enter),
            start("enter-3", end, Waits::enter), start("await", end, Waits::await),
            start("park-1", end, Waits::park), start("park-2", end, Waits::park),
            start("short", end, Waits::parkShortly), start("notified-1", end, Waits::beNotified),
            start("notified-2", end, Waits::beNotified), start("notifier-1", end, Waits::notifyOne),
            start("notifier-2", end, Waits::notifyOne)};
        for (Thread thread : threads) {
            thread.join();
        }
        for (int kind = 0; kind < names.length; kind++) {
            Truth.put(names[kind], Arrays.asList(sums[kind][0], sums[kind][1]));
        }
        Truth.put("short", parks);
        Truth.end();
    }
}
