package org.tp4j.nccl;

import java.util.Arrays;

/**
 * NCCL's {@code ncclUniqueId}: what the ranks of a new communicator have in common. One rank makes it with
 * {@link JNccl#ncclGetUniqueId()}; how its bytes reach the others is the program's business.
 */
public final class NcclUniqueId {
    /** Length of an id in bytes. */
    public static final int NCCL_UNIQUE_ID_BYTES = 128;

    private final byte[] internal;

    private NcclUniqueId(byte[] internal) {
        this.internal = internal;
    }

    /**
     * The id that another rank has made.
     *
     * @param bytes what {@link #bytes()} of it returned
     * @throws IllegalArgumentException if they are not {@value #NCCL_UNIQUE_ID_BYTES}
     */
    public static NcclUniqueId of(byte[] bytes) {
        if (bytes.length != NCCL_UNIQUE_ID_BYTES) {
            throw new IllegalArgumentException(
                    "a unique id of " + bytes.length + " bytes; it has " + NCCL_UNIQUE_ID_BYTES);
        }
        return new NcclUniqueId(bytes.clone());
    }

    /** The bytes to hand to the other ranks. */
    public byte[] bytes() {
        return internal.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof NcclUniqueId that && Arrays.equals(internal, that.internal);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(internal);
    }

    /** Nothing of the content: who knows an id can join. */
    @Override
    public String toString() {
        return "an NCCL unique id";
    }
}
