package org.tp4j.cuda.internal.libraries;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.internal.NativeLibrary;

/** The system's dynamic loader, and the first calls to the driver, before any of JCuda's classes is loaded. */
public final class NativeLoader {
    static {
        NativeLibrary.load(NativeLoader.class, "tp4j_cuda");
    }

    private NativeLoader() {}

    /**
     * Opens a library for the rest of the process: any library loaded later that needs its soname gets this one.
     *
     * @param name absolute path, or a bare name for the system to look up
     * @param error receives the reason if it fails, one element
     * @return its handle, or 0
     */
    static native long open(String name, @Nullable String[] error);

    /** The path of an opened library. */
    static native String path(long handle);

    /** Whether an opened library has a symbol, in a version node if one is given. */
    static native boolean has(long handle, String symbol, @Nullable String version);

    /** Closes an opened library, so that another one with its soname can be opened. */
    static native void close(long handle);

    /** The highest compute capability among the driver's devices, such as 90, after {@code cuInit}; 0 if unknown. */
    public static native int computeCapability(long driver);

    /** The CUDA version of an NVRTC, such as 12060; 0 if unknown. */
    static native int nvrtcVersion(long nvrtc);

    /** The CUDA version of a cuBLAS, such as 12060; 0 if unknown. */
    static native int cublasVersion(long cublas);

    /**
     * Calls a driver function with one integer result, after {@code cuInit} if asked.
     *
     * @return the result, or the negated error code
     */
    public static native int ask(long driver, String function, boolean initialize);
}
