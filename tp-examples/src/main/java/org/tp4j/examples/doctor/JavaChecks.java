package org.tp4j.examples.doctor;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.tp4j.examples.cli.VersionProvider;

/** The JDK and the tools for building from source. */
final class JavaChecks {
    private JavaChecks() {}

    static List<Finding> run() {
        List<Finding> findings = new ArrayList<>();
        findings.add(Finding.ok("TP4J", VersionProvider.version()));
        findings.add(jdk());
        findings.add(vectorApi());
        findings.add(tool(
                "C compiler",
                List.of("gcc", "cc", "clang"),
                "builds from source omit the native code (MPI)",
                "install gcc (Debian, Ubuntu: apt-get install gcc libc6-dev)"));
        findings.add(tool(
                "Maven",
                List.of("mvn"),
                "only needed to build from source",
                "install Maven 3.8 or newer (Debian, Ubuntu: apt-get install maven)"));
        return findings;
    }

    private static Finding jdk() {
        Path home = Path.of(System.getProperty("java.home"));
        String found = System.getProperty("java.version") + ", " + System.getProperty("java.vm.name") + " of "
                + System.getProperty("java.vendor") + ", " + home;
        return Files.isExecutable(home.resolve("bin/javac"))
                ? Finding.ok("JDK", found)
                : Finding.note("JDK", found + ", without javac: can run, cannot build", "install a JDK 17 or newer");
    }

    private static Finding vectorApi() {
        try {
            Object species = Class.forName("jdk.incubator.vector.FloatVector")
                    .getField("SPECIES_PREFERRED")
                    .get(null);
            Object bits = Class.forName("jdk.incubator.vector.VectorSpecies")
                    .getMethod("vectorBitSize")
                    .invoke(species);
            return Finding.ok("Vector API", bits + " bits");
        } catch (ReflectiveOperationException | LinkageError e) {
            return Finding.note(
                    "Vector API",
                    "missing: functions such as GELU run as scalar code, several times slower",
                    "start Java with --add-modules jdk.incubator.vector");
        }
    }

    private static Finding tool(String name, List<String> programs, String consequence, String hint) {
        for (String program : programs) {
            Optional<Path> file = ExternalPrograms.find(program);
            if (file.isPresent()) {
                String version = ExternalPrograms.firstLine(file.get().toString(), "--version")
                        .map(line -> line.replaceAll("\u001b\\[[0-9;]*m", ""))
                        .orElse("version unknown");
                return Finding.ok(name, version + ", " + file.get());
            }
        }
        return Finding.absent(name, "none found (" + String.join(", ", programs) + "); " + consequence, hint);
    }
}
