package org.tp4j.nccl;

import java.util.Optional;

/** NCCL on this machine; until the bindings are built it only says so. */
public final class Nccl {
    private Nccl() {}

    /** Why NCCL cannot be used on this machine, in words for the user; empty if it can. */
    public static Optional<String> unavailable() {
        return Optional.of("the NCCL process group is not part of this version");
    }
}
