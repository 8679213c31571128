package org.tp4j.nn;

import java.util.List;
import java.util.function.UnaryOperator;
import org.tp4j.tensor.Tensor;

/**
 * A module that maps one tensor to one.
 *
 * <pre>{@code
 * final class Block extends Layer {
 *     private final LayerNorm norm = child("norm", new LayerNorm(256, 1e-5));
 *     private final Mlp mlp = child("mlp", new Mlp(256, 1024, Activation.GELU_TANH, true));
 *
 *     protected Tensor forward(Tensor x) {
 *         return x.add(mlp.apply(norm.apply(x)));
 *     }
 * }
 * }</pre>
 *
 * <p>Hooks and styles know its input as {@value #INPUT} and its output as {@value #OUTPUT}.
 */
public abstract class Layer extends Module {
    /** Name of the input. */
    public static final String INPUT = "x";

    /** Name of the output. */
    public static final String OUTPUT = "y";

    /** A layer without children or parameters yet. */
    protected Layer() {}

    /** What the layer computes. */
    protected abstract Tensor forward(Tensor x);

    /** Runs the layer: its input hooks, {@link #forward}, its output hooks. */
    public final Tensor apply(Tensor x) {
        return call(x, this::forward);
    }

    /** Runs {@code body} as this layer, with its hooks: for layers that can be called in a second way. */
    protected final Tensor call(Tensor x, UnaryOperator<Tensor> body) {
        return callOne(INPUT, x, OUTPUT, body);
    }

    @Override
    public final List<String> inputNames() {
        return List.of(INPUT);
    }

    @Override
    public final List<String> outputNames() {
        return List.of(OUTPUT);
    }
}
