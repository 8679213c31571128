package org.tp4j.cpu.internal.blas;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Native libraries that a dependency has extracted into the temporary folder to load them, to be deleted when the process
 * exits, which a process that is killed never does. On Linux a library stays loaded without its file.
 */
final class ExtractedLibraries {
    private static final Path MAPS = Path.of("/proc/self/maps");

    private ExtractedLibraries() {}

    /** Deletes the files of this process's loaded libraries in the temporary folder whose names begin like this. */
    static void delete(String prefix) {
        String inFolder = Path.of(System.getProperty("java.io.tmpdir"))
                .toAbsolutePath()
                .resolve(prefix)
                .toString();
        try {
            List<String> loaded = Files.readAllLines(MAPS).stream()
                    .filter(line -> line.contains(inFolder))
                    .map(line -> line.substring(line.indexOf(inFolder)))
                    .filter(file -> !file.endsWith(" (deleted)"))
                    .distinct()
                    .toList();
            for (String file : loaded) {
                Files.deleteIfExists(Path.of(file));
            }
        } catch (IOException e) {
            // not Linux, or the folder has become read-only: deleted at exit, then
        }
    }
}
