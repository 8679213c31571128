package org.tp4j.nccl;

import java.util.Optional;

/** NCCL on this machine. */
public final class Nccl {
    private Nccl() {}

    /** Why NCCL cannot be used on this machine, as a message for the user; empty if it can. */
    public static Optional<String> unavailable() {
        return NcclLibrary.unavailable();
    }

    /**
     * The library in use, such as {@code NCCL 2.18.3 (/usr/lib/x86_64-linux-gnu/libnccl.so.2)}.
     *
     * @throws org.tp4j.tensor.NativeLibraryException if NCCL is not available
     */
    public static String description() {
        return NcclLibrary.require();
    }
}
