// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.zip.Deflater;

/**
 * Grows one kind of memory after "go", and keeps it. Arguments: kind, how many.
 *
 * <pre>
 * idle              nothing
 * threads N         N threads "stack-I" that use some of their stack and wait
 * direct N          N direct buffers of 1,000,003 bytes, every byte written
 * zip N             N deflaters that are not ended: memory of libz, not of the VM
 * classes N         N loaders, each with one class whose constant pool has 2,000 numbers
 * heap N            N arrays of 1 MiB in the Java heap
 * busy N            threads, classes' loaders and arrays come and go for N seconds
 * </pre>
 */
public class MemoryGrowth {
    static final List<Object> KEPT = new ArrayList<>();

    static final class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass(null, bytes, 0, bytes.length);
        }
    }

    /** A class file without methods, with so many numbers in its constant pool. */
    static byte[] classFile(String name, int constants) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        out.writeInt(0xCAFEBABE);
        out.writeInt(52);
        out.writeShort(5 + constants);
        out.writeByte(1);
        out.writeUTF(name);
        out.writeByte(7);
        out.writeShort(1);
        out.writeByte(1);
        out.writeUTF("java/lang/Object");
        out.writeByte(7);
        out.writeShort(3);
        for (int i = 0; i < constants; i++) {
            out.writeByte(3);
            out.writeInt(i);
        }
        out.writeShort(0x21);
        out.writeShort(2);
        out.writeShort(4);
        for (int i = 0; i < 4; i++) {
            out.writeShort(0);
        }
        return bytes.toByteArray();
    }

    static int useStack(int depth) {
        return depth == 0 ? 0 : 1 + useStack(depth - 1);
    }

    static void threads(int count) throws InterruptedException {
        CountDownLatch started = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(() -> {
                Truth8.sink += useStack(500);
                started.countDown();
                synchronized (KEPT) {
                    try {
                        KEPT.wait();
                    } catch (InterruptedException e) {
                        return;
                    }
                }
            }, "stack-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        started.await();
    }

    static void direct(int count, int size) {
        for (int i = 0; i < count; i++) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(size);
            for (int at = 0; at < size; at++) {
                buffer.put(at, (byte) 1);
            }
            KEPT.add(buffer);
        }
    }

    static void zip(int count) {
        byte[] out = new byte[65536];
        byte[] in = new byte[65536];
        for (int i = 0; i < in.length; i++) {
            in[i] = (byte) (i * 31);
        }
        for (int i = 0; i < count; i++) {
            Deflater deflater = new Deflater();
            deflater.setInput(in);
            deflater.finish();
            Truth8.sink += deflater.deflate(out);
            KEPT.add(deflater);
        }
    }

    static void classes(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            KEPT.add(new Loader().define(classFile("Grown" + i, 2000)));
        }
    }

    static void busy(int seconds) throws IOException {
        long end = System.nanoTime() + 1000000000L * seconds;
        for (int round = 0; System.nanoTime() < end; round++) {
            Truth8.sink += new byte[100000].length;
            if (round % 50 == 0) {
                new Loader().define(classFile("Busy", 100));
                new Thread(() -> useStack(100)).start();
            }
            ByteBuffer.allocateDirect(5000);
        }
    }

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[1]);
        Truth8.ready();
        switch (args[0]) {
            case "idle": break;
            case "threads": threads(count); break;
            case "direct": direct(count, 1000003); break;
            case "zip": zip(count); break;
            case "classes": classes(count); break;
            case "heap": {
                for (int i = 0; i < count; i++) {
                    byte[] array = new byte[1 << 20];
                    java.util.Arrays.fill(array, (byte) 1);
                    KEPT.add(array);
                }
                break;
            }
            case "busy": busy(count); break;
            default: throw new IllegalArgumentException(args[0]);
        }
        Truth8.end("grown", java.util.Collections.singletonMap(args[0], count));
    }
}
