// SPDX-License-Identifier: Apache-2.0
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Java calls a JNI library that was built without frame pointers; -Dlibrary=NAME says which one.
 * Thread "jni" goes from run() through level1() to level3() and there into native code, which burns
 * CPU, takes short naps, or calls back into burn(). Argument: seconds.
 *
 * TRUTH.cpu_ns: CPU time of the three.
 */
public class JniFrames {
    static native long nativeSpin(long ns);

    static native long nativeNap(long ns);

    static native long nativeCallBack(long ns);

    /** Called from native code. */
    static long burn(long ns) {
        long start = Truth.cpu();
        long x = start;
        do {
            for (int i = 0; i < 20000; i++) {
                x = x * 31 + i;
            }
        } while (Truth.cpu() - start < ns);
        return x;
    }

    static long level3(int kind, long ns) {
        switch (kind) {
            case 0:
                return nativeSpin(ns);
            case 1:
                return nativeNap(ns);
            default:
                return nativeCallBack(ns);
        }
    }

    static long level2(int kind, long ns) {
        return level3(kind, ns) + 1;
    }

    static long level1(int kind, long ns) {
        return level2(kind, ns) + 1;
    }

    static void run(long end) {
        String[] names = {"nativeSpin", "nativeNap", "nativeCallBack"};
        Map<String, Long> cpu = new LinkedHashMap<>();
        while (System.nanoTime() < end) {
            for (int kind = 0; kind < names.length; kind++) {
                long start = Truth.cpu();
                Truth.sink += level1(kind, 5_000_000);
                cpu.merge(names[kind], Truth.cpu() - start, Long::sum);
            }
        }
        Truth.put("cpu_ns", cpu);
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 8;
        System.load(System.getProperty("library"));
        Truth.ready();
        Thread thread = new Thread(() -> {
            // A recorder may need a moment to learn of a new thread.
            LockSupport.parkNanos(300_000_000L);
            run(System.nanoTime() + seconds * 1_000_000_000L);
        }, "jni");
        thread.start();
        thread.join();
        Truth.end();
    }
}
