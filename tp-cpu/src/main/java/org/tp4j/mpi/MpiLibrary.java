package org.tp4j.mpi;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.tp4j.tensor.NativeLibraryException;
import org.tp4j.tensor.TpException;
import org.tp4j.tensor.internal.LibraryOutcome;
import org.tp4j.tensor.internal.NativeLibrary;

/**
 * Finds and opens the MPI library of this machine, once per process, and keeps the outcome.
 *
 * <p>Searched in this order: the file named by the system property {@code tp4j.mpi.library} or the variable {@code
 * TP4J_MPI_LIBRARY}, in which case nothing else is tried; the folders of the installation whose {@code mpirun} is on the
 * path; what the system's loader finds. The MPI family that launched this process comes first.
 */
final class MpiLibrary {
    private static final String PROPERTY = "tp4j.mpi.library";
    private static final String VARIABLE = "TP4J_MPI_LIBRARY";
    private static final String NAME = "MPI (libmpi)";
    private static final String HINT =
            "install Open MPI (Debian, Ubuntu: apt-get install openmpi-bin; macOS: brew install"
                    + " open-mpi) or MPICH, or name the library with -D" + PROPERTY + "=/path/to/libmpi.so; ranks as"
                    + " threads (--launcher threads) need none";

    private static final List<String> OPEN_MPI =
            List.of("libmpi.so.40", "libmpi.40.dylib", "libmpi.so", "libmpi.dylib");
    private static final List<String> MPICH =
            List.of("libmpi.so.12", "libmpich.so.12", "libmpi.12.dylib", "libmpi.so", "libmpi.dylib");

    private MpiLibrary() {}

    private static final class Holder {
        static final LibraryOutcome<String> OUTCOME = LibraryOutcome.of(NAME, MpiLibrary::open);
    }

    /** Why MPI cannot be used here; empty if it can. */
    static Optional<String> unavailable() {
        return Holder.OUTCOME.unavailable();
    }

    /**
     * The version text of the opened library, and its file.
     *
     * @throws NativeLibraryException if there is none, the same each time
     */
    static String require() {
        return Holder.OUTCOME.require();
    }

    private static String open() {
        NativeLibrary.load(MpiNative.class, "tp4j_mpi");
        if (MpiNative.version() != MpiNative.VERSION) {
            throw new TpException(
                    "the native library tp4j_mpi is version " + MpiNative.version() + ", this jar needs version "
                            + MpiNative.VERSION + "; HINT: remove other releases of tp-cpu from the class path");
        }
        return open(candidates(System.getenv()));
    }

    private static String open(Set<String> candidates) {
        List<String> tried = new ArrayList<>();
        for (String candidate : candidates) {
            String problem = MpiNative.open(candidate);
            if (problem == null) {
                return firstLine(MpiNative.libraryVersion()) + " (" + candidate + ")";
            }
            tried.add(problem.contains(candidate) ? problem : candidate + ": " + problem);
        }
        throw new NativeLibraryException(NAME, tried, HINT);
    }

    private static String firstLine(String text) {
        return text.lines().findFirst().orElse("MPI").strip();
    }

    static Set<String> candidates(Map<String, String> environment) {
        String named = System.getProperty(PROPERTY, environment.getOrDefault(VARIABLE, ""));
        if (!named.isEmpty()) {
            return Set.of(named);
        }
        boolean mpichFirst = environment.keySet().stream().noneMatch(v -> v.startsWith("OMPI_"))
                && environment.keySet().stream().anyMatch(v -> v.startsWith("PMI_") || v.startsWith("HYDI_"));
        List<String> names = new ArrayList<>(mpichFirst ? MPICH : OPEN_MPI);
        names.addAll(mpichFirst ? OPEN_MPI : MPICH);
        Set<String> candidates = new LinkedHashSet<>();
        for (Path folder : folders(environment)) {
            for (String name : names) {
                if (Files.isRegularFile(folder.resolve(name))) {
                    candidates.add(folder.resolve(name).toString());
                }
            }
        }
        String otherSuffix =
                File.separatorChar == '/' && NativeLibrary.platform().startsWith("macosx") ? ".so" : ".dylib";
        for (String name : names) {
            if (!name.contains(otherSuffix)) {
                candidates.add(name);
            }
        }
        return candidates;
    }

    /** Library folders of the MPI installations that the environment points to. */
    private static List<Path> folders(Map<String, String> environment) {
        List<Path> folders = new ArrayList<>();
        for (String variable : List.of("OPAL_PREFIX", "MPI_HOME", "I_MPI_ROOT")) {
            String prefix = environment.getOrDefault(variable, "");
            if (!prefix.isEmpty()) {
                addLibraries(folders, Path.of(prefix));
            }
        }
        for (String entry : environment.getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            Path mpirun = Path.of(entry.isEmpty() ? "." : entry, "mpirun");
            if (Files.isExecutable(mpirun)) {
                Path bin = mpirun.toAbsolutePath().getParent();
                if (bin != null && bin.getParent() != null) {
                    addLibraries(folders, bin.getParent());
                }
                break;
            }
        }
        return folders;
    }

    private static void addLibraries(List<Path> folders, Path prefix) {
        // In the system's own prefix, the loader knows better which library fits this processor.
        if (!prefix.equals(Path.of("/usr")) && !prefix.equals(Path.of("/"))) {
            folders.add(prefix.resolve("lib"));
            folders.add(prefix.resolve("lib64"));
            folders.add(prefix.resolve("lib/release"));
        }
    }
}
