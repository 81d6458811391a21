// SPDX-License-Identifier: Apache-2.0
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes of known lengths, in a method for each kind: of sockets and of named pipes, whose other side is
 * SLOW times late by 40 ms, and FAST ones of a file.
 *
 * <p>TRUTH has {"kind": {"slow": [nanoseconds of each], "slow_bytes", "count", "bytes"}, ...}, as the calling thread
 * measured them; what took 20 ms and more is slow. All of it is done once before it counts, so that classes are loaded.
 */
public class IoWork {
    private static final long SLOW_NS = 20_000_000;
    private static final int PIECE = 1000;
    private static final int LARGE = 100_000;
    private static final int SMALL = 100;

    private static int slow;
    private static int fast;
    private static boolean counts;
    private static File folder;

    interface Call {
        long run() throws IOException;
    }

    interface Body {
        void run() throws Exception;
    }

    /** Sums of one kind. Only its own thread adds. */
    static final class Sums {
        final List<Long> slowNs = new ArrayList<>();
        long slowBytes;
        long count;
        long all;

        long add(Call call) throws IOException {
            long before = System.nanoTime();
            long bytes = call.run();
            long ns = System.nanoTime() - before;
            long moved = Math.max(bytes, 0);
            if (ns >= SLOW_NS) {
                slowNs.add(ns);
                slowBytes += moved;
            }
            count++;
            all += moved;
            return bytes;
        }

        Map<String, Object> facts() {
            Map<String, Object> facts = new LinkedHashMap<>();
            facts.put("slow", slowNs);
            facts.put("slow_bytes", slowBytes);
            facts.put("count", count);
            facts.put("bytes", all);
            return facts;
        }
    }

    /** The other side, in a thread of its own. */
    private static Thread peer(Body body) {
        Thread thread = new Thread(() -> {
            try {
                body.run();
            } catch (Exception e) {
                e.printStackTrace();
                System.exit(1);
            }
        }, "peer");
        thread.start();
        return thread;
    }

    private static void late() throws InterruptedException {
        Thread.sleep(40);
    }

    private static void feed(OutputStream to) throws Exception {
        for (int i = 0; i < slow; i++) {
            late();
            to.write(new byte[PIECE]);
        }
    }

    private static void drain(InputStream from) throws Exception {
        byte[] buffer = new byte[LARGE];
        for (int i = 0; i < slow; i++) {
            late();
            for (int left = LARGE; left > 0;) {
                left -= from.read(buffer, 0, left);
            }
        }
    }

    private static void untilFed(Sums sums, Call call) throws IOException {
        while (sums.all < (long) slow * PIECE) {
            sums.add(call);
        }
    }

    static void readSocket(Sums sums) throws Exception {
        readSocket(sums, 0);
    }

    static void readTimed(Sums sums) throws Exception {
        readSocket(sums, 5000);
    }

