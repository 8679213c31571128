package org.tp4j.tests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A project of a user, outside the reactor: imports the BOM, builds, trains. It reaches no network. */
class ConsumerProjectIT {
    private static final Path ROOT = Path.of(System.getProperty("tp.root"));
    private static final String VERSION = System.getProperty("tp.version");
    private static final long TIMEOUT_SECONDS = 240;

    @TempDir
    private Path folder;

    @Test
    void shouldBuildAndTrainWithThePlanMap() throws Exception {
        Path project = folder.resolve("project");
        copy(Path.of("src/test/resources/consumer-project"), project);
        Path modules = folder.resolve("modules");
        for (String module : List.of("tp-bom", "tp-core", "tp-cpu")) {
            publish(ROOT.resolve(module), module, modules);
        }
        publish(ROOT, "tp4j-parent", modules);

        // A local repository of its own: the user's never sees a module that is not installed.
        List<String> command = List.of(
                Path.of(System.getProperty("tp.maven.home"), "bin", "mvn").toString(),
                "-q",
                "-B",
                "-o",
                "-Daether.offline.protocols=file",
                "-s",
                "settings.xml",
                "-Dmaven.repo.local=" + folder.resolve("local"),
                "-Dcache=" + Path.of(System.getProperty("tp.maven.cache")).toUri(),
                "-Dmodules=" + modules.toUri(),
                "-Dtp4j.version=" + VERSION,
                "compile",
                "exec:java",
                "-Dexec.mainClass=example.Main");
        Path log = folder.resolve("log");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(project.toFile())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }

        String output = Files.readString(log);
        assertThat(process.exitValue()).as(output).isZero();
        assertThat(output).contains("trained: the loss went from");
    }

    /** Puts a module's file and description where Maven looks for them in a repository that is a folder. */
    private static void publish(Path source, String artifact, Path repository) throws IOException {
        Path target = repository.resolve("org/tp4j").resolve(artifact).resolve(VERSION);
        Files.createDirectories(target);
        String name = artifact + "-" + VERSION;
        Files.copy(source.resolve("pom.xml"), target.resolve(name + ".pom"));
        Path jar = source.resolve("target").resolve(name + ".jar");
        if (Files.exists(jar)) {
            Files.copy(jar, target.resolve(name + ".jar"));
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> files = Files.walk(from)) {
            files.forEach(file -> {
                try {
                    Files.copy(file, to.resolve(from.relativize(file).toString()));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
