// SPDX-License-Identifier: Apache-2.0
import java.io.FileInputStream;
import java.io.FileOutputStream;

/**
 * Threads that are off their CPU at a known place for a known reason.
 *
 * <p>Blocks SECONDS FIFO. TRUTH has {"thread": nanoseconds}, as the threads themselves measured it.
 */
public class Blocks {
    private static final Object LOCK = new Object();
    private static final Object SIGNAL = new Object();
    private static volatile boolean done;

    interface Step {
        void run() throws Exception;
    }

    static void sleeps() throws InterruptedException {
        Thread.sleep(20);
    }

    static void waits() throws InterruptedException {
        synchronized (SIGNAL) {
            SIGNAL.wait(5000);
        }
    }

    static void notifies() throws InterruptedException {
        Thread.sleep(30);
        synchronized (SIGNAL) {
            SIGNAL.notifyAll();
        }
    }

    static void holds() throws InterruptedException {
        synchronized (LOCK) {
            Thread.sleep(25);
        }
        Thread.sleep(2);
    }

    static void locks() {
        synchronized (LOCK) {
            Truth.sink++;
        }
    }

    private static Thread start(String name, Step step) {
        Thread thread = new Thread(() -> {
            long before = System.nanoTime();
            long cpu = Truth.cpu();
            try {
                while (!done) {
                    step.run();
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            Truth.put(name, System.nanoTime() - before - (Truth.cpu() - cpu));
        }, name);
        thread.start();
        return thread;
    }

    public static void main(String[] args) throws Exception {
        Truth.ready();
        try (FileOutputStream out = new FileOutputStream(args[1]);
                FileInputStream in = new FileInputStream(args[1])) {
            Thread[] threads = {
                start("sleeps", Blocks::sleeps), start("waits", Blocks::waits), start("notifies", Blocks::notifies),
                start("holds", Blocks::holds), start("locks", Blocks::locks), start("reads", in::read),
                start("writes", () -> {
                    Thread.sleep(40);
                    out.write(1);
                })};
            Thread.sleep(1000 * Long.parseLong(args[0]));
            done = true;
            for (Thread thread : threads) {
                thread.join(200);
                if (thread.getName().equals("reads")) {
                    out.write(1);
                }
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        Truth.end();
    }
}
