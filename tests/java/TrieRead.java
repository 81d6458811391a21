// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Field;

/** Prints what a class made by "jvmscope trie build --format java" holds: all units, all long jumps. */
public final class TrieRead {
    private static Object constant(String owner, String name) throws Exception {
        Field field = Class.forName(owner).getDeclaredField(name);
        field.setAccessible(true);
        return field.get(null);
    }

    public static void main(String[] args) throws Exception {
        StringBuilder text = new StringBuilder("units");
        for (String part : (String[]) constant(args[0], "UNITS")) {
            if (part.length() > 10000) {
                throw new AssertionError("a string of " + part.length() + " units");
            }
            for (int i = 0; i < part.length(); i++) {
                text.append(' ').append(Integer.toHexString(part.charAt(i)));
            }
        }
        text.append("\njumps");
        for (int jump : (int[]) constant(args[0], "LONG_JUMPS")) {
            text.append(' ').append(Integer.toHexString(jump));
        }
        System.out.println(text);
    }
}
