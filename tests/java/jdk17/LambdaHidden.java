// SPDX-License-Identifier: Apache-2.0
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The same CPU time, in turn, through every kind of generated code: a lambda, a method reference, an
 * anonymous class, reflection, a proxy, a method handle, and COPIES hidden classes made from the
 * same bytes, whose names differ only in what the JVM appends. Arguments: seconds, copies.
 *
 * TRUTH.cpu_ns: by kind; TRUTH.hidden_names: the JVM's names of the hidden classes.
 */
public class LambdaHidden {
    public interface Burn {
        void burn(long ns);
    }

    public static class Hidden implements Burn {
        public void burn(long ns) {
            LambdaHidden.slice(ns);
        }
    }

    static class Reference {
        static void viaReference(long ns) {
            slice(ns);
        }
    }

    public static void viaReflection(Long ns) {
        slice(ns);
    }

    public static void viaHandle(long ns) {
        slice(ns);
    }

    static void viaLambda(long ns) {
        slice(ns);
    }

    static void viaProxy(long ns) {
        slice(ns);
    }

    static void slice(long ns) {
        long start = Truth.cpu();
        long x = start;
        do {
            for (int i = 0; i < 20000; i++) {
                x = x * 31 + i;
            }
        } while (Truth.cpu() - start < ns);
        Truth.sink += x;
    }

    interface Step {
        void run() throws Throwable;
    }

    static final Map<String, Long> CPU = new TreeMap<>();

    static void timed(String kind, Step step) throws Throwable {
        long start = Truth.cpu();
        step.run();
        CPU.merge(kind, Truth.cpu() - start, Long::sum);
    }

    static List<Burn> hiddenCopies(MethodHandles.Lookup lookup, int copies, List<String> names) throws Exception {
        byte[] bytes;
        try (InputStream in = LambdaHidden.class.getResourceAsStream("LambdaHidden$Hidden.class")) {
            bytes = in.readAllBytes();
        }
        List<Burn> made = new ArrayList<>();
        for (int i = 0; i < copies; i++) {
            Class<?> hidden = lookup.defineHiddenClass(bytes, true).lookupClass();
            names.add(hidden.getName());
            made.add((Burn) hidden.getDeclaredConstructor().newInstance());
        }
        return made;
    }

    public static void main(String[] arguments) throws Throwable {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 8;
        int copies = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 40;
        long ns = 2_000_000;
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        List<String> names = new ArrayList<>();
        List<Burn> hidden = hiddenCopies(lookup, copies, names);
        Burn lambda = time -> viaLambda(time);
        Burn reference = Reference::viaReference;
        Burn anonymous = new Burn() {
            public void burn(long time) {
                slice(time);
            }
        };
        Method reflected = LambdaHidden.class.getMethod("viaReflection", Long.class);
        MethodHandle handle =
                lookup.findStatic(LambdaHidden.class, "viaHandle", MethodType.methodType(void.class, long.class));
        Burn proxy = (Burn) Proxy.newProxyInstance(
                LambdaHidden.class.getClassLoader(), new Class<?>[] {Burn.class}, (self, method, values) -> {
                    viaProxy((Long) values[0]);
                    return null;
                });
        Truth.ready();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        for (int k = 0; System.nanoTime() < end; k++) {
            Burn copy = hidden.get(k % copies);
            timed("lambda", () -> lambda.burn(ns));
            timed("reference", () -> reference.burn(ns));
            timed("anonymous", () -> anonymous.burn(ns));
            timed("reflection", () -> reflected.invoke(null, ns));
            timed("handle", () -> {
                handle.invokeExact(ns);
            });
            timed("proxy", () -> proxy.burn(ns));
            timed("hidden", () -> copy.burn(ns));
        }
        Truth.put("cpu_ns", CPU);
        Truth.put("hidden_names", names);
        Truth.end();
    }
}
