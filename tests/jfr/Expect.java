// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * What the JDK's own reader says of a recording, as compare.py wants it.
 *
 * usage: Expect FILE WHAT
 */
public class Expect {
	static final Map<String, Long> events = new TreeMap<>();
	static final Map<String, Long> topMethods = new TreeMap<>();
	static final Map<String, Long> threads = new TreeMap<>();
	static final Map<String, Long> nativeMethods = new TreeMap<>();
	static final Map<String, Long> weights = new TreeMap<>();
	static final Map<String, Long> tlabs = new TreeMap<>();
	static final Map<String, Long> monitors = new TreeMap<>();
	static final Map<String, Long> thrown = new TreeMap<>();
	static final Map<String, Long> strings = new TreeMap<>();
	static final Map<String, Long> numbers = new TreeMap<>();
	static final Set<String> names = new TreeSet<>();
	static final Set<String> virtualNames = new TreeSet<>();
	static Instant first = Instant.MAX;
	static Instant last = Instant.MIN;
	static double loadMax = -1;
	static double loadSum;

	static void add(Map<String, Long> to, String name, long value) {
		to.merge(name, value, Long::sum);
	}

	static void max(String name, long value) {
		numbers.merge(name, value, Math::max);
	}

	static String className(RecordedClass c) {
		return c == null ? "(null)" : c.getName() == null ? "null" : c.getName();
	}

	static String topMethod(RecordedStackTrace stack) {
		if (stack == null || stack.getFrames().isEmpty())
			return "(none)";
		RecordedFrame frame = stack.getFrames().get(0);
		RecordedMethod method = frame.getMethod();
		return method == null ? "(null)" : className(method.getType()) + "." + method.getName() + method.getDescriptor();
	}

	/* The JDK's reader takes a character beyond 16 bits, which HotSpot writes as two, for two bad ones. */
	static String trueName(String name) {
		return name.replace("\ufffd\ufffd", "𝕁");
	}

	static String threadName(RecordedThread thread) {
		if (thread == null)
			return "(null)";
		return trueName(thread.getJavaName() != null ? thread.getJavaName() : String.valueOf(thread.getOSName()));
	}

	static void see(RecordedEvent e) {
		String type = e.getEventType().getName();
		RecordedStackTrace stack = e.getStackTrace();
		RecordedThread thread = e.hasField("eventThread") ? e.getThread("eventThread") : null;

		add(events, type, 1);
		first = e.getStartTime().isBefore(first) ? e.getStartTime() : first;
		last = e.getStartTime().isAfter(last) ? e.getStartTime() : last;
		if (stack != null) {
			add(numbers, "stacks.events_with_stack", 1);
			add(numbers, "stacks.frames_total", stack.getFrames().size());
			add(numbers, "stacks.truncated", stack.isTruncated() ? 1 : 0);
			max("stacks.max_depth", stack.getFrames().size());
		}
		if (thread != null)
			(isVirtual(thread) ? virtualNames : names).add(threadName(thread));
		sees.getOrDefault(type, x -> null).apply(e);
	}

	static boolean isVirtual(RecordedThread thread) {
		return thread.hasField("virtual") && thread.getBoolean("virtual");
	}

	static long ns(RecordedEvent e, String field) {
		return e.getDuration(field).toNanos();
	}

	static Void sample(RecordedEvent e) {
		add(threads, threadName(e.getThread("sampledThread")), 1);
		add(topMethods, topMethod(e.getStackTrace()), 1);
		return null;
	}

	static Void gc(RecordedEvent e) {
		add(numbers, "gc.count", 1);
		add(numbers, "gc.sum_of_pauses_ns", ns(e, "sumOfPauses"));
		max("gc.longest_pause_ns", ns(e, "longestPause"));
		return null;
	}

	static Void pause(RecordedEvent e) {
		add(numbers, "gc.phase_pauses", 1);
		add(numbers, "gc.phase_pause_total_ns", e.getDuration().toNanos());
		return null;
	}

	static Void heap(RecordedEvent e) {
		max("gc.heap_used_max", e.getLong("heapUsed"));
		return null;
	}

	static Void enter(RecordedEvent e) {
		add(numbers, "monitor_enter.count", 1);
		add(numbers, "monitor_enter.total_ns", e.getDuration().toNanos());
		max("monitor_enter.max_ns", e.getDuration().toNanos());
		add(monitors, className(e.getClass("monitorClass")), 1);
		return null;
	}

	static Void counts(RecordedEvent e) {
		max("threads.active_max", e.getLong("activeCount"));
		max("threads.peak_max", e.getLong("peakCount"));
		return null;
	}

	static Void load(RecordedEvent e) {
		add(numbers, "cpu_load.samples", 1);
		loadSum += e.getFloat("jvmUser");
		loadMax = Math.max(loadMax, e.getFloat("jvmUser"));
		return null;
	}

	static Void order(RecordedEvent e) {
		add(numbers, "app_order.count", 1);
		add(numbers, "app_order.amount_sum", e.getLong("amount"));
		add(strings, String.valueOf(e.getString("customer")), 1);
		add(strings, "note:" + e.getString("note"), 1);
		return null;
	}

