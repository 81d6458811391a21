// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;

/**
 * Records itself with the JDK's flight recorder until a number of events is reached: a large file
 * of the JDK's own writer, with many different stacks, for measuring readers.
 *
 * usage: ManyEvents FILE EVENTS
 */
public class ManyEvents {
	@Name("bench.Step")
	static class Step extends Event {
		long number;
		String what;
		double share;
	}

	@Name("bench.Tick")
	@StackTrace(false)
	static class Tick extends Event {
		int a;
		long b;
		long c;
		float d;
		boolean e;
		String text;
		Thread thread;
		Class<?> type;
	}

	static final String[] WORDS = { "one", "two", "three", null, "", "a longer text that is kept in the pool" };
	static final int WALKS = 600;
	static volatile long sink;
	static final Object LOCK = new Object();

	/** A random walk over four methods: each walk is another stack. */
	static void a(SplittableRandom r, int depth) {
		next(r, depth);
	}

	static void b(SplittableRandom r, int depth) {
		next(r, depth);
	}

	static void c(SplittableRandom r, int depth) {
		if (depth % 3 == 0)
			new ArrayList<Object>(List.of(1, 2, 3)).forEach(x -> sink += depth);
		next(r, depth);
	}

	static void d(SplittableRandom r, int depth) {
		sink += new byte[200 + depth].length;
		next(r, depth);
	}

	static void next(SplittableRandom r, int depth) {
		if (depth == 0) {
			Step step = new Step();
			step.number = r.nextInt(1000000);
			step.what = WORDS[r.nextInt(WORDS.length)];
			step.share = r.nextDouble();
			step.commit();
			return;
		}
		switch (r.nextInt(16)) {
		case 0: a(r, depth - 1); break;
		case 1: b(r, depth - 1); break;
		case 2: c(r, depth - 1); break;
		default: d(r, depth - 1); break;
		}
	}

	static void ticks(SplittableRandom r, int count) {
		for (int i = 0; i < count; i++) {
			Tick tick = new Tick();
			tick.a = i;
			tick.b = r.nextLong() >>> 20;
			tick.c = System.nanoTime();
			tick.d = i;
			tick.e = (i & 1) == 0;
			tick.text = "tick " + (i & 63);
			tick.thread = Thread.currentThread();
			tick.type = WORDS.getClass();
			tick.commit();
		}
	}

	static void other(SplittableRandom r) {
		synchronized (LOCK) {
			sink++;
		}
		LockSupport.parkNanos(1000);
		try {
			throw new IllegalStateException(WORDS[r.nextInt(WORDS.length)]);
		} catch (IllegalStateException expected) {
			sink++;
		}
	}

	static void work(long events, int seed) {
		SplittableRandom r = new SplittableRandom(seed);

		for (long done = 0; done < events; done += 20) {
			for (int i = 0; i < 3; i++)
				next(new SplittableRandom(r.nextInt(WALKS)), 8 + i * 10 + r.nextInt(10));
			ticks(r, 15);
			other(r);
		}
	}

	public static void main(String[] args) throws Exception {
		long events = Long.parseLong(args[1]);
		List<Thread> threads = new ArrayList<>();

		try (Recording recording = new Recording(jdk.jfr.Configuration.getConfiguration("profile"))) {
			for (String name : List.of("jdk.ThreadPark", "jdk.JavaMonitorEnter", "jdk.JavaExceptionThrow"))
				recording.enable(name).withThreshold(Duration.ZERO).withStackTrace();
			recording.enable("jdk.ObjectAllocationInNewTLAB").withStackTrace();
			recording.enable("jdk.ObjectAllocationOutsideTLAB").withStackTrace();
			recording.disable("jdk.SystemProcess");
			recording.disable("jdk.InitialEnvironmentVariable");
			recording.start();
			for (int i = 0; i < 2; i++) {
				int seed = i + 1;
				Thread thread = new Thread(() -> work(events / 2, seed), "worker-" + i);

				thread.start();
				threads.add(thread);
			}
			for (Thread thread : threads)
				thread.join();
			recording.stop();
			recording.dump(Path.of(args[0]));
		}
	}
}
