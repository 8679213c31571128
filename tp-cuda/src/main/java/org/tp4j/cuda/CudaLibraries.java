package org.tp4j.cuda;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.cuda.internal.libraries.CudaToolkit;
import org.tp4j.cuda.internal.libraries.JCudaNatives;
import org.tp4j.cuda.internal.libraries.LibrarySearch;
import org.tp4j.cuda.internal.libraries.NativeLoader;
import org.tp4j.tensor.TpException;
import org.tp4j.tensor.internal.LibraryOutcome;
import org.tp4j.tensor.internal.NativeLibrary;

/**
 * Finds and opens the libraries the backend needs, once per process, in an order that cannot crash the process: the driver,
 * then NVRTC and cuBLAS of a major version that the driver supports, then JCuda's own natives.
 *
 * <p>The driver is searched for in the system's library folders before the toolkit's, which may hold a stub driver.
 */
public final class CudaLibraries {
    /** System property: folder of simulated libraries to use instead of NVIDIA's. For tests. */
    public static final String SIMULATOR = LibrarySearch.SIMULATOR;

    private static final Logger LOG = LoggerFactory.getLogger(CudaLibraries.class);
    private static final String DRIVER = "the NVIDIA driver (libcuda.so.1)";
    private static final String DRIVER_HINT =
            "install NVIDIA's driver (nvidia-smi must work); in a container, start it with --gpus all; without a GPU use"
                    + " --device cpu";

    private final long driver;
    private final String driverPath;
    private final int driverVersion;
    private final int deviceCount;
    private final List<String> paths = new ArrayList<>();

    private CudaLibraries(LibrarySearch.Opened opened) {
        this.driver = opened.handle();
        this.driverPath = opened.path();
        this.driverVersion = NativeLoader.ask(driver, "cuDriverGetVersion", false);
        int count = NativeLoader.ask(driver, "cuDeviceGetCount", true);
        if (count < 0) {
            throw new TpException("the NVIDIA driver at " + driverPath + " does not start: " + startError(-count)
                    + "; HINT: see that nvidia-smi works and lists a GPU; without a GPU use --device cpu");
        }
        this.deviceCount = count;
        paths.add(driverPath);
    }

    static String startError(int code) {
        return switch (code) {
            case 34 ->
                "it is the stub library of a CUDA toolkit (CUDA_ERROR_STUB_LIBRARY), which programs are linked with, not"
                        + " a driver; is a folder 'stubs' in LD_LIBRARY_PATH?";
            case 100 -> "it sees no device (CUDA_ERROR_NO_DEVICE); what does CUDA_VISIBLE_DEVICES say?";
            case 802 -> "the fabric manager is not ready (CUDA_ERROR_SYSTEM_NOT_READY)";
            case 803 ->
                "it does not fit the kernel module (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH); was it updated without a"
                        + " restart?";
            case 999 -> "an unknown error (CUDA_ERROR_UNKNOWN); was the kernel module loaded?";
            default -> "error " + code;
        };
    }

    private static final class Holder {
        static final LibraryOutcome<CudaLibraries> OUTCOME = LibraryOutcome.of("CUDA", CudaLibraries::open);
    }

    /**
     * The opened libraries; opens them on the first call.
     *
     * @throws TpException if something is missing; the message names what was searched for and where; the same on every call
     */
    public static CudaLibraries load() {
        return Holder.OUTCOME.require();
    }

    /** Why CUDA cannot be used on this machine, as a message for the user; empty if it can. */
    public static Optional<String> unavailable() {
        return Holder.OUTCOME.unavailable();
    }

    private static CudaLibraries open() {
        if (!NativeLibrary.platform().equals("linux-x86_64")) {
            throw new TpException("the CUDA backend runs on linux-x86_64, this is " + NativeLibrary.platform()
                    + "; HINT: use --device cpu");
        }
        LibrarySearch.Opened driver = LibrarySearch.ofDriver(DRIVER, "tp4j.cuda.driver", "libcuda.so.1", DRIVER_HINT)
                .open();
        CudaLibraries libraries = new CudaLibraries(driver);
        if (libraries.deviceCount == 0) {
            throw new TpException("the NVIDIA driver at " + driver.path()
                    + " sees no device; HINT: see what CUDA_VISIBLE_DEVICES says; without a GPU use --device cpu");
        }
        libraries.paths.addAll(
                CudaToolkit.open(libraries.driverVersion, NativeLoader.computeCapability(libraries.driver)));
        JCudaNatives.load();
        LOG.info("{}", libraries.describe());
        return libraries;
    }

    /** Number of devices the driver sees. */
    public int deviceCount() {
        return deviceCount;
    }

    /** CUDA version the driver supports, such as 12060 for 12.6. */
    public int driverVersion() {
        return driverVersion;
    }

    /** Paths of the libraries: driver, NVRTC, cuBLAS. */
    public List<String> paths() {
        return List.copyOf(paths);
    }

    /** The file of NVRTC. */
    Path nvrtc() {
        return Path.of(paths.get(1));
    }

    /** The opened libraries, in one line. */
    public String describe() {
        return String.format(
                Locale.ROOT,
                "CUDA: driver for %s, %d device%s; %s",
                CudaToolkit.version(driverVersion),
                deviceCount,
                deviceCount == 1 ? "" : "s",
                String.join(", ", paths));
    }
}
