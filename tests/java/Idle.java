// SPDX-License-Identifier: Apache-2.0

/** Does nothing, for SECONDS seconds. */
public class Idle {
    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 60;
        Truth.ready();
        Thread.sleep(1000 * seconds);
    }
}
