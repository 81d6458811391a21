// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordingFile;

/**
 * Counts the events of a recording by type and by innermost frame with the JDK's own reader, for
 * comparing readers.
 *
 * usage: ReadEvents FILE
 */
public class ReadEvents {
	public static void main(String[] args) throws Exception {
		Map<String, Long> types = new HashMap<>();
		Map<String, Long> methods = new HashMap<>();
		long events = 0;

		try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
			while (file.hasMoreEvents()) {
				RecordedEvent event = file.readEvent();

				events++;
				types.merge(event.getEventType().getName(), 1L, Long::sum);
				if (event.getStackTrace() == null || event.getStackTrace().getFrames().isEmpty())
					continue;
				RecordedFrame top = event.getStackTrace().getFrames().get(0);
				methods.merge(top.getMethod().getType().getName() + "." + top.getMethod().getName(), 1L, Long::sum);
			}
		}
		System.out.println(events + " events of " + types.size() + " types, " + methods.size() + " methods");
	}
}
