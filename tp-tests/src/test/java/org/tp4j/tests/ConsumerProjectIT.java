package org.tp4j.tests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A user's project outside the reactor imports the BOM, builds and trains, without a network. */
class ConsumerProjectIT {
    private static final Path ROOT = Path.of(System.getProperty("tp.root"));
    private static final String VERSION = System.getProperty("tp.version");
    private static final long TIMEOUT_SECONDS = 240;

    @TempDir
    private Path folder;

    @Test
    void shouldBuildAndTrainOnTheClassPath() throws Exception {
        String output = run(List.of("consumer-project"), "exec:java", "-Dexec.mainClass=example.Main");
        assertThat(output).contains("trained: the loss went from");
    }

    @Test
    void shouldBuildAndTrainOnTheModulePath() throws Exception {
        String output = run(
                List.of("consumer-project", "consumer-modules"),
                "exec:exec",
                "-Dexec.executable=" + Path.of(System.getProperty("java.home"), "bin", "java"),
                "-Dexec.args=--module-path %classpath --add-modules jdk.incubator.vector"
                        + " --module com.example.consumer/example.Main");
        assertThat(output).contains("trained: the loss went from");
    }

    /** The simulator is built from its jar, as on a user's machine. */
    @Test
    void shouldTestGpuCodeOnSimulatedDevices() throws Exception {
        assumeTrue(
                Files.exists(Path.of(System.getProperty("tp4j.cuda.simulator", ""), "libcuda.so.1")),
                "no simulated CUDA: it is built where there is g++");
        String output = run(List.of("consumer-simulator"), "test", "-Dsimulator.cache=" + folder.resolve("simulator"));
        assertThat(output).doesNotContain("Skipped: 1");
    }

    /** Builds a project outside the reactor, made of overlaid folders, and runs Maven goals on it. */
    private String run(List<String> sources, String... goals) throws Exception {
        Path project = folder.resolve("project");
        for (String source : sources) {
            copy(Path.of("src/test/resources", source), project);
        }
        Path modules = folder.resolve("modules");
        for (String module : List.of("tp-bom", "tp-core", "tp-cpu", "tp-cuda", "tp-cudasim")) {
            publish(ROOT.resolve(module), module, modules);
        }
        publish(ROOT, "tp4j-parent", modules);

        // A local repository of its own: the user's never sees a module that is not installed.
        List<String> command = new ArrayList<>(List.of(
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
                "compile"));
        command.addAll(List.of(goals));
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
        return output;
    }

    /** Puts a module's file and POM where Maven looks for them in a folder repository. */
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
                    Path target = to.resolve(from.relativize(file).toString());
                    if (!Files.isDirectory(target)) {
                        Files.copy(file, target);
                    }
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
