// SPDX-License-Identifier: Apache-2.0
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Loads and initializes classes from a jar, as a large program does when it starts.
 *
 * <p>Startup make JAR COUNT: writes the jar. Startup JAR COUNT TIMES: prints READY, waits for a line, loads the
 * classes, each time by a loader of its own and a thousand in a round, prints DONE, waits again.
 */
public class Startup {
    static final String NAME = "Startup$Template00000";
    static long sink;

    /** What the classes of the jar are copies of. */
    public static final class Template00000 {
        static final long BEGAN = System.nanoTime();

        private Template00000() {}

        public static long one(long x) {
            return two(x) * 3 + BEGAN;
        }

        public static long two(long x) {
            return three(x) * 5 + 2;
        }

        public static long three(long x) {
            return x * 7 + 3;
        }
    }

    static String name(int number) {
        return String.format("Startup$Template%05d", number + 1);
    }

    static void make(String jar, int count) throws IOException {
        String text;
        try (InputStream in = Startup.class.getResourceAsStream("/" + NAME + ".class")) {
            text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
        }
        try (ZipOutputStream out = new ZipOutputStream(new FileOutputStream(jar))) {
            for (int i = 0; i < count; i++) {
                out.putNextEntry(new ZipEntry(name(i) + ".class"));
                out.write(text.replace(NAME, name(i)).getBytes(StandardCharsets.ISO_8859_1));
                out.closeEntry();
            }
        }
    }

    static void load(String jar, int count) throws Exception {
        try (URLClassLoader loader = new URLClassLoader(new URL[] {Paths.get(jar).toUri().toURL()})) {
            for (int i = 0; i < count; i++) {
                Class<?> type = Class.forName(name(i), true, loader);
                sink += (Long) type.getMethod("one", long.class).invoke(null, (long) i);
                if (i % 1000 == 999) {
                    Rounds.end();
                }
            }
        }
    }

    public static void main(String[] args) throws Exception {
        if (args[0].equals("make")) {
            make(args[1], Integer.parseInt(args[2]));
            return;
        }
        System.out.println("READY " + ProcessHandle.current().pid());
        System.in.read();
        for (int time = 0; time < Integer.parseInt(args[2]); time++) {
            load(args[0], Integer.parseInt(args[1]));
        }
        System.out.println("DONE");
        System.in.read();
    }
}
