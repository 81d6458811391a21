// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An agent that makes each method of CallWork call CallAgent.enter() first and CallAgent.leave()
 * before each return and throw, with one more stack slot and two more locals than it had. The
 * truth is what it did to each method.
 */
public class CallAgent {
    private static final List<Object> METHODS = new ArrayList<>();
    static int entered, left;

    public static void enter() {
        entered++;
    }

    public static void leave() {
        left++;
    }

    public static void premain(String option, Instrumentation instrumentation) {
        instrumentation.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> type, ProtectionDomain domain,
                    byte[] file) {
                return "CallWork".equals(name) ? new Rewriter(file).rewrite() : null;
            }
        });
    }

    public static void main(String[] arguments) throws Exception {
        Truth.ready();
        CallWork.all();
        Truth.put("methods", METHODS);
        Truth.put("entered", entered);
        Truth.put("left", left);
        Truth.end();
    }

    /** Of one class file. */
    private static final class Rewriter {
        private static final int CALL = 3; // bytes
        private final DataInputStream in;
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final DataOutputStream out = new DataOutputStream(bytes);
        private String[] texts;
        private int enter, leave;

        Rewriter(byte[] file) {
            in = new DataInputStream(new ByteArrayInputStream(file));
        }

        byte[] rewrite() {
            try {
                out.writeLong(in.readLong());
                pool();
                out.writeShort(in.readUnsignedShort());
                out.writeInt(in.readInt());
                int interfaces = in.readUnsignedShort();
                out.writeShort(interfaces);
                out.write(in.readNBytes(2 * interfaces));
                members(false);
                members(true);
                out.write(in.readAllBytes());
                return bytes.toByteArray();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void pool() throws IOException {
            int count = in.readUnsignedShort();
            out.writeShort(count + 9);
            texts = new String[count];
            for (int i = 1; i < count; i++) {
                in.mark(1 << 20);
                if (in.readUnsignedByte() == 1) {
                    texts[i] = in.readUTF();
                }
                in.reset();
                i += ClassMaker.copyConstant(in, out);
            }
            text("CallAgent");
            index(7, count);
            text("()V");
            text("enter");
            indexes(12, count + 3, count + 2);
            text("leave");
            indexes(12, count + 5, count + 2);
            indexes(10, count + 1, count + 4);
            indexes(10, count + 1, count + 6);
            enter = count + 7;
            leave = count + 8;
        }

        private void text(String text) throws IOException {
            out.writeByte(1);
            out.writeUTF(text);
        }

        private void index(int tag, int one) throws IOException {
            out.writeByte(tag);
            out.writeShort(one);
        }

        private void indexes(int tag, int one, int other) throws IOException {
            index(tag, one);
            out.writeShort(other);
        }

        private void members(boolean methods) throws IOException {
            int count = in.readUnsignedShort();
            out.writeShort(count);
            for (int i = 0; i < count; i++) {
                out.writeShort(in.readUnsignedShort());
                String name = texts[copyShort()], signature = texts[copyShort()];
                int attributes = copyShort();
                for (int k = 0; k < attributes; k++) {
                    String attribute = texts[copyShort()];
                    byte[] content = in.readNBytes(in.readInt());
                    if (methods && attribute.equals("Code")) {
                        content = new Code(content).rewrite(name, signature);
                    }
                    out.writeInt(content.length);
                    out.write(content);
                }
            }
        }

        private int copyShort() throws IOException {
            int value = in.readUnsignedShort();
            out.writeShort(value);
            return value;
        }

        /** The code of one method; without its tables for debuggers. */
        private final class Code {
            private final DataInputStream code;
            private final int stack, locals;
            private final byte[] old;
            private int[] moved; // where each instruction is, with the calls before it
            private int exits, frames;

            Code(byte[] attribute) throws IOException {
                code = new DataInputStream(new ByteArrayInputStream(attribute));
                stack = code.readUnsignedShort();
                locals = code.readUnsignedShort();
                old = code.readNBytes(code.readInt());
            }

            byte[] rewrite(String name, String signature) throws IOException {
                ByteArrayOutputStream all = new ByteArrayOutputStream();
                DataOutputStream to = new DataOutputStream(all);
                byte[] fresh = instructions();
                to.writeShort(stack + 1);
                to.writeShort(locals + 2);
                to.writeInt(fresh.length);
                to.write(fresh);
                handlers(to);
                attributes(to);
                note(name, signature, fresh.length);
                return all.toByteArray();
            }

            private void note(String name, String signature, int size) {
                Map<String, Object> fact = new LinkedHashMap<>();
                fact.put("name", name);
                fact.put("signature", signature);
                fact.put("code", List.of(old.length, size));
                fact.put("stack", List.of(stack, stack + 1));
                fact.put("locals", List.of(locals, locals + 2));
                fact.put("frames", frames);
                fact.put("exits", exits);
                METHODS.add(fact);
            }

            private boolean isExit(int at) {
                int opcode = old[at] & 255;
                return opcode >= 172 && opcode <= 177 || opcode == 191;
            }

            private int size(int at) {
                int opcode = old[at] & 255;
                if (opcode == 16 || opcode == 18 || opcode >= 21 && opcode <= 25
                        || opcode >= 54 && opcode <= 58 || opcode == 188) {
                    return 2;
                }
                if (opcode == 17 || opcode == 19 || opcode == 20 || opcode == 132
                        || opcode >= 153 && opcode <= 168 || opcode >= 178 && opcode <= 184
                        || opcode == 187 || opcode == 189 || opcode == 192 || opcode == 193
                        || opcode == 198 || opcode == 199) {
                    return 3;
                }
                if (opcode == 185 || opcode == 186) {
                    return 5;
                }
                if (opcode == 170 || opcode == 171 || opcode >= 196) {
                    throw new IllegalStateException("opcode " + opcode);
                }
                return 1;
            }

            private byte[] instructions() throws IOException {
                ByteArrayOutputStream all = new ByteArrayOutputStream();
                DataOutputStream to = new DataOutputStream(all);
                moved = new int[old.length + 1];
                int next = CALL;
                for (int at = 0; at < old.length; at += size(at)) {
                    moved[at] = next;
                    next += size(at) + (isExit(at) ? CALL : 0);
                }
                moved[old.length] = next;
                call(to, enter);
                for (int at = 0; at < old.length; at += size(at)) {
                    instruction(to, at);
                }
                return all.toByteArray();
            }

            private void call(DataOutputStream to, int method) throws IOException {
                to.writeByte(184);
                to.writeShort(method);
            }

            private void instruction(DataOutputStream to, int at) throws IOException {
                int opcode = old[at] & 255;
                if (isExit(at)) {
                    call(to, leave);
                    exits++;
                }
                if (opcode >= 153 && opcode <= 168 || opcode == 198 || opcode == 199) {
                    int target = at + (short) ((old[at + 1] & 255) << 8 | old[at + 2] & 255);
                    to.writeByte(opcode);
                    to.writeShort(moved[target] - moved[at]);
                } else {
                    to.write(old, at, size(at));
                }
            }

            private void handlers(DataOutputStream to) throws IOException {
                int count = code.readUnsignedShort();
                to.writeShort(count);
                for (int i = 0; i < count; i++) {
                    for (int k = 0; k < 3; k++) {
                        to.writeShort(moved[code.readUnsignedShort()]);
                    }
                    to.writeShort(code.readUnsignedShort());
                }
            }

            private void attributes(DataOutputStream to) throws IOException {
                int count = code.readUnsignedShort();
                byte[] table = null;
                int name = 0;
                for (int i = 0; i < count; i++) {
                    int index = code.readUnsignedShort();
                    byte[] content = code.readNBytes(code.readInt());
                    if (texts[index].equals("StackMapTable")) {
                        table = frames(content);
                        name = index;
                    }
                }
                to.writeShort(table == null ? 0 : 1);
                if (table != null) {
                    to.writeShort(name);
                    to.writeInt(table.length);
                    to.write(table);
                }
            }

            /** Each frame at its new place; what is in it stays, but for the place of a new. */
            private byte[] frames(byte[] table) throws IOException {
                ByteArrayOutputStream all = new ByteArrayOutputStream();
                DataOutputStream to = new DataOutputStream(all);
                DataInputStream from = new DataInputStream(new ByteArrayInputStream(table));
                frames = from.readUnsignedShort();
                to.writeShort(frames);
                int before = -1, now = -1;
                for (int i = 0; i < frames; i++) {
                    int type = from.readUnsignedByte();
                    int delta = type < 64 ? type : type < 128 ? type - 64 : from.readUnsignedShort();
                    before += delta + 1;
                    int place = moved[before];
                    frame(from, to, type, place - now - 1);
                    now = place;
                }
                return all.toByteArray();
            }

            private void frame(DataInputStream from, DataOutputStream to, int type, int delta)
                    throws IOException {
                int same = type < 64 ? 251 : type < 128 ? 247 : type;
                to.writeByte(same);
                to.writeShort(delta);
                if (same == 247) {
                    types(from, to, 1);
                } else if (same > 251 && same < 255) {
                    types(from, to, same - 251);
                } else if (same == 255) {
                    for (int part = 0; part < 2; part++) {
                        int count = from.readUnsignedShort();
                        to.writeShort(count);
                        types(from, to, count);
                    }
                }
            }

            private void types(DataInputStream from, DataOutputStream to, int count) throws IOException {
                for (int i = 0; i < count; i++) {
                    int tag = from.readUnsignedByte();
                    to.writeByte(tag);
                    if (tag == 7) {
                        to.writeShort(from.readUnsignedShort());
                    } else if (tag == 8) {
                        to.writeShort(moved[from.readUnsignedShort()]);
                    }
                }
            }
        }
    }
}
