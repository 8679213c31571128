package org.tp4j.cuda.internal.compile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.tp4j.tensor.DType;

/**
 * A process's compiled kernels for devices of one kind. Each source is compiled once per element type it is used with.
 * If processors are to spare, the first use of an element type starts compiling all sources that training uses.
 */
public final class KernelImages {
    private static final List<String> TRAINING = List.of(
            "unary",
            "binary",
            "broadcast",
            "fused",
            "reduce",
            "norm",
            "softmax",
            "optimizer",
            "random",
            "copy",
            "cast",
            "embedding");
    private static final int SPARE_FROM = 4; // processors

    private final KernelCompiler compiler;
    private final Executor compilers;
    private final Path nvrtc;
    private final Map<String, CompletableFuture<byte[]>> images = new ConcurrentHashMap<>();
    private final Set<DType> begun = ConcurrentHashMap.newKeySet();

    KernelImages(KernelCompiler compiler, Executor compilers, Path nvrtc) {
        this.compiler = compiler;
        this.compilers = compilers;
        this.nvrtc = nvrtc;
    }

    /**
     * The image for {@code cuModuleLoadData}; waits until it is compiled.
     *
     * @param file source file without {@code .cu}
     */
    public byte[] get(String file, DType scalar) {
        CompletableFuture<byte[]> wanted = begin(file, scalar);
        if (scalar.isFloating() && Runtime.getRuntime().availableProcessors() >= SPARE_FROM && begun.add(scalar)) {
            TRAINING.forEach(other -> begin(other, scalar));
        }
        try {
            return wanted.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw e;
        }
    }

    private CompletableFuture<byte[]> begin(String file, DType scalar) {
        return images.computeIfAbsent(
                file + " " + scalar, key -> CompletableFuture.supplyAsync(() -> compile(file, scalar), compilers));
    }

    private byte[] compile(String file, DType scalar) {
        String source = KernelSources.text(file + ".cu");
        Map<String, String> headers = KernelSources.headers(scalar);
        List<String> defines = KernelSources.defines(scalar);
        List<String> parts = new ArrayList<>(List.of(source, compiler.description(), nvrtcIdentity()));
        parts.addAll(headers.values());
        parts.addAll(defines);
        return KernelCache.get(
                file + "-" + scalar + "-" + compiler.architecture(),
                parts,
                () -> compiler.compile(file + ".cu", source, headers, defines));
    }

    /** Distinguishes two builds of a compiler of the same version. */
    private String nvrtcIdentity() {
        try {
            return Files.size(nvrtc) + " " + Files.getLastModifiedTime(nvrtc);
        } catch (IOException e) {
            return "unknown";
        }
    }
}
