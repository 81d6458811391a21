// SPDX-License-Identifier: Apache-2.0
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;

/**
 * Everything a JVM does at once, each on a thread of its own and without end: javac, backtracking
 * regular expressions, XML, zip, a dynamic proxy, method handles, parallel streams, exceptions.
 * Argument: seconds.
 */
public class Big {
    static volatile long sink;

    interface Work {
        void run() throws Throwable;
    }

    static void loop(String name, Work work) {
        Thread thread = new Thread(() -> {
            try {
                while (true) {
                    work.run();
                }
            } catch (Throwable e) {
                throw new IllegalStateException(name, e);
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    static class Source extends SimpleJavaFileObject {
        final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreErrors) {
            return text;
        }
    }

    static int round;

    static void compile() {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            sort();
            return;
        }
        round = (round + 1) % 50;
        StringBuilder text = new StringBuilder("import java.util.*; import java.util.stream.*; ");
        text.append("public class G").append(round).append(" {\n");
        for (int i = 0; i < 40; i++) {
            text.append("static List<String> m").append(i).append("(Map<String, List<Integer>> x) { ")
                    .append("return x.entrySet().stream().filter(e -> e.getValue().size() > ").append(i)
                    .append(").map(e -> e.getKey() + \"").append(i)
                    .append("\").sorted(Comparator.comparing(String::length).reversed())")
                    .append(".collect(Collectors.toList()); }\n");
        }
        List<String> options = List.of("-proc:none", "-d", System.getProperty("java.io.tmpdir"));
        compiler.getTask(null, null, message -> { }, options, null,
                List.of(new Source("G" + round, text.append("}").toString()))).call();
    }

    static final Pattern PATTERN = Pattern.compile("(a+|b*)+c?(d|e|f)*x$");
    static final String TEXT = "aab".repeat(18);

    static void match() {
        sink += PATTERN.matcher(TEXT).find() ? 1 : 0;
    }

    static byte[] document() {
        StringBuilder text = new StringBuilder("<r>");
        for (int i = 0; i < 500; i++) {
            text.append("<e a='").append(i).append("'><b>t").append(i).append("</b></e>");
        }
        return text.append("</r>").toString().getBytes();
    }

    static final byte[] DOCUMENT = document();

    static void parse() throws Exception {
        sink += DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new ByteArrayInputStream(DOCUMENT)).getElementsByTagName("b").getLength();
    }

    static byte[] bytes() {
        byte[] made = new byte[100000];
        new Random(1).nextBytes(made);
        for (int i = 0; i < made.length; i += 3) {
            made[i] = 7;
        }
        return made;
    }

    static final byte[] BYTES = bytes();

    static void zip() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
            zip.write(BYTES);
        }
        sink += out.size();
    }

    @SuppressWarnings("unchecked")
    static final Comparator<String> PROXY = (Comparator<String>) Proxy.newProxyInstance(
            Big.class.getClassLoader(), new Class<?>[] {Comparator.class},
            (proxy, method, values) -> ((String) values[0]).compareTo((String) values[1]));

    static void sort() {
        String[] words = new String[200];
        for (int i = 0; i < words.length; i++) {
            words[i] = "" + (i * 7919 % 211);
        }
        Arrays.sort(words, PROXY);
        sink += words[0].length();
    }

    static MethodHandle concatLength() {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            MethodHandle concat = lookup.findVirtual(String.class, "concat",
                    MethodType.methodType(String.class, String.class));
            MethodHandle length = lookup.findVirtual(String.class, "length", MethodType.methodType(int.class));
            return MethodHandles.filterReturnValue(concat, length);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static final MethodHandle CONCAT_LENGTH = concatLength();

    static void invoke() throws Throwable {
        for (int i = 0; i < 100; i++) {
            sink += (int) CONCAT_LENGTH.invoke("a" + i, "b");
        }
        sink += (int) CONCAT_LENGTH.invokeWithArguments("x", "y");
    }

    static final ConcurrentHashMap<Integer, Integer> MAP = new ConcurrentHashMap<>();

    static void parallel() {
        for (int i = 0; i < 1000; i++) {
            MAP.compute(i, (key, value) -> value == null ? 1 : value + 1);
        }
        sink += IntStream.range(0, 10000).parallel().mapToLong(i -> MAP.getOrDefault(i, 0)).sum();
    }

    static void fail() {
        try {
            sink += Integer.parseInt("zz");
        } catch (NumberFormatException e) {
            sink += e.getStackTrace().length;
        }
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 60;
        loop("t-javac", Big::compile);
        loop("t-regex", Big::match);
        loop("t-xml", Big::parse);
        loop("t-zip", Big::zip);
        loop("t-proxy", Big::sort);
        loop("t-handle", Big::invoke);
        loop("t-parallel", Big::parallel);
        loop("t-throw", Big::fail);
        Truth.ready();
        Thread.sleep(1000 * seconds);
    }
}
