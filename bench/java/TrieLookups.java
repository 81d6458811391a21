// SPDX-License-Identifier: Apache-2.0
import java.io.DataInput;
import java.io.DataInputStream;
import java.io.InputStream;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.ToIntFunction;

/**
 * TrieLookups CLASS BINARY ROUNDS NAMES...: what a lookup costs in a Java class that reads the binary form.
 *
 * CLASS has readFrom(DataInput) and apply(String). A line of NAMES is a name and, behind a tab, the number it has. Prints
 * nanoseconds a name, best of ROUNDS, of each list, the first one also shuffled.
 */
public final class TrieLookups {
    @SuppressWarnings("unchecked")
    private static ToIntFunction<String> open(String name, Path binary) throws Throwable {
        Class<?> type = Class.forName(name);
        MethodHandles.Lookup lookup = MethodHandles.publicLookup().in(type);
        MethodHandle read = lookup.findStatic(type, "readFrom", MethodType.methodType(type, DataInput.class));
        Object trie;
        try (InputStream in = Files.newInputStream(binary)) {
            trie = read.invoke((DataInput) new DataInputStream(in));
        }
        MethodType apply = MethodType.methodType(int.class, String.class);
        // As a call in source text would be: the compiler sees through it.
        return (ToIntFunction<String>) LambdaMetafactory.metafactory(MethodHandles.lookup(), "applyAsInt",
                MethodType.methodType(ToIntFunction.class, type), MethodType.methodType(int.class, Object.class),
                MethodHandles.lookup().findVirtual(type, "apply", apply), apply).getTarget().invoke(trie);
    }

    private static void check(ToIntFunction<String> trie, List<String> lines) {
        for (String line : lines) {
            String[] parts = line.split("\t");
            if (parts.length > 1 && trie.applyAsInt(parts[0]) != Integer.parseInt(parts[1])) {
                throw new AssertionError(line);
            }
        }
    }

    private static double once(ToIntFunction<String> trie, String[] names) {
        long start = System.nanoTime();
        int sum = 0;
        for (String name : names) {
            sum += trie.applyAsInt(name);
        }
        long took = System.nanoTime() - start;
        if (sum == Integer.MIN_VALUE) {
            System.out.print("");
        }
        return (double) took / names.length;
    }

    private static double best(ToIntFunction<String> trie, List<String> lines, int rounds) {
        String[] names = lines.stream().map(line -> line.split("\t")[0]).toArray(String[]::new);
        double best = Double.MAX_VALUE;
        for (int round = 0; round < rounds; round++) {
            best = Math.min(best, once(trie, names));
        }
        return best;
    }

    public static void main(String[] args) throws Throwable {
        ToIntFunction<String> trie = open(args[0], Path.of(args[1]));
        int rounds = Integer.parseInt(args[2]);
        StringBuilder row = new StringBuilder();
        for (int i = 3; i < args.length; i++) {
            List<String> lines = Files.readAllLines(Path.of(args[i]));
            check(trie, lines);
            row.append(String.format("  %8.1f        ", best(trie, lines, rounds)));
            if (i == 3) {
                List<String> shuffled = new ArrayList<>(lines);
                Collections.shuffle(shuffled, new Random(1));
                row.append(String.format("  %8.1f        ", best(trie, shuffled, rounds)));
            }
        }
        System.out.println(row);
    }
}
