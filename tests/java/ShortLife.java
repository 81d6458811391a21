// SPDX-License-Identifier: Apache-2.0

/** Burns CPU for MS milliseconds in burn() and ends: a JVM that lives about half a second. */
public class ShortLife {
    static volatile long sink;

    static void burn(long ns) {
        long start = System.nanoTime();
        long x = start;
        while (System.nanoTime() - start < ns) {
            for (int i = 0; i < 20000; i++) {
                x = x * 31 + i;
            }
        }
        sink = x;
    }

    public static void main(String[] arguments) {
        burn((arguments.length > 0 ? Long.parseLong(arguments[0]) : 300) * 1_000_000L);
        System.exit(arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0);
    }
}
