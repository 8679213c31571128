package org.tp4j.op;

import org.tp4j.op.internal.ExpandOp;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** What an operation may ask while it computes gradients. */
public interface BackwardContext {
    /**
     * Operand {@code i} as it was.
     *
     * @throws IllegalStateException if it has been changed in place since
     */
    Tensor input(int i);

    /**
     * Starts to bring operand {@code i} together where this rank has kept its shard alone, so that it arrives while other
     * work is done; does nothing where it is whole.
     */
    void prefetch(int i);

    /** Result {@code i} as it was. */
    Tensor output(int i);

    /** Whether a gradient of operand {@code i} is wanted. */
    boolean wants(int i);

    /** Global shape of operand {@code i}, also where the operand itself was not kept. */
    Shape inputShape(int i);

    /** Layout of operand {@code i}, for {@link ExpandOp}; {@link TargetLayout#NONE} for a tensor on no mesh. */
    TargetLayout inputLayout(int i);

    /** Hands over the gradient of operand {@code i}, of its shape. */
    void give(int i, Tensor gradient);

    /** Runs another operation, without recording it; its first result. */
    Tensor run(Operation operation, Tensor... in);

    /** Runs another operation with several results. */
    Tensor[] runAll(Operation operation, Tensor... in);

    /** A number as a tensor of shape [], of the first operand's type. */
    Tensor number(double value);
}
