// SPDX-License-Identifier: Apache-2.0

/** Methods of all kinds of shapes, for CallAgent to change. */
final class CallWork {
    private static int calls;

    private CallWork() {}

    static void nothing() {}

    static long sum(long a, int b) {
        return a + b;
    }

    static int sign(int value) {
        if (value < 0) {
            return -1;
        }
        return value > 0 ? 1 : 0;
    }

    static int loop(int count) {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            sum += sign(i - 3);
        }
        return sum;
    }

    static String guarded(String text) {
        try {
            if (text == null) {
                throw new IllegalArgumentException("none");
            }
            return text.trim();
        } catch (IllegalArgumentException e) {
            return e.getMessage();
        } finally {
            calls++;
        }
    }

    static void all() {
        nothing();
        Truth.sink += sum(1, 2) + loop(10) + guarded(null).length() + guarded(" a ").length() + calls;
    }
}
