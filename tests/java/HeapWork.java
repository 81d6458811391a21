// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * Allocates objects of known classes at known places, in two threads, for SECONDS.
 *
 * <p>TRUTH has what they allocated: "thread_bytes" by name, as the JVM counts, "objects" by class, and with a file as
 * second argument what the JVM's own recording says: "jfr" by class, [TLABs, their bytes, objects outside, their
 * bytes].
 */
public class HeapWork {
    static final class A {
        long a, b, c, d, e, f;
    }

    static final class B {
        long a, b, c, d, e, f;
    }

    static final int LARGE = 3 << 20;
    private static final String INSIDE = "jdk.ObjectAllocationInNewTLAB";
    private static final String OUTSIDE = "jdk.ObjectAllocationOutsideTLAB";
    private static final Map<String, Long> objects = new TreeMap<>();

    /** One thread's work; what it keeps is seen by nobody else. */
    static final class Work extends Thread {
        private final long end;
        private final Object[] kept = new Object[64];
        private final long[] made = new long[5];
        private int at;
        long bytes;

        Work(String name, long end) {
            super(name);
            this.end = end;
        }

        private void keep(Object object, int kind) {
            kept[at++ & 63] = object;
            made[kind]++;
        }

        void makeA(int count) {
            for (int i = 0; i < count; i++) {
                keep(new A(), 0);
            }
        }

        void makeB(int count) {
            for (int i = 0; i < count; i++) {
                keep(new B(), 1);
            }
        }

        void makeArrays(int count) {
            for (int i = 0; i < count; i++) {
                keep(new double[100], 2);
                keep(new A[50], 3);
            }
        }

        void makeLarge() {
            keep(new short[LARGE], 4);
            Arrays.fill(kept, null);
        }

        @Override
        public void run() {
            com.sun.management.ThreadMXBean threads =
                    (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
            long before = threads.getThreadAllocatedBytes(getId());
            for (int round = 0; System.nanoTime() < end; round++) {
                for (int i = 0; i < 20; i++) {
                    makeA(300);
                    makeB(100);
                }
                makeArrays(50);
                if (round % 50 == 0) {
                    makeLarge();
                }
                if (round % 10 == 0) {
                    pause();
                }
            }
            bytes = threads.getThreadAllocatedBytes(getId()) - before;
        }

        private static void pause() {
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        void count() {
            String[] names = {"HeapWork$A", "HeapWork$B", "double[]", "HeapWork$A[]", "short[]"};
            for (int i = 0; i < names.length; i++) {
                objects.merge(names[i], made[i], Long::sum);
            }
        }
    }

    /** "[LHeapWork$A;" to "HeapWork$A[]"; the recorder's classes of arrays of one dimension. */
    private static String nameOf(RecordedClass type) {
        String name = type.getName().replace('/', '.');
        if (name.startsWith("[L")) {
            return name.substring(2, name.length() - 1) + "[]";
        }
        if (name.equals("[D")) {
            return "double[]";
        }
        return name.equals("[S") ? "short[]" : name;
    }

    private static Map<String, List<Long>> read(Path file) throws Exception {
        Map<String, long[]> sums = new TreeMap<>();
        try (RecordingFile events = new RecordingFile(file)) {
            while (events.hasMoreEvents()) {
                RecordedEvent event = events.readEvent();
                String type = event.getEventType().getName();
                if (!type.equals(INSIDE) && !type.equals(OUTSIDE)) {
                    continue;
                }
                int at = type.equals(INSIDE) ? 0 : 2;
                long[] sum = sums.computeIfAbsent(nameOf(event.getClass("objectClass")), name -> new long[4]);
                sum[at]++;
                sum[at + 1] += event.getLong(at == 0 ? "tlabSize" : "allocationSize");
            }
        }
        Map<String, List<Long>> lists = new TreeMap<>();
        for (Map.Entry<String, long[]> sum : sums.entrySet()) {
            if (objects.containsKey(sum.getKey())) {
                long[] of = sum.getValue();
                lists.put(sum.getKey(), Arrays.asList(of[0], of[1], of[2], of[3]));
            }
        }
        return lists;
    }

    public static void main(String[] args) throws Exception {
        Recording recording = args.length > 1 ? new Recording() : null;
        if (recording != null) {
            recording.enable(INSIDE);
            recording.enable(OUTSIDE);
            recording.start();
        }
        Truth.ready();
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
        Work[] work = {new Work("work-1", end), new Work("work-2", end)};
        Map<String, Long> bytes = new TreeMap<>();
        for (Work thread : work) {
            thread.start();
        }
        for (Work thread : work) {
            thread.join();
            thread.count();
            bytes.put(thread.getName(), thread.bytes);
        }
        if (recording != null) {
            Path file = new File(args[1]).toPath();
            recording.stop();
            recording.dump(file);
            Truth.put("jfr", read(file));
        }
        Truth.put("objects", objects);
        Truth.put("thread_bytes", bytes);
        Truth.end();
    }
}
