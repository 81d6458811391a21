// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.Map;
import java.util.TreeMap;

/**
 * Three parts of equal length whose time is mostly below Java: clockLoop() in the vDSO, sysLoop() in
 * the kernel, npeLoop() in the JVM's signal handler (implicit null checks, when not compiled by C2).
 * Argument: seconds.
 *
 * TRUTH.cpu_ns: CPU time of the main thread by part.
 */
public class ClockLoop {
    static class Holder {
        long value;
    }

    static Holder none;

    static void clockLoop(long end) {
        long sum = 0;
        do {
            for (int i = 0; i < 1000; i++) {
                sum += System.nanoTime() ^ System.currentTimeMillis();
            }
        } while (System.nanoTime() < end);
        Truth.sink += sum;
    }

    static void sysLoop(long end) throws IOException {
        try (RandomAccessFile zero = new RandomAccessFile("/dev/zero", "r")) {
            while (System.nanoTime() < end) {
                for (int i = 0; i < 200; i++) {
                    Truth.sink += zero.read();
                }
            }
        }
    }

    static void npeLoop(long end) {
        long count = 0;
        Holder holder = none;
        while (System.nanoTime() < end) {
            for (int i = 0; i < 50; i++) {
                try {
                    count += holder.value;
                } catch (NullPointerException expected) {
                    count++;
                }
            }
        }
        Truth.put("exceptions", count);
    }

    public static void main(String[] arguments) throws Exception {
        long part = (arguments.length > 0 ? Long.parseLong(arguments[0]) : 9) * 333_333_333L;
        Truth.ready();
        Map<String, Long> cpu = new TreeMap<>();
        long start = Truth.cpu();
        clockLoop(System.nanoTime() + part);
        cpu.put("clockLoop", Truth.cpu() - start);
        start = Truth.cpu();
        sysLoop(System.nanoTime() + part);
        cpu.put("sysLoop", Truth.cpu() - start);
        start = Truth.cpu();
        npeLoop(System.nanoTime() + part);
        cpu.put("npeLoop", Truth.cpu() - start);
        Truth.put("cpu_ns", cpu);
        Truth.end();
    }
}
