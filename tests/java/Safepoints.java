// SPDX-License-Identifier: Apache-2.0

/** MixShares beside a thread that brings the JVM to a safepoint twenty times a second. */
public class Safepoints {
    public static void main(String[] arguments) throws Exception {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    Truth.sink += Thread.getAllStackTraces().size();
                    Thread.sleep(50);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }, "safepoints");
        thread.setDaemon(true);
        thread.start();
        MixShares.main(arguments);
    }
}
