// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.CountDownLatch;

/**
 * Threads that burn CPU under names of all kinds, for some seconds. The last one gets its name from
 * another thread, of which the kernel hears nothing. Prints READY when each has its name, and
 * at the end TRUTH with the names. Objects die all the time, so that the collector works.
 */
public final class NamedThreads {
    private static final String[] NAMES = {
        "short",
        "a name that is longer than fifteen bytes",
        "gr\u00f6\u00dfer als f\u00fcnfzehn Zeichen",
        "\u6f22\u5b57\u306e\u540d\u524d \u2603 \ud83d\ude00 end",
        "control\u0001characters\nare replaced",
        "renamed while it runs",
    };
    static volatile Object sink;

    static void burn(CountDownLatch ready, long until) {
        ready.countDown();
        while (System.nanoTime() < until) {
            sink = new byte[1000];
        }
    }

    public static void main(String[] args) throws Exception {
        long until = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        CountDownLatch ready = new CountDownLatch(NAMES.length);
        Thread[] threads = new Thread[NAMES.length];
        int last = NAMES.length - 1;
        for (int i = 0; i <= last; i++) {
            threads[i] = new Thread(() -> burn(ready, until), i == last ? "a first name, which is long" : NAMES[i]);
            threads[i].start();
        }
        ready.await();
        threads[last].setName(NAMES[last]);
        System.out.println("READY " + ProcessHandle.current().pid());
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println("TRUTH {}");
    }
}
