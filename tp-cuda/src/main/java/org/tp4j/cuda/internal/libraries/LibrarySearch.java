package org.tp4j.cuda.internal.libraries;

import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.NativeLibraryException;

/**
 * Searches for one of NVIDIA's libraries in the usual places and opens it.
 *
 * <p>In this order: the file named by a system property, in which case nothing else; the folders in {@code LD_LIBRARY_PATH};
 * {@code CUDA_HOME} and {@code CUDA_PATH}; {@code /usr/local/cuda*}, the newest first; what the system's loader finds; the
 * {@code nvidia} packages of the Python installations in sight (those on the {@code PATH}, {@code VIRTUAL_ENV},
 * {@code CONDA_PREFIX}, {@code ~/.local}, {@code /usr}, {@code /usr/local}, {@code /opt}); the class path, if the redistributable artifact of
 * {@code org.bytedeco:cuda} is on it. With a
 * simulator set, only there. The driver is searched for in the system's folders and by the system's loader before all these.
 */
public final class LibrarySearch {
    /** System property: folder of simulated libraries to use instead of NVIDIA's. For tests. */
    public static final String SIMULATOR = "tp4j.cuda.simulator";

    /** Where distributions and container runtimes put the driver library. */
    private static final List<Path> SYSTEM_FOLDERS = List.of(
            Path.of("/usr/lib/x86_64-linux-gnu"),
            Path.of("/usr/lib64"),
            Path.of("/usr/lib/wsl/lib"),
            Path.of("/run/opengl-driver/lib"));

    private final String name;
    private final String property;
    private final List<String> sonames;
    private final List<String> pipFolders;
    private final String hint;
    private final boolean systemFirst;

    /**
     * What to search for.
     *
     * @param name the library's usual name
     * @param property system property that names the file
     * @param sonames file names, the preferred one first
     * @param pipFolders folders below {@code site-packages/nvidia} that may hold it
     * @param hint what to install or set if it is missing
     */
    public LibrarySearch(String name, String property, List<String> sonames, List<String> pipFolders, String hint) {
        this(name, property, sonames, pipFolders, hint, false);
    }

    private LibrarySearch(
            String name,
            String property,
            List<String> sonames,
            List<String> pipFolders,
            String hint,
            boolean systemFirst) {
        this.systemFirst = systemFirst;
        this.name = name;
        this.property = property;
        this.sonames = List.copyOf(sonames);
        this.pipFolders = List.copyOf(pipFolders);
        this.hint = hint;
    }

    /** A search for the driver: the system's library folders first, since toolkits contain stub drivers. */
    public static LibrarySearch ofDriver(String name, String property, String soname, String hint) {
        return new LibrarySearch(name, property, List.of(soname), List.of(), hint, true);
    }

    /**
     * A library that has been opened.
     *
     * @param handle the loader's handle
     * @param path its path
     */
    public record Opened(long handle, String path) {}

    /**
     * Opens the first candidate that can be opened.
     *
     * @throws NativeLibraryException if none can, naming every place that was tried and why it failed
     */
    public Opened open() {
        List<String> tried = new ArrayList<>();
        Opened opened = tryOpen(tried);
        if (opened == null) {
            throw new NativeLibraryException(name, tried, hint);
        }
        return opened;
    }

    /** Opens the first candidate that can be opened; null if none can, with the reasons in {@code tried}. */
    @Nullable Opened tryOpen(List<String> tried) {
        for (String candidate : candidates(System.getenv())) {
            Opened opened = open(candidate, tried);
            if (opened != null) {
                return opened;
            }
        }
        if (isNarrowed()) {
            return null;
        }
        for (String soname : sonames) { // last, since it copies hundreds of megabytes
            Path redistributed = RedistributedLibraries.find(soname);
            Opened opened = redistributed == null ? null : open(redistributed.toString(), tried);
            if (opened != null) {
                return opened;
            }
        }
        return null;
    }

    private static @Nullable Opened open(String candidate, List<String> tried) {
        @Nullable String[] error = {null};
        long handle = NativeLoader.open(candidate, error);
        if (handle != 0) {
            String path = NativeLoader.path(handle);
            return new Opened(handle, path.isEmpty() ? candidate : path);
        }
        String reason = String.valueOf(error[0]);
        tried.add(reason.contains(candidate) ? reason : candidate + ": " + reason);
        return null;
    }

