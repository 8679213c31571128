package org.tp4j.tensor;

/** What {@link UnaryFunction} and {@link BinaryFunction} write their gradients with, besides operations on tensors. */
public interface ElementwiseBackward {
    /** Operand {@code i}, if the function keeps it. */
    Tensor input(int i);

    /** The result, if the function keeps it. */
    Tensor output();

    /** Whether a gradient of operand {@code i} is needed. */
    boolean wants(int i);

    /** Sets the gradient of operand {@code i}, in the result's shape; ignored where none is needed. */
    void give(int i, Tensor gradient);

    /** The function's first number, where it has one. */
    double a();

    /** The function's second number. */
    double b();

    /** A number as a tensor of shape [], of the result's type. */
    Tensor number(double value);

    /** Runs a function of two tensors, without recording it. */
    Tensor apply(BinaryFunction function, Tensor a, Tensor b);
}