    private static void readSocket(Sums sums, int timeout) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread peer = peer(() -> {
                try (Socket socket = server.accept()) {
                    feed(socket.getOutputStream());
                }
            });
            try (Socket socket = new Socket(server.getInetAddress(), server.getLocalPort())) {
                byte[] buffer = new byte[4096];
                socket.setSoTimeout(timeout);
                InputStream in = socket.getInputStream();
                untilFed(sums, () -> in.read(buffer));
                sums.add(() -> in.read(buffer)); // the end of the stream
            }
            peer.join();
        }
    }

    static void readChannel(Sums sums) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread peer = peer(() -> {
                try (Socket socket = server.accept()) {
                    feed(socket.getOutputStream());
                }
            });
            InetSocketAddress address = new InetSocketAddress(server.getInetAddress(), server.getLocalPort());
            try (SocketChannel channel = SocketChannel.open(address)) {
                ByteBuffer buffer = ByteBuffer.allocate(4096);
                untilFed(sums, () -> {
                    buffer.clear();
                    return channel.read(buffer);
                });
            }
            peer.join();
        }
    }

    static void writeSocket(Sums sums) throws Exception {
        try (ServerSocket server = new ServerSocket()) {
            server.setReceiveBufferSize(4096);
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            Thread peer = peer(() -> {
                try (Socket socket = server.accept()) {
                    drain(socket.getInputStream());
                }
            });
            try (Socket socket = new Socket()) {
                socket.setSendBufferSize(4096);
                socket.connect(server.getLocalSocketAddress());
                OutputStream out = socket.getOutputStream();
                for (int i = 0; i < slow; i++) {
                    sums.add(() -> {
                        out.write(new byte[LARGE]);
                        return LARGE;
                    });
                }
            }
            peer.join();
        }
    }

    private static File pipe(String name) throws Exception {
        File file = new File(folder, name);
        if (!file.exists()) {
            throw new IOException("no pipe " + file);
        }
        return file;
    }

    private static Thread feeder(File pipe) {
        return peer(() -> {
            try (FileOutputStream out = new FileOutputStream(pipe)) {
                feed(out);
            }
        });
    }

    private static Thread drainer(File pipe) {
        return peer(() -> {
            try (FileInputStream in = new FileInputStream(pipe)) {
                drain(in);
            }
        });
    }

    static void readStream(Sums sums) throws Exception {
        File pipe = pipe("stream-in");
        Thread peer = feeder(pipe);
        try (FileInputStream in = new FileInputStream(pipe)) {
            byte[] buffer = new byte[4096];
            untilFed(sums, () -> in.read(buffer));
            sums.add(() -> in.read(buffer)); // the end of the file
        }
        peer.join();
    }

    static void readRandom(Sums sums) throws Exception {
        File pipe = pipe("random-in");
        Thread peer = feeder(pipe);
        try (RandomAccessFile in = new RandomAccessFile(pipe, "r")) {
            byte[] buffer = new byte[4096];
            untilFed(sums, () -> in.read(buffer));
        }
        peer.join();
    }

    static void readFileChannel(Sums sums) throws Exception {
        File pipe = pipe("channel-in");
        Thread peer = feeder(pipe);
        try (FileChannel in = FileChannel.open(pipe.toPath(), StandardOpenOption.READ)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
            untilFed(sums, () -> {
                buffer.clear();
                return in.read(buffer);
            });
        }
        peer.join();
    }

    static void writeStream(Sums sums) throws Exception {
        File pipe = pipe("stream-out");
        Thread peer = drainer(pipe);
        try (FileOutputStream out = new FileOutputStream(pipe)) {
            for (int i = 0; i < slow; i++) {
                sums.add(() -> {
                    out.write(new byte[LARGE]);
                    return LARGE;
                });
            }
        }
        peer.join();
    }

    static void writeFileChannel(Sums sums) throws Exception {
        File pipe = pipe("channel-out");
        Thread peer = drainer(pipe);
        try (FileChannel out = FileChannel.open(pipe.toPath(), StandardOpenOption.WRITE)) {
            for (int i = 0; i < slow; i++) {
                ByteBuffer buffer = ByteBuffer.allocateDirect(LARGE);
                while (buffer.hasRemaining()) {
                    sums.add(() -> out.write(buffer));
                }
            }
        }
        peer.join();
    }

    private static File file() {
        return new File(folder, "plain");
    }

    static void writeFast(Sums sums) throws Exception {
        byte[] piece = new byte[SMALL];
        try (FileOutputStream out = new FileOutputStream(file())) {
            for (int i = 0; i < fast; i++) {
                sums.add(() -> {
                    out.write(piece);
                    return SMALL;
                });
                sums.add(() -> {
                    out.write('x');
                    return 1;
                });
            }
        }
    }

    static void writeRandomFast(Sums sums) throws Exception {
        byte[] piece = new byte[SMALL];
        try (RandomAccessFile out = new RandomAccessFile(file(), "rw")) {
            for (int i = 0; i < fast; i++) {
                sums.add(() -> {
                    out.write(piece);
                    return SMALL;
                });
                sums.add(() -> {
                    out.write('x');
                    return 1;
                });
            }
        }
    }

    static void readFast(Sums sums) throws Exception {
        byte[] piece = new byte[SMALL];
        try (FileInputStream in = new FileInputStream(file())) {
            for (int i = 0; i < fast; i++) {
                sums.add(() -> in.read(piece));
                sums.add(() -> in.read() < 0 ? -1 : 1);
            }
        }
    }

    static void readRandomFast(Sums sums) throws Exception {
        byte[] piece = new byte[SMALL];
        try (RandomAccessFile in = new RandomAccessFile(file(), "r")) {
            for (int i = 0; i < fast; i++) {
                sums.add(() -> in.read(piece));
                sums.add(() -> in.read() < 0 ? -1 : 1);
            }
        }
    }

    static void force(Sums sums) throws Exception {
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        try (FileChannel out = FileChannel.open(file().toPath(), StandardOpenOption.WRITE)) {
            for (int i = 0; i < slow; i++) {
                one.clear();
                out.write(one, i);
                sums.add(() -> {
                    out.force(true);
                    return 0;
                });
            }
        }
    }

    interface Kind {
        void run(Sums sums) throws Exception;
    }

    private static void run(String name, Kind kind) throws Exception {
        Sums sums = new Sums();
        kind.run(sums);
        if (counts) {
            Truth.put(name, sums.facts());
        }
    }

    public static void main(String[] args) throws Exception {
        folder = new File(args[2]);
        slow = 1;
        fast = 1;
        all();
        slow = Integer.parseInt(args[0]);
        fast = Integer.parseInt(args[1]);
        counts = true;
        Truth.ready();
        all();
        Truth.end();
    }

    private static void all() throws Exception {
        run("readSocket", IoWork::readSocket);
        run("readTimed", IoWork::readTimed);
        run("readChannel", IoWork::readChannel);
        run("writeSocket", IoWork::writeSocket);
        run("readStream", IoWork::readStream);
        run("readRandom", IoWork::readRandom);
        run("readFileChannel", IoWork::readFileChannel);
        run("writeStream", IoWork::writeStream);
        run("writeFileChannel", IoWork::writeFileChannel);
        run("writeFast", IoWork::writeFast);
        run("writeRandomFast", IoWork::writeRandomFast);
        run("readFast", IoWork::readFast);
        run("readRandomFast", IoWork::readRandomFast);
        run("force", IoWork::force);
    }
}
