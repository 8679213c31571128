package org.tp4j.nn;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Y = X Wᵀ + b.
 *
 * <table>
 * <caption>Tensors</caption>
 * <tr><th>tensor</th><th>shape</th><th>split by column</th><th>split by row</th></tr>
 * <tr><td>X</td><td>[..., in]</td><td>Replicate</td><td>Shard(-1)</td></tr>
 * <tr><td>weight, [out, in] as PyTorch and Hugging Face store it</td><td>[out, in]</td><td>Shard(0)</td><td>Shard(1)</td></tr>
 * <tr><td>bias</td><td>[out]</td><td>Shard(0)</td><td>Invariant</td></tr>
 * <tr><td>X Wᵀ</td><td>[..., out]</td><td>Shard(-1)</td><td>Partial, reduced before the bias is added</td></tr>
 * <tr><td>Y</td><td>[..., out]</td><td>Shard(-1)</td><td>Invariant</td></tr>
 * </table>
 *
 * <p>Backward: dX = dY W first, so that its communication runs under dW = dYᵀ X; db = Σ dY over all rows. Kept for
 * backward: X. The module itself never communicates; a style of {@code org.tp4j.parallel} does, around it. Error: that of
 * sums of {@code in} products. Initial values are uniform within ±1/sqrt(in), as in PyTorch.
 */
public class Linear extends Layer {
    private final long in;
    private final long out;
    private final Parameter weight;
    private final @Nullable Parameter bias;
    private final List<UnaryOperator<Tensor>> reductions = new ArrayList<>(1);
    private boolean skipBiasAdd;

    /** A layer with initial values as in PyTorch. */
    public Linear(long in, long out, boolean bias) {
        this(in, out, bias, Initializer.kaimingUniform(1 / Math.sqrt(3)));
    }

    /** A layer with the given initial weight; the bias is uniform within ±1/sqrt(in). */
    public Linear(long in, long out, boolean bias, Initializer initializer) {
        this.in = in;
        this.out = out;
        this.weight = parameter(new Parameter("weight", Shape.of(out, in), initializer));
        double bound = 1 / Math.sqrt(Math.max(1, in));
        this.bias = bias ? parameter(new Parameter("bias", Shape.of(out), Initializer.uniform(-bound, bound))) : null;
    }

    /** A layer without bias whose weight is another module's (tied). */
    public Linear(Parameter shared) {
        this.in = shared.shape().size(1);
        this.out = shared.shape().size(0);
        this.weight = tie("weight", shared);
        this.bias = null;
    }

    /** Size of an input row. */
    public final long in() {
        return in;
    }

    /** Size of an output row. */
    public final long out() {
        return out;
    }

    /** The weight, [out, in]. */
    public final Parameter weight() {
        return weight;
    }

    /** The bias, [out], or null. */
    public final @Nullable Parameter bias() {
        return bias;
    }

    /**
     * Adds a step between the product X Wᵀ and the bias: the reduction of a parallel style, one for each mesh axis that
     * shards the input features.
     *
     * @param step maps the product to the tensor that the bias is added to
     */
    public final void reduceBeforeBias(UnaryOperator<Tensor> step) {
        reductions.add(step);
    }

    /**
     * Leaves the bias to the caller, who may fuse it with what follows: {@link #apply} returns X Wᵀ alone. {@link
     * #applyActivated}, which is such a fusion, still adds it.
     */
    public final void skipBiasAdd(boolean skip) {
        skipBiasAdd = skip;
    }

    private Tensor product(Tensor x) {
        Tensor product = x.linear(weight.tensor(), null);
        for (UnaryOperator<Tensor> reduction : reductions) {
            product = reduction.apply(product);
        }
        return product;
    }

    @Override
    protected Tensor forward(Tensor x) {
        Tensor product = product(x);
        return bias == null || skipBiasAdd ? product : product.add(bias.tensor());
    }

    /** activation(X Wᵀ + b), bias and activation in one pass. */
    public final Tensor applyActivated(Tensor x, Activation activation) {
        return call(x, input -> {
            Tensor product = product(input);
            return bias == null ? activate(product, activation) : product.biasActivation(bias.tensor(), activation);
        });
    }

    @Override
    protected String describe() {
        return in + " -> " + out + (bias == null ? ", no bias" : skipBiasAdd ? ", bias left to the caller" : "");
    }

    private static Tensor activate(Tensor x, Activation activation) {
        return switch (activation) {
            case RELU -> x.relu();
            case GELU -> x.gelu();
            case GELU_TANH -> x.geluTanh();
            case SILU -> x.silu();
        };
    }
}
