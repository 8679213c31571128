package org.tp4j.examples.doctor;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds shared libraries of the system by soname. */
final class SharedLibraries {
    private static final List<String> USUAL_FOLDERS = List.of(
            "/usr/local/cuda*/lib64",
            "/usr/local/cuda*/targets/*/lib",
            "/opt/cuda/lib64",
            "/usr/lib/*-linux-gnu",
            "/usr/lib64",
            "/usr/lib",
            "/lib64",
            "/usr/local/lib",
            "/usr/local/lib/python3*/*-packages/nvidia/*/lib",
            "/usr/lib/python3*/*-packages/nvidia/*/lib");

    private final Set<Path> folders = new LinkedHashSet<>();
    private final List<String> cached; // lines of the dynamic linker's cache

    SharedLibraries() {
        for (String folder : System.getenv().getOrDefault("LD_LIBRARY_PATH", "").split(File.pathSeparator, -1)) {
            if (!folder.isEmpty()) {
                folders.add(Path.of(folder));
            }
        }
        for (String variable : List.of("CUDA_HOME", "CUDA_PATH")) {
            String home = System.getenv().getOrDefault(variable, "");
            if (!home.isEmpty()) {
                folders.add(Path.of(home, "lib64"));
                folders.add(Path.of(home, "lib"));
            }
        }
        USUAL_FOLDERS.forEach(pattern -> folders.addAll(expand(pattern)));
        cached = ExternalPrograms.output("/sbin/ldconfig", "-p").stream()
                .flatMap(String::lines)
                .map(String::strip)
                .toList();
    }

    /** A library, and its version if its file name has one. */
    record Found(Path path, String version) {
        @Override
        public String toString() {
            return version.isEmpty() ? path.toString() : version + ", " + path;
        }
    }

    /** The library with a soname: from the dynamic linker's cache, then from the usual folders. */
    Optional<Found> find(String soname) {
        for (String line : cached) {
            int arrow = line.indexOf("=> ");
            if (arrow > 0 && line.startsWith(soname + " ")) {
                return Optional.of(describe(soname, Path.of(line.substring(arrow + 3))));
            }
        }
        return folders.stream()
                .map(folder -> folder.resolve(soname))
                .filter(Files::exists)
                .findFirst()
                .map(path -> describe(soname, path));
    }

    private static Found describe(String soname, Path path) {
        try {
            String real = path.toRealPath().getFileName().toString();
            String stem = soname.substring(0, soname.indexOf(".so") + 3) + ".";
            return new Found(path, real.startsWith(stem) ? real.substring(stem.length()) : "");
        } catch (IOException e) {
            return new Found(path, "");
        }
    }

    /** The existing folders that match a pattern with stars in its segments. */
    static List<Path> expand(String pattern) {
        List<Path> current = List.of(Path.of("/"));
        for (Path segment : Path.of(pattern)) {
            List<Path> next = new ArrayList<>();
            for (Path folder : current) {
                if (!segment.toString().contains("*")) {
                    next.add(folder.resolve(segment));
                } else if (Files.isDirectory(folder)) {
                    try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, segment.toString())) {
                        entries.forEach(next::add);
                    } catch (IOException e) {
                        // an unreadable folder matches nothing
                    }
                }
            }
            current = next;
        }
        return current.stream().filter(Files::isDirectory).sorted().toList();
    }
}
