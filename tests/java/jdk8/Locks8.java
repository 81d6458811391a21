// SPDX-License-Identifier: Apache-2.0
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Four threads "lock-N" that contend for a lock, throw, allocate and sort. Argument: seconds. */
public class Locks8 {
    static final Object LOCK = new Object();
    static final Map<String, Integer> COUNTS = new HashMap<>();

    static void contend(int round) {
        synchronized (LOCK) {
            COUNTS.merge("k" + round % 500, 1, Integer::sum);
        }
    }

    static void fail() {
        try {
            Truth8.sink += Integer.parseInt("zz");
        } catch (NumberFormatException e) {
            Truth8.sink += e.getStackTrace().length;
        }
    }

    static void sort(int round) {
        List<String> words = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            words.add("w" + (i * 7919 + round) % 211);
        }
        Collections.sort(words, (a, b) -> b.compareTo(a));
        Truth8.sink += words.get(0).length();
    }

    static void work(long end) {
        for (int round = 0; System.nanoTime() < end; round++) {
            contend(round);
            fail();
            sort(round);
        }
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 8;
        Truth8.ready();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> work(end), "lock-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Truth8.end("threads", Collections.singletonMap("count", threads.length));
    }
}
