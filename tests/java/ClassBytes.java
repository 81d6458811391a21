// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Writes the class files of the running JDK that standard input names (java/lang/Thread) into a folder. */
public class ClassBytes {
    public static void main(String[] arguments) throws Exception {
        Path out = Paths.get(arguments[0]);
        FileSystem image = FileSystems.getFileSystem(URI.create("jrt:/"));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String name = in.readLine(); name != null; name = in.readLine()) {
            String folder = name.contains("/") ? name.substring(0, name.lastIndexOf('/')) : "";
            Path modules = image.getPath("/packages", folder.replace('/', '.'));
            if (!Files.isDirectory(modules)) {
                continue;
            }
            for (Path module : (Iterable<Path>) Files.list(modules)::iterator) {
                Path file = image.getPath("/modules", module.getFileName().toString(), name + ".class");
                if (Files.exists(file)) {
                    Path copy = out.resolve(name + ".class");
                    Files.createDirectories(copy.getParent());
                    Files.write(copy, Files.readAllBytes(file));
                }
            }
        }
    }
}
