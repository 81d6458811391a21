// SPDX-License-Identifier: Apache-2.0
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import sun.misc.Unsafe;

/**
 * Native memory by four ways: direct buffers, zip streams, short threads, generated classes.
 *
 * <p>NativeHeavy ROUNDS: prints READY, waits for a line, does fixed work in rounds, prints DONE, waits again.
 */
public class NativeHeavy {
    private static final Unsafe UNSAFE = UnsafeAccess.get();
    static volatile long sink;

    static void direct(int count) {
        for (int i = 0; i < count; i++) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(1024 + (i & 4095));
            buffer.putInt(0, i);
            sink += buffer.getInt(0);
            UNSAFE.invokeCleaner(buffer);
        }
    }

    static void zip(int count) throws DataFormatException {
        byte[] in = new byte[4096];
        byte[] out = new byte[8192];
        byte[] back = new byte[8192];
        for (int i = 0; i < in.length; i++) {
            in[i] = (byte) ((i * 31) ^ (i >>> 4));
        }
        for (int i = 0; i < count; i++) {
            Deflater deflater = new Deflater(1);
            deflater.setInput(in);
            deflater.finish();
            int length = deflater.deflate(out);
            deflater.end();
            Inflater inflater = new Inflater();
            inflater.setInput(out, 0, length);
            sink += inflater.inflate(back);
            inflater.end();
        }
    }

    static void threads(int count) throws InterruptedException {
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> sink++, "t" + i);
            thread.start();
            thread.join();
        }
    }

    static final class Loader extends ClassLoader {
        Loader() {
            super(NativeHeavy.class.getClassLoader());
        }

        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    /** Each class has another name of the same length. */
    static void classes(int count, int round) throws Exception {
        String name = "NativeHeavy$Template00000";
        byte[] bytes;
        try (InputStream in = NativeHeavy.class.getResourceAsStream("/" + name + ".class")) {
            bytes = in.readAllBytes();
        }
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        Loader loader = null;
        for (int i = 0; i < count; i++) {
            if (i % 100 == 0) {
                loader = new Loader();
            }
            String other = String.format("NativeHeavy$Template%05d", round * count + i + 1);
            byte[] changed = text.replace(name, other).getBytes(StandardCharsets.ISO_8859_1);
            Class<?> type = loader.define(changed);
            sink += (Integer) type.getMethod("one", int.class).invoke(null, i);
        }
    }

    /** What the generated classes are copies of. */
    public static final class Template00000 {
        private Template00000() {}

        public static int one(int x) {
            return two(x) * 3 + 1;
        }

        public static int two(int x) {
            return three(x) * 5 + 2;
        }

        public static int three(int x) {
            return x * 7 + 3;
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        System.out.println("READY " + ProcessHandle.current().pid());
        System.in.read();
        for (int round = 0; round < rounds; round++) {
            direct(10000);
            zip(1000);
            threads(500);
            classes(500, round);
            Rounds.end();
        }
        System.out.println("DONE");
        System.in.read();
    }
}
