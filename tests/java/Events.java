// SPDX-License-Identifier: Apache-2.0

/**
 * Threads that start and end one after the other, each throwing and catching so many exceptions of its own class.
 *
 * <p>Events THREADS EXCEPTIONS. The threads are called event-0 and so on; TRUTH repeats what was done.
 */
public class Events {
    static final class Thrown extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    static void work(int exceptions) {
        for (int i = 0; i < exceptions; i++) {
            try {
                fail(i);
            } catch (Thrown e) {
                Truth.sink += e.hashCode();
            }
        }
    }

    static void fail(int i) {
        if (i >= 0) {
            throw new Thrown();
        }
    }

    static void begin(Thread thread) {
        thread.start();
    }

    public static void main(String[] args) throws Exception {
        int threads = Integer.parseInt(args[0]);
        int exceptions = Integer.parseInt(args[1]);
        Truth.ready();
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(() -> work(exceptions), "event-" + i);
            begin(thread);
            thread.join();
        }
        Truth.put("threads", threads);
        Truth.put("exceptions", (long) threads * exceptions);
        Truth.end();
    }
}
