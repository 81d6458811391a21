// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Field;
import sun.misc.Unsafe;

/** The one Unsafe there is: no other way to native memory is as direct on all JDKs. */
final class UnsafeAccess {
    private UnsafeAccess() {}

    static Unsafe get() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
