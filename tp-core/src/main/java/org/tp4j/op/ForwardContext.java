package org.tp4j.op;

import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;

/** What an operation uses to compute this rank's part. */
public interface ForwardContext {
    /** Which box of operand {@code i} this rank holds. */
    Region inputRegion(int i);

    /** Which box of result {@code i} this rank holds. */
    Region outputRegion(int i);

    /** Shape of this rank's part of result {@code i}. */
    Shape outputShape(int i);

    /**
     * Type of this rank's part of result {@code i}: the result's, or that of its terms ({@link Operation#termType}) where the
     * result is a pending sum.
     */
    DType outputType(int i);

    /**
     * Whether this rank adds constants to what it computes: true unless the result is a pending sum on some axis of
     * which this is not the first rank.
     */
    boolean addsConstants();

    /** Whether the result is to be added to what {@link #allocate} returns; only asked for if {@link Operation#canAccumulate}. */
    default boolean accumulates() {
        return false;
    }

    /** New memory for this rank's part of result {@code i}. */
    NdArray allocate(int i);
}
