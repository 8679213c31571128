package org.tp4j.cuda.internal.libraries;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.internal.NativeLibrary;

/** The system's dynamic loader, and the first questions to the driver, before any of JCuda's classes is loaded. */
public final class NativeLoader {
    static {
        NativeLibrary.load(NativeLoader.class, "tp4j_cuda");
    }

    private NativeLoader() {}

    /**
     * Opens a library for the rest of the process: whatever is loaded later and needs one of its soname gets it.
     *
     * @param name absolute path, or a bare name for the system to look up
     * @param error where the reason goes if it fails, one element
     * @return its handle, or 0
     */
    static native long open(String name, @Nullable String[] error);

    /** Where an opened library lies. */
    static native String path(long handle);

    /** Whether an opened library has a symbol, of a version node if one is given. */
    static native boolean has(long handle, String symbol, @Nullable String version);

    /** Closes an opened library, so that another one of its soname can be opened. */
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
