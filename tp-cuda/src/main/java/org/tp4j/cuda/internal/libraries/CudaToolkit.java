package org.tp4j.cuda.internal.libraries;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.NativeLibraryException;
import org.tp4j.tensor.internal.NativeLibrary;

/**
 * NVRTC and cuBLAS, of one major version. JCuda's natives need the sonames of CUDA 12. On a machine that has only CUDA 13, two
 * small forwarding libraries with those sonames stand in, if the driver supports CUDA 13.
 */
public final class CudaToolkit {
    private static final int CUDA_13 = 13000;
    private static final int FIRST_FOR_BLACKWELL = 12080;
    private static final int BLACKWELL = 100;

    private CudaToolkit() {}

    /**
     * Opens them and returns the paths of NVRTC and cuBLAS.
     *
     * @param driverVersion CUDA version the driver supports, such as 12060
     * @param computeCapability the highest of the devices, such as 90
     * @throws NativeLibraryException if there are none, naming every place that was tried
     */
    public static List<String> open(int driverVersion, int computeCapability) {
        List<String> tried = new ArrayList<>();
        int atLeast = computeCapability >= BLACKWELL ? FIRST_FOR_BLACKWELL : 0;
        List<String> paths = openMajor(12, atLeast, tried);
        if (!paths.isEmpty()) {
            return paths;
        }
        if (driverVersion < CUDA_13) {
            tried.add("libraries of CUDA 13: not for a driver of CUDA " + version(driverVersion));
        } else {
            paths = openMajor(13, 0, tried);
            if (!paths.isEmpty()) {
                NativeLibrary.load(CudaToolkit.class, "tp4j_nvrtc_forward");
                NativeLibrary.load(CudaToolkit.class, "tp4j_cublas_forward");
                return paths;
            }
        }
        throw new NativeLibraryException(
                "cuBLAS and NVRTC",
                tried,
                "install the CUDA toolkit 12.x or 13.x, or only these two (pip: nvidia-cublas-cu12 and"
                        + " nvidia-cuda-nvrtc-cu12; Maven: build with -Pcuda-redist), or name the files with"
                        + " -Dtp4j.nvrtc.library=/path/to/libnvrtc.so.12 and -Dtp4j.cublas.library=/path/to/libcublas.so.12");
    }

    /** A version as it is usually written: 12060 is 12.6. */
    public static String version(int number) {
        return number / 1000 + "." + number % 1000 / 10;
    }

    /** @param atLeast the CUDA version that the devices need; an older library is closed again */
    private static List<String> openMajor(int major, int atLeast, List<String> tried) {
        String cu = "cu" + major + "/lib";
        LibrarySearch nvrtcSearch = search("NVRTC", "nvrtc", "libnvrtc.so." + major, "cuda_nvrtc/lib", cu);
        LibrarySearch.Opened nvrtc = nvrtcSearch.tryOpen(tried);
        if (nvrtc == null) {
            return List.of();
        }
        if (isOlder(nvrtc, NativeLoader.nvrtcVersion(nvrtc.handle()), atLeast, tried)) {
            return List.of();
        }
        openBuiltins(nvrtc.path(), tried);
        boolean simulated = !System.getProperty(LibrarySearch.SIMULATOR, "").isEmpty();
        if (!simulated) {
            // cuBLAS finds it beside itself only if it has a run path, and not every build has one.
            search("cuBLASLt", "cublasLt", "libcublasLt.so." + major, "cublas/lib", cu)
                    .tryOpen(new ArrayList<>());
        }
        LibrarySearch.Opened cublas = search("cuBLAS", "cublas", "libcublas.so." + major, "cublas/lib", cu)
                .tryOpen(tried);
        if (cublas == null) {
            return List.of();
        }
        if (isOlder(cublas, NativeLoader.cublasVersion(cublas.handle()), atLeast, tried)) {
            NativeLoader.close(nvrtc.handle());
            return List.of();
        }
        String node = major == 12 ? "libcublas.so.12" : null;
        for (String symbol : List.of("cublasCreate_v2", "cublasGemmEx", "cublasGemmStridedBatchedEx")) {
            // The system's loader would end the process on the first call to a missing symbol.
            if (!NativeLoader.has(cublas.handle(), symbol, node)) {
                tried.add(cublas.path() + ": it has no " + symbol);
                return List.of();
            }
        }
        return List.of(nvrtc.path(), cublas.path());
    }

    private static boolean isOlder(LibrarySearch.Opened library, int version, int atLeast, List<String> tried) {
        if (version == 0 || version >= atLeast) {
            return false;
        }
        tried.add(library.path() + ": of CUDA " + version(version) + ", this GPU needs CUDA " + version(atLeast)
                + " or later");
        NativeLoader.close(library.handle());
        return true;
    }

    private static LibrarySearch search(String name, String property, String soname, String... pipFolders) {
        return new LibrarySearch(name, "tp4j." + property + ".library", List.of(soname), List.of(pipFolders), "");
    }

    /** NVRTC opens its builtins by bare name, which the loader finds only if they have been opened before. */
    private static void openBuiltins(String nvrtc, List<String> tried) {
        Path folder = Path.of(nvrtc).toAbsolutePath().getParent();
        if (folder == null) {
            return;
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "libnvrtc-builtins.so.*")) {
            for (Path file : files) {
                @Nullable String[] error = {null};
                if (NativeLoader.open(file.toString(), error) == 0) {
                    tried.add(String.valueOf(error[0]));
                }
            }
        } catch (IOException e) {
            tried.add(folder + ": " + e);
        }
    }
}
