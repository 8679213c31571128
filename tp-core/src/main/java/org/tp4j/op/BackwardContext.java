package org.tp4j.op;

import org.tp4j.op.internal.ExpandOp;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** What an operation uses to compute gradients. */
public interface BackwardContext {
    /**
     * Operand {@code i}, unchanged since the forward pass.
     *
     * @throws IllegalStateException if it has been changed in place since
     */
    Tensor input(int i);

    /**
     * Starts to gather operand {@code i} if this rank has kept only its shard, so that it arrives while other
     * work is done; does nothing if it is whole.
     */
    void prefetch(int i);

    /** Result {@code i}, unchanged since the forward pass. */
    Tensor output(int i);

    /** Whether a gradient of operand {@code i} is needed. */
    boolean wants(int i);

    /** Global shape of operand {@code i}, even if the operand itself was not kept. */
    Shape inputShape(int i);

    /** Layout of operand {@code i}, for {@link ExpandOp}; {@link TargetLayout#NONE} for a tensor on no mesh. */
    TargetLayout inputLayout(int i);

    /**
     * The type in which the gradient of operand {@code i} is collected: 32 bits for a 16-bit leaf, such as a parameter,
     * otherwise the operand's. A gradient of another type is converted.
     */
    DType gradientType(int i);

    /** Sets the gradient of operand {@code i}, which has its shape. */
    void give(int i, Tensor gradient);

    /**
     * Runs an operation and sets its result as the gradient of operand {@code i}. If the operand is a leaf with a gradient and
     * the operation can, it adds to that in place.
     */
    void give(int i, Operation operation, Tensor... in);

    /** Runs another operation without recording it; returns its first result. */
    Tensor run(Operation operation, Tensor... in);

    /** Runs another operation without recording it; returns all its results. */
    Tensor[] runAll(Operation operation, Tensor... in);

    /** A number as a tensor of shape [], of the first operand's type. */
    Tensor number(double value);
}
