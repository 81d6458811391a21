// SPDX-License-Identifier: Apache-2.0
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A program and its agent, which looks at every class. Options of the agent: "app/" returns a copy
 * of each class whose name begins so, "app/+200" one with a constant of 200 characters more,
 * "app/!" initializes java.util.logging.LogManager, as some agents do, and returns copies.
 */
public class ApmLike {
    private static final AtomicLong TRANSFORMED = new AtomicLong(), LOOKED = new AtomicLong();
    private static Instrumentation instrumentation;
    private static int more;

    public static void premain(String option, Instrumentation given) throws Exception {
        int plus = option.indexOf('+');
        String prefix = option.replaceAll("[+!].*", "");
        instrumentation = given;
        more = plus < 0 ? 0 : Integer.parseInt(option.substring(plus + 1));
        if (option.endsWith("!")) {
            Class.forName("java.util.logging.LogManager");
        }
        given.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader loader, String name, Class<?> type, ProtectionDomain domain,
                    byte[] file) {
                LOOKED.incrementAndGet();
                if (name == null || !name.startsWith(prefix)) {
                    return null;
                }
                TRANSFORMED.incrementAndGet();
                return more == 0 ? file.clone() : ClassMaker.grown(file, more);
            }
        }, true);
    }

    public static void agentmain(String option, Instrumentation given) throws Exception {
        premain(option, given);
    }

    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[0]);
        ClassMaker.Loader loader = new ClassMaker.Loader("apm");
        List<Class<?>> defined = new ArrayList<>();
        Truth.ready();
        for (int i = 0; i < count; i++) {
            defined.add(loader.define("app/C" + i, ClassMaker.empty("app/C" + i)));
            loader.define("lib/C" + i, ClassMaker.empty("lib/C" + i));
        }
        int rounds = instrumentation == null ? 0 : Integer.parseInt(arguments[1]);
        for (int i = 0; i < rounds; i++) {
            instrumentation.retransformClasses(defined.toArray(new Class<?>[0]));
        }
        Truth.put("bytes", ClassMaker.empty("app/C0").length);
        Truth.put("bytes_more", more == 0 ? 0 : more + 3);
        Truth.put("defined", count);
        Truth.put("transformed", TRANSFORMED.get());
        Truth.put("looked", LOOKED.get());
        Truth.put("redefined", rounds * count);
        Truth.end();
    }
}
