// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Native memory that a library of the JDK takes from libc, not from the VM: inflaters and deflaters
 * that are used once, kept and never ended.
 *
 * <p>Argument: milliseconds between two of each, 0 by default. Facts: objects, growth_bytes of the resident memory. Run it with a heap that does not grow.
 */
public class ZipLeak {
    private static final List<Object> KEPT = new ArrayList<>();
    private static final byte[] PLAIN = new byte[40000];
    private static final byte[] PACKED = new byte[80000];
    private static int packedBytes;

    static void deflate() {
        Deflater deflater = new Deflater();
        deflater.setInput(PLAIN);
        deflater.finish();
        packedBytes = deflater.deflate(PACKED);
        KEPT.add(deflater);
    }

    static void inflate() throws DataFormatException {
        Inflater inflater = new Inflater();
        inflater.setInput(PACKED, 0, packedBytes);
        inflater.inflate(new byte[20000]);
        KEPT.add(inflater);
    }

    private static long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Paths.get("/proc/self/status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        throw new IOException("no VmRSS");
    }

    public static void main(String[] args) throws Exception {
        new Random(1).nextBytes(PLAIN);
        deflate();
        inflate();
        Truth.ready();
        long before = residentBytes();
        for (int i = 0; i < 200; i++) {
            deflate();
            inflate();
            Thread.sleep(args.length > 0 ? Integer.parseInt(args[0]) : 0);
        }
        Truth.put("objects", 400);
        Truth.put("growth_bytes", residentBytes() - before);
        Truth.end();
    }
}
