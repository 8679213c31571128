package org.tp4j.cuda.internal.compile;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.tp4j.tensor.DType;

/** The offline compiler, where it is installed; tests that need it are skipped elsewhere. */
final class Nvcc {
    private static final long TIMEOUT_S = 300;

    private final Path folder;

    /** What the compiler has said. */
    record Compiled(int exitCode, String output) {}

    /** @param folder for its files */
    Nvcc(Path folder) {
        this.folder = folder;
    }

    /** Compiles one of our sources for an element type. */
    Compiled compile(String name, DType type, String... options) throws IOException, InterruptedException {
        for (Map.Entry<String, String> header : KernelSources.headers(type).entrySet()) {
            Files.writeString(folder.resolve(header.getKey()), header.getValue());
        }
        Path source = Files.writeString(folder.resolve(name), KernelSources.text(name));
        List<String> all = new ArrayList<>(List.of(options));
        KernelSources.defines(type).forEach(define -> all.add("-D" + define));
        return compile(source, all);
    }

    /** Compiles any source. */
    Compiled compile(Path source, List<String> options) throws IOException, InterruptedException {
        Optional<Path> compiler = compiler();
        assumeThat(compiler).as("nvcc on the path or under /usr/local").isPresent();
        List<String> command = new ArrayList<>(List.of(compiler.get().toString(), "-std=c++17"));
        command.addAll(options);
        command.add(source.toString());
        Path output = Files.createTempFile(folder, "nvcc", ".log");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            throw new IllegalStateException("nvcc is not finished after " + TIMEOUT_S + " s");
        }
        return new Compiled(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
    }

    private static Optional<Path> compiler() throws IOException {
        List<Path> places = new ArrayList<>();
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
            places.add(Path.of(folder, "nvcc"));
        }
        Path local = Path.of("/usr/local");
        if (Files.isDirectory(local)) {
            try (Stream<Path> folders = Files.list(local)) {
                folders.filter(folder -> folder.getFileName().toString().startsWith("cuda"))
                        .sorted()
                        .forEach(folder -> places.add(folder.resolve("bin").resolve("nvcc")));
            }
        }
        return places.stream().filter(Files::isExecutable).findFirst();
    }
}
