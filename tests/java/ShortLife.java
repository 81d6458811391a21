// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.io.RandomAccessFile;

/** Burns MS milliseconds of its thread's CPU time in burn() and ends: a JVM of half a second. */
public class ShortLife {
    static volatile long sink;

    /** By the kernel's file: the JVM's management classes take longer to load than this JVM lives. */
    static long cpuNs() throws IOException {
        try (RandomAccessFile file = new RandomAccessFile("/proc/thread-self/schedstat", "r")) {
            return Long.parseLong(file.readLine().split(" ")[0]);
        }
    }

    static void burn(long ns) throws IOException {
        long start = cpuNs();
        long x = start;
        while (cpuNs() - start < ns) {
            for (int i = 0; i < 2_000_000; i++) {
                x = x * 31 + i;
            }
        }
        sink = x;
    }

    public static void main(String[] arguments) throws IOException {
        burn((arguments.length > 0 ? Long.parseLong(arguments[0]) : 300) * 1_000_000L);
        System.exit(arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0);
    }
}
