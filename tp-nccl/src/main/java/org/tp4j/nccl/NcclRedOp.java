package org.tp4j.nccl;

/** NCCL's {@code ncclRedOp_t}: how values are reduced. */
public final class NcclRedOp {
    /** Sum. */
    public static final int ncclSum = 0;

    /** Product. */
    public static final int ncclProd = 1;

    /** Largest. */
    public static final int ncclMax = 2;

    /** Smallest. */
    public static final int ncclMin = 3;

    /** Sum divided by the number of ranks. For floats, NCCL sums the values times the rounded reciprocal. */
    public static final int ncclAvg = 4;

    private NcclRedOp() {}
}
