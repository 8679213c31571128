package org.tp4j.nn;

import java.util.function.UnaryOperator;
import org.tp4j.tensor.Tensor;

/** A function without parameters as a layer, such as {@code new ActivationLayer(Tensor::gelu)}. */
public final class ActivationLayer extends Layer {
    private final UnaryOperator<Tensor> function;

    /** @param function what is computed */
    public ActivationLayer(UnaryOperator<Tensor> function) {
        this.function = function;
    }

    @Override
    protected Tensor forward(Tensor x) {
        return function.apply(x);
    }
}
