package org.tp4j.nccl;

import java.util.Arrays;

/**
 * NCCL's {@code ncclUniqueId}, which identifies a new communicator. One rank creates it with
 * {@code JNccl.ncclGetUniqueId()}; the program passes its bytes to the other ranks.
 */
public final class NcclUniqueId {
    /** Length of an id in bytes. */
    public static final int NCCL_UNIQUE_ID_BYTES = 128;

    private final byte[] internal;

    private NcclUniqueId(byte[] internal) {
        this.internal = internal;
    }

    /**
     * The id that another rank has created.
     *
     * @param bytes the {@link #bytes()} of that id
     * @throws IllegalArgumentException if their number is not {@value #NCCL_UNIQUE_ID_BYTES}
     */
    public static NcclUniqueId of(byte[] bytes) {
        if (bytes.length != NCCL_UNIQUE_ID_BYTES) {
            throw new IllegalArgumentException(
                    "a unique id of " + bytes.length + " bytes; it has " + NCCL_UNIQUE_ID_BYTES);
        }
        return new NcclUniqueId(bytes.clone());
    }

    /** The bytes to pass to the other ranks. */
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

    /** Does not reveal the id: whoever knows it can join. */
    @Override
    public String toString() {
        return "an NCCL unique id";
    }
}
