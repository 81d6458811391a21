// SPDX-License-Identifier: Apache-2.0

/**
 * Fixed work of three kinds: that of CpuMixed, objects in a graph that changes all the time, and threads that contend
 * for one lock.
 *
 * <p>Work cpu|churn|locks ROUNDS: prints READY, waits for a line, works, prints DONE, waits again.
 */
public class Work {
    private static final int THREADS = 4;
    private static final Object LOCK = new Object();
    static volatile long sink;
    private static long shared;

    static final class Node {
        final byte[] bytes;
        final Node next;

        Node(int size, Node next) {
            this.bytes = new byte[size];
            this.next = next;
        }
    }

    private static void churn(int count, int seed) {
        Node[] live = new Node[20000];
        int random = seed;
        for (int i = 0; i < count; i++) {
            random = random * 1664525 + 1013904223;
            int at = (random >>> 8) % live.length;
            Node old = live[at];
            boolean linked = (i & 3) == 0 && old != null;
            live[at] = new Node(16 + (random >>> 3 & 511), linked ? old.next : null);
        }
        sink += live.length;
    }

    /** What is done with the lock held and without is so long that threads meet at it now and then. */
    private static void contend(int count, int seed) {
        long sum = seed;
        for (int i = 0; i < count; i++) {
            synchronized (LOCK) {
                for (int k = 0; k < 300; k++) {
                    shared = shared * 31 + k;
                }
            }
            for (int k = 0; k < 1200; k++) {
                sum = sum * 31 + k;
            }
        }
        sink += sum;
    }

    interface Part {
        void run(int seed);
    }

    private static void together(Part part) throws InterruptedException {
        Thread[] threads = new Thread[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int seed = i;
            threads[i] = new Thread(() -> part.run(seed), "work-" + i);
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private static void round(String kind, int number) throws InterruptedException {
        switch (kind) {
            case "cpu":
                for (int i = 0; i < 8; i++) {
                    CpuMixed.round(number * 8 + i);
                }
                break;
            case "churn":
                together(seed -> churn(400000, seed));
                break;
            default:
                together(seed -> contend(60000, seed));
        }
    }

    public static void main(String[] args) throws Exception {
        System.out.println("READY " + ProcessHandle.current().pid());
        System.in.read();
        for (int number = 0; number < Integer.parseInt(args[1]); number++) {
            round(args[0], number);
            Rounds.end();
        }
        System.out.println("DONE");
        System.in.read();
    }
}