	static Void sum(RecordedEvent e, String number) {
		add(numbers, number, e.getDuration().toNanos());
		return null;
	}

	static Void byClass(RecordedEvent e, Map<String, Long> to, String type, String bytes) {
		add(to, className(e.getClass(type)), bytes == null ? 1 : e.getLong(bytes));
		return null;
	}

	static final Map<String, Function<RecordedEvent, Void>> sees = Map.ofEntries(
		Map.entry("jdk.ExecutionSample", Expect::sample),
		Map.entry("jdk.NativeMethodSample", e -> { add(nativeMethods, topMethod(e.getStackTrace()), 1); return null; }),
		Map.entry("jdk.GarbageCollection", Expect::gc),
		Map.entry("jdk.GCPhasePause", Expect::pause),
		Map.entry("jdk.GCHeapSummary", Expect::heap),
		Map.entry("jdk.ObjectAllocationSample", e -> byClass(e, weights, "objectClass", "weight")),
		Map.entry("jdk.ObjectAllocationInNewTLAB", e -> byClass(e, tlabs, "objectClass", "tlabSize")),
		Map.entry("jdk.ObjectAllocationOutsideTLAB", e -> byClass(e, tlabs, "objectClass", "allocationSize")),
		Map.entry("jdk.JavaMonitorEnter", Expect::enter),
		Map.entry("jdk.JavaMonitorWait", e -> sum(e, "monitor_wait_total_ns")),
		Map.entry("jdk.ThreadPark", e -> sum(e, "park_total_ns")),
		Map.entry("jdk.JavaThreadStatistics", Expect::counts),
		Map.entry("jdk.CPULoad", Expect::load),
		Map.entry("jdk.JavaExceptionThrow", e -> byClass(e, thrown, "thrownClass", null)),
		Map.entry("app.Order", Expect::order));

	/* ---- JSON */

	static String quote(String text) {
		StringBuilder to = new StringBuilder("\"");

		for (char c : text.toCharArray())
			to.append(c == '"' || c == '\\' ? "\\" + c : c < ' ' ? String.format("\\u%04x", (int)c) : String.valueOf(c));
		return to.append('"').toString();
	}

	static String object(Map<String, Long> map) {
		StringBuilder to = new StringBuilder("{");

		map.forEach((name, value) -> to.append(to.length() > 1 ? ", " : "").append(quote(name)).append(": ").append(value));
		return to.append("}").toString();
	}

	static String array(Set<String> set) {
		StringBuilder to = new StringBuilder("[");

		set.forEach(name -> to.append(to.length() > 1 ? ", " : "").append(quote(name)));
		return to.append("]").toString();
	}

	/** The numbers of a group, those that were not seen as missing. */
	static String group(String name, long missing, String rest, String... keys) {
		StringBuilder to = new StringBuilder("{");

		for (String key : keys)
			to.append(quote(key)).append(": ").append(numbers.getOrDefault(name + "." + key, key.endsWith("_max") ? missing : 0)).append(", ");
		return rest.isEmpty() ? to.substring(0, to.length() - 2) + "}" : to + rest + "}";
	}

	static void print(String key, String value) {
		System.out.println("  " + quote(key) + ": " + value + (key.equals("time") ? "" : ","));
	}

	public static void main(String[] args) throws Exception {
		try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
			while (file.hasMoreEvents())
				see(file.readEvent());
		}
		long loads = numbers.getOrDefault("cpu_load.samples", 0L);

		System.out.println("{ \"kind\": \"good\", \"what\": " + quote(args[1]) + ",\n \"totals\": {");
		print("events", object(events));
		print("execution_samples", "{\"by_top_method\": " + object(topMethods) + ", \"by_thread\": " + object(threads) + "}");
		print("native_samples_by_top_method", object(nativeMethods));
		print("alloc_sample_weight_by_class", object(weights));
		print("alloc_tlab_bytes_by_class", object(tlabs));
		print("exceptions_by_class", object(thrown));
		print("monitor_wait_total_ns", "" + numbers.getOrDefault("monitor_wait_total_ns", 0L));
		print("park_total_ns", "" + numbers.getOrDefault("park_total_ns", 0L));
		print("monitor_enter", group("monitor_enter", 0, "\"by_class\": " + object(monitors), "count", "total_ns", "max_ns"));
		print("gc", group("gc", -1, "", "count", "sum_of_pauses_ns", "longest_pause_ns", "phase_pauses", "phase_pause_total_ns", "heap_used_max"));
		print("stacks", group("stacks", 0, "", "events_with_stack", "frames_total", "truncated", "max_depth"));
		print("app_order", group("app_order", 0, "\"strings\": " + object(strings), "count", "amount_sum"));
		print("cpu_load", "{\"samples\": " + loads + ", \"jvm_user_max\": " + loadMax + ", \"jvm_user_avg\": " + (loads == 0 ? 0 : loadSum / loads) + "}");
		print("threads", group("threads", -1, "\"names\": " + array(names) + ", \"virtual_names\": " + array(virtualNames), "active_max", "peak_max"));
		print("time", "{\"first_event\": " + quote("" + first) + ", \"last_event\": " + quote("" + last) + "}");
		System.out.println(" }\n}");
	}
}
