package org.tp4j.examples.doctor;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.tp4j.comm.launch.Launch;

/** MPI: the launcher, the library, and whether TP4J can use them. */
final class MpiChecks {
    private static final String INSTALL =
            "install Open MPI (Debian, Ubuntu: apt-get install openmpi-bin; macOS: brew install open-mpi)";

    private MpiChecks() {}

    static List<Finding> run(SharedLibraries libraries) {
        List<Finding> findings = new ArrayList<>();
        findings.add(mpirun());
        findings.add(library(libraries));
        findings.add(launcher());
        return findings;
    }

    private static Finding mpirun() {
        Optional<Path> file = ExternalPrograms.find("mpirun");
        return file.map(path -> Finding.ok(
                        "mpirun",
                        ExternalPrograms.firstLine(path.toString(), "--version").orElse("version unknown") + ", "
                                + path))
                .orElseGet(() -> Finding.absent("mpirun", "not on the path", INSTALL));
    }

    private static Finding library(SharedLibraries libraries) {
        for (String soname : List.of("libmpi.so.40", "libmpi.so.12", "libmpich.so.12")) {
            Optional<SharedLibraries.Found> found = libraries.find(soname);
            if (found.isPresent()) {
                return Finding.ok("libmpi", found.get().toString());
            }
        }
        return Finding.absent("libmpi", "not in the usual folders (libmpi.so.40, libmpi.so.12)", INSTALL);
    }

    private static Finding launcher() {
        String problem = Launch.availability().get("mpi");
        if (problem == null) {
            return Finding.absent("launcher mpi", "not on the class path", "add the dependency org.tp4j:tp-cpu");
        }
        return problem.isEmpty()
                ? Finding.ok("launcher mpi", "usable")
                : Finding.absent("launcher mpi", problem.replaceAll("\\s*\\n\\s*", " "), "");
    }
}
