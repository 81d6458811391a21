// SPDX-License-Identifier: Apache-2.0
import java.util.Map;
import java.util.TreeMap;

/**
 * mutate() rewires a large linked graph, so that the barriers of the collectors run their slow
 * paths; churn() makes garbage. Run with a small heap. Argument: seconds.
 *
 * TRUTH.cpu_ns: CPU time of the main thread by method.
 */
public class GcBarriers {
    static final class Node {
        Node next;
        byte[] pad = new byte[16];
    }

    static Node[] graph = new Node[1 << 18];

    static void mutate(long ns) {
        long start = Truth.cpu();
        int i = (int) start;
        do {
            for (int k = 0; k < 2000; k++) {
                i = i * 1103515245 + 12345;
                Node node = graph[(i >>> 5) & (graph.length - 1)];
                node.next = graph[(i >>> 9) & (graph.length - 1)];
                if ((k & 63) == 0) {
                    graph[(i >>> 11) & (graph.length - 1)] = new Node();
                }
            }
        } while (Truth.cpu() - start < ns);
    }

    static void churn(long ns) {
        long start = Truth.cpu();
        Object[] keep = new Object[64];
        int i = 0;
        do {
            for (int k = 0; k < 500; k++) {
                keep[i++ & 63] = new byte[256];
            }
        } while (Truth.cpu() - start < ns);
        Truth.sink += keep.length;
    }

    public static void main(String[] arguments) throws Exception {
        long seconds = arguments.length > 0 ? Long.parseLong(arguments[0]) : 8;
        for (int i = 0; i < graph.length; i++) {
            graph[i] = new Node();
        }
        Truth.ready();
        Map<String, Long> cpu = new TreeMap<>();
        long end = System.nanoTime() + seconds * 1_000_000_000L;
        while (System.nanoTime() < end) {
            long start = Truth.cpu();
            mutate(7_000_000);
            long middle = Truth.cpu();
            churn(3_000_000);
            cpu.merge("mutate", middle - start, Long::sum);
            cpu.merge("churn", Truth.cpu() - middle, Long::sum);
        }
        Truth.put("cpu_ns", cpu);
        Truth.end();
    }
}
