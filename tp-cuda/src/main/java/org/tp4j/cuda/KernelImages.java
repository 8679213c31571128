package org.tp4j.cuda;

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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.tp4j.tensor.DType;

/**
 * The compiled kernels of this process for devices of one kind. Each source is compiled once for each element type it is
 * used with. Where there are processors to spare, the first use of an element type has all sources that training uses
 * compiled for it at once.
 */
final class KernelImages {
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
    private static final int MOST_COMPILERS = 12;
    private static final ExecutorService COMPILERS = compilers();
    private static final Map<String, KernelImages> BY_COMPILER = new ConcurrentHashMap<>();

    private final KernelCompiler compiler;
    private final Map<String, CompletableFuture<byte[]>> images = new ConcurrentHashMap<>();
    private final Set<DType> begun = ConcurrentHashMap.newKeySet();

    private KernelImages(KernelCompiler compiler) {
        this.compiler = compiler;
    }

    private static ExecutorService compilers() {
        int threads = Math.max(1, Math.min(MOST_COMPILERS, Runtime.getRuntime().availableProcessors() - 1));
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(threads, threads, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = new Thread(task, "tp4j-nvrtc");
                    thread.setDaemon(true);
                    return thread;
                });
        pool.allowCoreThreadTimeOut(true);
        return pool;
    }

    /** Those for devices of a compute capability, such as 90. */
    static KernelImages forCapability(int computeCapability) {
        KernelCompiler compiler = new KernelCompiler(computeCapability);
        return BY_COMPILER.computeIfAbsent(compiler.description(), key -> new KernelImages(compiler));
    }

    /**
     * What {@code cuModuleLoadData} takes, as soon as it is there.
     *
     * @param file source file without {@code .cu}
     */
    byte[] get(String file, DType scalar) {
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
                file + " " + scalar, key -> CompletableFuture.supplyAsync(() -> compile(file, scalar), COMPILERS));
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

    /** Tells one build of a compiler from another of the same version. */
    private static String nvrtcIdentity() {
        Path file = Path.of(CudaLibraries.load().nvrtcPath());
        try {
            return Files.size(file) + " " + Files.getLastModifiedTime(file);
        } catch (IOException e) {
            return "unknown";
        }
    }
}
