package org.tp4j.nccl;

import java.util.Optional;

/** NCCL on this machine. */
public final class Nccl {
    private Nccl() {}

    /** Why NCCL cannot be used on this machine, in words for the user; empty if it can. */
    public static Optional<String> unavailable() {
        return NcclLibrary.unavailable();
    }

    /**
     * The library that is used, such as {@code NCCL 2.18.3 (/usr/lib/x86_64-linux-gnu/libnccl.so.2)}.
     *
     * @throws org.tp4j.tensor.NativeLibraryException if there is none
     */
    public static String description() {
        return NcclLibrary.require();
    }
}
