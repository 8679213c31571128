package org.tp4j.comm;

/** How a collective reduces the ranks' values. */
public enum ReduceOp {
    /** Sum. */
    SUM,
    /** Sum divided by the number of ranks; floats only. */
    AVG,
    /** Product. */
    PRODUCT,
    /** Largest. */
    MAX,
    /** Smallest. */
    MIN
}
