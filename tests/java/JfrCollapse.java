// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordingFile;

/**
 * Reads a recording with the JDK's own parser and prints its execution samples as collapsed stacks,
 * in the names that "jvmscope -f x.collapsed" has: methods of libraries and the kernel alone, hidden
 * classes without what the JVM adds to make them unique. Ends with 3 when the parser throws.
 */
public class JfrCollapse {
	static String name(RecordedFrame frame) {
		RecordedMethod method = frame.getMethod();
		String type = method.getType().getName();

		/* These descriptors mean: no Java method. */
		if (method.getDescriptor().endsWith(")L;"))
			return method.getName();
		type = type.replaceAll("[+/]0x[0-9a-f]+$", "");
		type = type.replaceAll("\\$\\$Lambda\\$\\d+$", "\\$\\$Lambda");
		return type + "." + method.getName();
	}

	static String stack(RecordedEvent event) {
		RecordedStackTrace trace = event.getStackTrace();
		StringBuilder text = new StringBuilder();
		List<RecordedFrame> frames;

		if (trace == null)
			return "[unknown]";
		frames = trace.getFrames();
		for (int i = frames.size() - 1; i >= 0; i--)
			text.append(text.length() > 0 ? ";" : "").append(name(frames.get(i)));
		return text.toString();
	}

	public static void main(String[] args) {
		Map<String, Long> stacks = new TreeMap<>();

		try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
			while (file.hasMoreEvents()) {
				RecordedEvent event = file.readEvent();
				String type = event.getEventType().getName();

				if (type.equals("jdk.ExecutionSample") || type.equals("jdk.NativeMethodSample"))
					stacks.merge(stack(event), 1L, Long::sum);
			}
		} catch (Exception e) {
			System.err.println("cannot be read: " + e);
			System.exit(3);
		}
		stacks.forEach((stack, count) -> System.out.println(stack + " " + count));
	}
}
