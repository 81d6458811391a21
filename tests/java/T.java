// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.net.ServerSocket;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that are blocked in every way there is ("b-..."), and some that run ("r-..."), so that
 * stacks can be compared with jstack's. Arguments: seconds, how many of each running kind.
 */
public class T {
    static volatile long sink;
    static final Object WAITED = new Object();
    static final Object HELD = new Object();

    interface Work {
        void run() throws Throwable;
    }

    static void start(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Throwable e) {
                throw new IllegalStateException(name, e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    static void waiter() throws InterruptedException {
        synchronized (WAITED) {
            WAITED.wait();
        }
    }

    static void parker() {
        LockSupport.park();
    }

    static void sleeper() throws InterruptedException {
        Thread.sleep(1_000_000);
    }

    static void blocked() {
        synchronized (HELD) {
            sink++;
        }
    }

    static void accept() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            socket.accept();
        }
    }

    static void reflected() throws Exception {
        Method method = T.class.getDeclaredMethod("sleeper");
        method.setAccessible(true);
        method.invoke(null);
    }

    static void handled() throws Throwable {
        MethodHandle handle =
                MethodHandles.lookup().findStatic(T.class, "sleeper", MethodType.methodType(void.class));
        handle.invokeExact();
    }

    static void streamed() {
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            numbers.add(i);
        }
        numbers.stream().map(x -> x + 1).forEach(x -> {
            if (x == 5) {
                LockSupport.park();
            }
        });
    }

    static void compared() {
        Integer[] numbers = new Integer[100];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = 100 - i;
        }
        Arrays.sort(numbers, (p, q) -> {
            if (p == 3) {
                LockSupport.park();
            }
            return Integer.compare(p, q);
        });
    }

    @SuppressWarnings({"deprecation", "removal"})
    static void privileged() {
        AccessController.doPrivileged((PrivilegedAction<Object>) () -> {
            LockSupport.park();
            return null;
        });
    }

    static void recurse(int left, Runnable then) {
        if (left == 0) {
            then.run();
        } else {
            recurse(left - 1, then);
        }
    }

    static int fib(int n) {
        return n < 2 ? n : fib(n - 1) + fib(n - 2);
    }

    static long leaf(long x) {
        return x * 31 + (x >>> 3);
    }

    static long middle(long x) {
        long r = leaf(x);
        r ^= leaf(r);
        return r;
    }

    static void loop() {
        long a = 1;
        for (int i = 0; i < 100000; i++) {
            a = middle(a + i);
        }
        sink = a;
    }

    interface Shape {
        double area();
    }

    static class A implements Shape {
        public double area() {
            return 1;
        }
    }

    static class B implements Shape {
        public double area() {
            return 2;
        }
    }

    static class C implements Shape {
        public double area() {
            return 3;
        }
    }

    static final Shape[] SHAPES = {new A(), new B(), new C()};

    static double areas() {
        double sum = 0;
        for (int k = 0; k < 1000; k++) {
            for (Shape shape : SHAPES) {
                sum += shape.area();
            }
        }
        return sum;
    }

    static void allocate() {
        StringBuilder text = new StringBuilder();
        for (int k = 0; k < 50; k++) {
            text.append(k).append("x");
        }
        sink += text.toString().hashCode();
    }

    static final Map<String, Integer> COUNTS = new HashMap<>();

    static void count() {
        for (int k = 0; k < 1000; k++) {
            COUNTS.merge("k" + k, 1, Integer::sum);
        }
    }

    static void forever(Work work) throws Throwable {
        while (true) {
            work.run();
        }
    }

    static void startBlocked() {
        start("b-wait", T::waiter);
        start("b-park", T::parker);
        start("b-sleep", T::sleeper);
        start("b-blocked", T::blocked);
        start("b-accept", T::accept);
        start("b-reflect", T::reflected);
        start("b-handle", T::handled);
        start("b-stream", T::streamed);
        start("b-compare", T::compared);
        start("b-privileged", T::privileged);
        start("b-recurse", () -> recurse(40, T::parker));
        start("b-compiled", () -> {
            for (int i = 0; i < 30000; i++) {
                recurse(20, () -> sink++);
            }
            recurse(300, LockSupport::park);
        });
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 60;
        int running = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 1;
        Truth.ready();
        synchronized (HELD) {
            startBlocked();
            for (int i = 0; i < running; i++) {
                start("r-fib" + i, () -> forever(() -> sink += fib(30)));
                start("r-loop" + i, () -> forever(T::loop));
                start("r-areas" + i, () -> forever(() -> sink += (long) areas()));
                start("r-allocate" + i, () -> forever(T::allocate));
            }
            start("r-count", () -> forever(T::count));
            Thread.sleep(1000 * seconds);
        }
    }
}
