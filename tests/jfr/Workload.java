// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Configuration;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;

/**
 * A little of everything that a reader must understand, recorded by the JDK: samples, collections,
 * locks, exceptions, allocations, names outside ASCII and beyond 16 bits, strings of every encoding,
 * virtual threads where there are some, and two chunks.
 *
 * usage: Workload FILE
 */
public class Workload {
	@Name("app.Order")
	static class Order extends Event {
		byte small;
		short shorter;
		char letter;
		int amountInt;
		long amount;
		float share;
		double exact;
		boolean paid;
		String customer;
		String note;
	}

	static class 한글클래스 {
		static long 계산(int n) {
			long sum = 0;

			for (int i = 0; i < n; i++)
				sum += i ^ sum << 1;
			return sum;
		}
	}

	static final Object LOCK = new Object();
	static volatile long sink;
	static volatile Object[] garbage;

	static void burn(long ms) {
		long end = System.nanoTime() + ms * 1000000;

		while (System.nanoTime() < end)
			sink += 한글클래스.계산(1000);
	}

	static int deep(int n) {
		if (n > 0)
			return deep(n - 1) + 1;
		burn(100);
		return 0;
	}

	static void allocate(int rounds) {
		for (int i = 0; i < rounds; i++) {
			garbage = new Object[] { new byte[100000], new int[5000], "text " + i };
			LockSupport.parkNanos(100000);
		}
	}

	static void contend() {
		for (int i = 0; i < 3; i++) {
			synchronized (LOCK) {
				LockSupport.parkNanos(30000000);
			}
		}
	}

	static void throwSome() {
		for (int i = 0; i < 5; i++) {
			try {
				throw new Error("error " + i);
			} catch (Error expected) {
				sink++;
			}
		}
	}

	static void order(int count) {
		String[] customers = { "고객-아주긴이름을가진사람입니다", "plain", "latin-é-and-so-long-that-it-is-pooled", "", null };
		String[] notes = { null, "", "emoji 😀 in a string that is pooled", "short", "emoji 😀" };

		for (int i = 0; i < count; i++) {
			Order order = new Order();

			order.begin();
			order.small = (byte)-i;
			order.shorter = (short)-i;
			order.letter = (char)(i * 100);
			order.amountInt = -i;
			order.amount = i * 1000000007L - 5;
			order.share = -i;
			order.exact = i;
			order.paid = (i & 1) == 0;
			order.customer = customers[i % customers.length];
			order.note = notes[i % notes.length];
			order.commit();
		}
	}

	static void start(List<Thread> threads, String name, Runnable work) {
		Thread thread = new Thread(work, name);

		threads.add(thread);
		thread.start();
	}

	/** Without naming them: this compiles for JDK 11. */
	static void startVirtual(List<Thread> threads) throws Exception {
		for (int i = 0; i < 4; i++) {
			Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
			Class<?> type = Class.forName("java.lang.Thread$Builder");

			if (i % 2 == 0)
				builder = type.getMethod("name", String.class).invoke(builder, "가상-" + i);
			threads.add((Thread)type.getMethod("start", Runnable.class).invoke(builder, (Runnable)() -> burn(60)));
		}
	}

	static void round(boolean virtual) throws Exception {
		List<Thread> threads = new ArrayList<>();

		start(threads, "burner", () -> burn(400));
		start(threads, "deep", () -> deep(100));
		start(threads, "작업자-☃-𝕁", () -> burn(200));
		start(threads, "allocator", () -> allocate(300));
		start(threads, "locker-0", Workload::contend);
		start(threads, "locker-1", Workload::contend);
		start(threads, "thrower", Workload::throwSome);
		start(threads, "orders", () -> order(40));
		if (virtual)
			startVirtual(threads);
		for (Thread thread : threads)
			thread.join();
		System.gc();
	}

	public static void main(String[] args) throws Exception {
		boolean virtual = Runtime.version().feature() >= 21;

		try (Recording recording = new Recording(Configuration.getConfiguration("default"))) {
			recording.disable("jdk.SystemProcess");
			recording.disable("jdk.InitialEnvironmentVariable");
			recording.disable("jdk.InitialSecurityProperty");
			recording.disable("jdk.NativeLibrary");
			recording.enable("jdk.ObjectAllocationInNewTLAB").withStackTrace();
			recording.enable("jdk.ObjectAllocationOutsideTLAB").withStackTrace();
			recording.enable("jdk.JavaMonitorWait").withoutThreshold();
			recording.enable("jdk.CPULoad").withPeriod(java.time.Duration.ofMillis(300));
			recording.start();
			round(virtual);
			/* A second recording begins a chunk of its own. */
			try (Recording other = new Recording()) {
				other.start();
				round(virtual);
			}
			recording.stop();
			recording.dump(Path.of(args[0]));
		}
	}
}
