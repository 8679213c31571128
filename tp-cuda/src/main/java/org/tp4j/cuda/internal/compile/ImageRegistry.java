package org.tp4j.cuda.internal.compile;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A process's compiled kernels, shared by devices of one kind, and the threads that compile them. */
public final class ImageRegistry {
    private static final int MOST_COMPILERS = 12;

    private final Path nvrtc;
    private final ExecutorService compilers = compilers();
    private final Map<String, KernelImages> byCompiler = new ConcurrentHashMap<>();

    /** @param nvrtc path of the NVRTC library, which distinguishes its builds */
    public ImageRegistry(Path nvrtc) {
        this.nvrtc = nvrtc;
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

    /** Images for devices of a compute capability, such as 90. */
    public KernelImages forCapability(int computeCapability) {
        KernelCompiler compiler = new KernelCompiler(computeCapability);
        return byCompiler.computeIfAbsent(compiler.description(), key -> new KernelImages(compiler, compilers, nvrtc));
    }
}
