// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Makes class files, without any library. Names are internal: "a/b/C". */
final class ClassMaker {
    private ClassMaker() {}

    /** The bytes of a class that is on the class path. */
    static byte[] bytes(Class<?> type) {
        try (InputStream in = type.getResourceAsStream("/" + type.getName().replace('.', '/') + ".class")) {
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The smallest legal class file: a public class without members. */
    static byte[] empty(String name) {
        try {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeInt(0xCAFEBABE);
            out.writeInt(52); // version 52.0
            out.writeShort(5);
            constant(out, name);
            out.writeByte(7);
            out.writeShort(1);
            constant(out, "java/lang/Object");
            out.writeByte(7);
            out.writeShort(3);
            out.writeShort(0x0021);
            out.writeShort(2);
            out.writeShort(4);
            out.writeLong(0); // no interfaces, fields, methods, attributes
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void constant(DataOutputStream out, String text) throws IOException {
        out.writeByte(1);
        out.writeUTF(text);
    }

    /** A copy with one more CONSTANT_Utf8 of this many characters, at the end of the pool. */
    static byte[] grown(byte[] file, int characters) {
        try {
            DataInputStream in = new DataInputStream(new ByteArrayInputStream(file));
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            DataOutputStream out = new DataOutputStream(bytes);
            out.writeLong(in.readLong());
            int count = in.readUnsignedShort();
            out.writeShort(count + 1);
            for (int i = 1; i < count; i++) {
                i += copyConstant(in, out);
            }
            constant(out, "x".repeat(characters));
            out.write(in.readAllBytes());
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns how many indexes it takes beyond one. */
    static int copyConstant(DataInputStream in, DataOutputStream out) throws IOException {
        int tag = in.readUnsignedByte();
        out.writeByte(tag);
        switch (tag) {
            case 1:
                out.writeUTF(in.readUTF());
                return 0;
            case 5:
            case 6:
                out.writeLong(in.readLong());
                return 1;
            case 7:
            case 8:
            case 16:
            case 19:
            case 20:
                out.writeShort(in.readUnsignedShort());
                return 0;
            case 15:
                out.writeByte(in.readUnsignedByte());
                out.writeShort(in.readUnsignedShort());
                return 0;
            default:
                out.writeInt(in.readInt());
                return 0;
        }
    }

    /** Defines what it is given. */
    static final class Loader extends ClassLoader {
        static {
            registerAsParallelCapable();
        }

        Loader(String name) {
            super(name, null);
        }

        Class<?> define(String name, byte[] file) {
            return defineClass(name.replace('/', '.'), file, 0, file.length);
        }
    }
}
