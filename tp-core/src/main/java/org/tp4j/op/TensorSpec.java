package org.tp4j.op;

import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;

/**
 * Type and global shape of an operand or result.
 *
 * @param dtype element type
 * @param shape sizes of the whole tensor
 */
public record TensorSpec(DType dtype, Shape shape) {
    /** Number of dimensions. */
    public int dims() {
        return shape.dims();
    }

    @Override
    public String toString() {
        return dtype + shape.toString();
    }
}
