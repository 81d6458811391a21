// SPDX-License-Identifier: Apache-2.0
import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * COUNT threads, a few at a time, that allocate less than one buffer each.
 *
 * <p>TRUTH has "bytes", what they allocated as the JVM counts.
 */
public class HeapThreads {
    private static final AtomicLong bytes = new AtomicLong();

    static void work() {
        com.sun.management.ThreadMXBean threads =
                (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        Object[] kept = new Object[64];
        for (int i = 0; i < 400; i++) {
            kept[i & 63] = new double[60];
        }
        Truth.sink += kept.length;
        bytes.addAndGet(threads.getThreadAllocatedBytes(Thread.currentThread().getId()));
    }

    public static void main(String[] args) throws Exception {
        work();
        Truth.ready();
        bytes.set(0);
        for (int left = Integer.parseInt(args[0]); left > 0; left -= 4) {
            Thread[] some = new Thread[4];
            for (int i = 0; i < some.length; i++) {
                some[i] = new Thread(HeapThreads::work, "short");
                some[i].start();
            }
            for (Thread thread : some) {
                thread.join();
            }
            Thread.sleep(2);
        }
        Truth.put("bytes", bytes.get());
        Truth.end();
    }
}
