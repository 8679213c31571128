package org.tp4j.cudasim;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.CudaLibraries;

/**
 * Simulated CUDA libraries: a driver, cuBLAS, NVRTC and NCCL on the host's memory. They are built by g++ on first use, in
 * about half a minute, and kept in a folder of the user's. For tests and for trying: nothing they time says anything about a
 * GPU.
 *
 * <pre>{@code
 * CudaSimulator.use(); // before anything touches CUDA
 * CudaBackend backend = CudaBackend.of(0);
 * }</pre>
 *
 * <p>How many devices there are, their memory, the order of threads and the like are set by the environment: {@code
 * CUSIM_DEVICES}, {@code CUSIM_MEM_MB}, {@code CUSIM_ORDER}, {@code CUSIM_SEED}, {@code CUSIM_JITTER_US}, {@code CUSIM_TRACE},
 * {@code CUSIM_LEAKS}; CONTRIBUTING explains each.
 */
public final class CudaSimulator {
    /** System property: folder that built simulators are kept in; {@code ~/.cache/tp4j/cudasim} unless set. */
    public static final String CACHE = "tp4j.cudasim.cache";

    private CudaSimulator() {}

    /** What came of building the simulator, once per process. */
    private static final class Holder {
        static final @Nullable Path FOLDER;
        static final @Nullable CudaSimulatorException FAILURE;

        static {
            Path folder = null;
            CudaSimulatorException failure = null;
            String given = System.getProperty(CudaLibraries.SIMULATOR, "");
            try {
                folder = given.isEmpty() ? SimulatorBuild.run() : Path.of(given);
                if (!Files.exists(folder.resolve("libcuda.so.1"))) {
                    failure = new CudaSimulatorException("there are no simulated CUDA libraries in " + folder
                            + ", which -D" + CudaLibraries.SIMULATOR + " names; HINT: leave the property out");
                }
            } catch (CudaSimulatorException e) {
                failure = e;
            }
            FOLDER = folder;
            FAILURE = failure;
        }
    }

    /** Why there can be no simulator on this machine, in words for the user; empty if there can. */
    public static Optional<String> unavailable() {
        return Optional.ofNullable(Holder.FAILURE).map(Throwable::getMessage);
    }

    /**
     * The folder of the simulated libraries, which are built if need be.
     *
     * @throws CudaSimulatorException if they cannot be built, with what is missing
     */
    public static Path folder() {
        if (Holder.FAILURE != null || Holder.FOLDER == null) {
            throw new CudaSimulatorException(unavailable().orElse("no simulator"), Holder.FAILURE);
        }
        return Holder.FOLDER;
    }

    /**
     * Has this process use the simulated libraries; idempotent.
     *
     * @throws CudaSimulatorException if they cannot be built, or the process has opened NVIDIA's own already
     */
    public static void use() {
        Path folder = folder();
        System.setProperty(CudaLibraries.SIMULATOR, folder.toString());
        if (System.getProperty("tp4j.cuda.kernelCache") == null) {
            System.setProperty(
                    "tp4j.cuda.kernelCache", folder.resolve("kernels").toString());
        }
        if (!CudaLibraries.load().paths().stream()
                .allMatch(path -> Path.of(path).startsWith(folder))) {
            throw new CudaSimulatorException(
                    "this process has opened " + CudaLibraries.load().paths()
                            + " already, so it cannot use the simulator; HINT: call CudaSimulator.use() before anything touches"
                            + " CUDA, or run these tests in a JVM of their own");
        }
    }
}
