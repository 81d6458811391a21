// SPDX-License-Identifier: Apache-2.0
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Defines many classes. Modes, and what "defined" in the truth counts:
 *
 * lambda  N hidden classes of one template, kept
 * unload  N loaders with 20 classes each, dropped and collected: as many unloads
 * leak    N loaders with 20 classes each, kept
 * dup     N loaders that define one name each, kept
 * many    N classes with names of their own in one loader, kept
 * race    8 threads that define the same N classes in one loader: N succeed
 * reuse   N rounds of 10 loaders with 5 classes each, collected after each round
 * names   three classes whose names are long, or not ASCII
 * jdk     classes of the JDK, by their names
 */
public class ClassStorm {
    private static final int CLASSES = 20;
    private static final List<Object> KEPT = new ArrayList<>();

    /** What hidden classes are copies of. */
    static class Template {
        int field;
    }

    private static long lambda(int count) throws Exception {
        byte[] file = ClassMaker.bytes(Template.class);
        // The language level of this folder is 11, the method is of 15.
        Object options = Array.newInstance(
                Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption"), 0);
        Method define = MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class,
                boolean.class, options.getClass());
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        for (int i = 0; i < count; i++) {
            KEPT.add(define.invoke(lookup, file, false, options));
        }
        return count;
    }

    private static long loaders(int count, boolean keep) throws Exception {
        for (int i = 0; i < count; i++) {
            ClassMaker.Loader loader = new ClassMaker.Loader("L" + i);
            for (int k = 0; k < CLASSES; k++) {
                String name = "gen/p" + i + "/C" + k;
                loader.define(name, ClassMaker.empty(name));
            }
            if (keep) {
                KEPT.add(loader);
            }
        }
        for (int i = 0; !keep && i < 6; i++) {
            System.gc();
            Thread.sleep(150);
        }
        return (long) count * CLASSES;
    }

    private static long duplicates(int count) {
        byte[] file = ClassMaker.empty("dup/Same");
        for (int i = 0; i < count; i++) {
            ClassMaker.Loader loader = new ClassMaker.Loader("D" + i);
            loader.define("dup/Same", file);
            KEPT.add(loader);
        }
        return count;
    }

    private static long many(int count) {
        ClassMaker.Loader loader = new ClassMaker.Loader("many");
        for (int i = 0; i < count; i++) {
            String name = "many/p" + i % 100 + "/C" + i;
            loader.define(name, ClassMaker.empty(name));
        }
        KEPT.add(loader);
        return count;
    }

    private static long race(int count) throws Exception {
        ClassMaker.Loader loader = new ClassMaker.Loader("race");
        AtomicLong refused = new AtomicLong(), defined = new AtomicLong();
        Thread[] threads = new Thread[8];
        CountDownLatch start = new CountDownLatch(1);
        for (int t = 0; t < threads.length; t++) {
            threads[t] = new Thread(() -> {
                try {
                    start.await();
                } catch (InterruptedException e) {
                    return;
                }
                for (int i = 0; i < count; i++) {
                    try {
                        loader.define("race/C" + i, ClassMaker.empty("race/C" + i));
                        defined.incrementAndGet();
                    } catch (LinkageError e) {
                        refused.incrementAndGet();
                    }
                }
            });
            threads[t].start();
        }
        start.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        Truth.put("refused", refused.get());
        return defined.get();
    }

    private static long reuse(int rounds) throws Exception {
        for (int round = 0; round < rounds; round++) {
            for (int i = 0; i < 10; i++) {
                ClassMaker.Loader loader = new ClassMaker.Loader("R" + round + "x" + i);
                for (int k = 0; k < 5; k++) {
                    loader.define("re/C" + k, ClassMaker.empty("re/C" + k));
                }
            }
            System.gc();
            Thread.sleep(20);
        }
        for (int i = 0; i < 3; i++) {
            System.gc();
            Thread.sleep(100);
        }
        return rounds * 50L;
    }

    private static long names() {
        String[] names = {"na/\u00e9\u4e2d\ud83d\ude00", "na/" + "a".repeat(700), "na/" + "\u4e2d".repeat(20000)};
        ClassMaker.Loader loader = new ClassMaker.Loader("names");
        for (String name : names) {
            KEPT.add(loader.define(name, ClassMaker.empty(name)));
        }
        return names.length;
    }

    private static long jdk() throws Exception {
        Path folder = FileSystems.getFileSystem(URI.create("jrt:/"))
                .getPath("/modules/java.base/java/util/concurrent");
        long count = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.class")) {
            for (Path file : files) {
                String name = file.getFileName().toString().replace(".class", "");
                Class.forName("java.util.concurrent." + name, false, null);
                count++;
            }
        }
        return count;
    }

    private static long run(String mode, int count) throws Exception {
        switch (mode) {
            case "lambda":
                return lambda(count);
            case "unload":
                return loaders(count, false);
            case "leak":
                return loaders(count, true);
            case "dup":
                return duplicates(count);
            case "many":
                return many(count);
            case "race":
                return race(count);
            case "reuse":
                return reuse(count);
            case "names":
                return names();
            default:
                return jdk();
        }
    }

    public static void main(String[] arguments) throws Exception {
        int count = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0;
        Truth.ready();
        long start = System.nanoTime();
        long defined = run(arguments[0], count);
        Truth.put("defined", defined);
        Truth.put("took_ns", System.nanoTime() - start);
        Truth.end();
        Truth.sink += KEPT.size();
    }
}