    /** Whether a setting names the only place to search. */
    private boolean isNarrowed() {
        return !System.getProperty(property, "").isEmpty()
                || !System.getProperty(SIMULATOR, "").isEmpty();
    }

    /** The files and names to try, in order. */
    Set<String> candidates(Map<String, String> environment) {
        String named = System.getProperty(property, "");
        if (!named.isEmpty()) {
            return Set.of(named);
        }
        Set<String> candidates = new LinkedHashSet<>();
        String simulator = System.getProperty(SIMULATOR, "");
        if (!simulator.isEmpty()) {
            for (String soname : sonames) {
                candidates.add(Path.of(simulator, soname).toAbsolutePath().toString());
            }
            return candidates;
        }
        if (systemFirst) {
            addFound(candidates, SYSTEM_FOLDERS);
            candidates.addAll(sonames);
        }
        addFound(candidates, toolkitFolders(environment));
        candidates.addAll(sonames);
        addFound(candidates, pythonFolders(environment));
        return candidates;
    }

    private void addFound(Set<String> candidates, List<Path> folders) {
        for (Path folder : folders) {
            for (String soname : sonames) {
                Path file = folder.resolve(soname);
                if (Files.isRegularFile(file)) {
                    candidates.add(file.toAbsolutePath().toString());
                }
            }
        }
    }

    private static List<Path> toolkitFolders(Map<String, String> environment) {
        List<Path> folders = new ArrayList<>();
        for (String entry : environment.getOrDefault("LD_LIBRARY_PATH", "").split(File.pathSeparator, -1)) {
            if (!entry.isEmpty()) {
                folders.add(Path.of(entry));
            }
        }
        for (String variable : List.of("CUDA_HOME", "CUDA_PATH")) {
            String home = environment.getOrDefault(variable, "");
            if (!home.isEmpty()) {
                folders.add(Path.of(home, "lib64"));
                folders.add(Path.of(home, "lib"));
            }
        }
        for (Path home : sorted(Path.of("/usr/local"), "cuda*")) {
            folders.add(home.resolve("lib64"));
        }
        return folders;
    }

    private List<Path> pythonFolders(Map<String, String> environment) {
        Set<Path> prefixes = new LinkedHashSet<>();
        for (String entry : environment.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            Path bin = Path.of(entry.isEmpty() ? "." : entry).toAbsolutePath();
            if (Files.isExecutable(bin.resolve("python3")) && bin.getParent() != null) {
                prefixes.add(bin.getParent()); // links unresolved: a virtual environment's packages are beside the link
            }
        }
        for (String variable : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
            String prefix = environment.getOrDefault(variable, "");
            if (!prefix.isEmpty()) {
                prefixes.add(Path.of(prefix));
            }
        }
        prefixes.add(Path.of(System.getProperty("user.home", "/"), ".local"));
        prefixes.addAll(List.of(Path.of("/usr/local"), Path.of("/usr")));
        prefixes.addAll(sorted(Path.of("/opt"), "*"));
        List<Path> folders = new ArrayList<>();
        for (Path prefix : prefixes) {
            for (Path python : sorted(prefix.resolve("lib"), "python3*")) {
                for (String packages : List.of("site-packages", "dist-packages")) {
                    for (String folder : pipFolders) {
                        folders.add(python.resolve(packages).resolve("nvidia").resolve(folder));
                    }
                }
            }
        }
        return folders;
    }

    /** Entries of a folder that match a pattern, the newest version first. */
    private static List<Path> sorted(Path folder, String pattern) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder, pattern)) {
            entries.forEach(found::add);
        } catch (IOException e) {
            return List.of(); // no such folder
        }
        found.sort(LibrarySearch::byVersion);
        Collections.reverse(found);
        return found;
    }

    /** Compares names with embedded numbers by value: cuda-12.10 is newer than cuda-12.9. */
    private static int byVersion(Path a, Path b) {
        String[] left = a.getFileName().toString().split("(?<=\\D)(?=\\d)|(?<=\\d)(?=\\D)", -1);
        String[] right = b.getFileName().toString().split("(?<=\\D)(?=\\d)|(?<=\\d)(?=\\D)", -1);
        for (int i = 0; i < Math.min(left.length, right.length); i++) {
            boolean numbers = Character.isDigit(left[i].charAt(0)) && Character.isDigit(right[i].charAt(0));
            int order = numbers && left[i].length() != right[i].length()
                    ? Integer.compare(left[i].length(), right[i].length())
                    : left[i].compareTo(right[i]);
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(left.length, right.length);
    }
}
