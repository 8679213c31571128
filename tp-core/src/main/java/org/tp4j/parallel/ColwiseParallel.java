package org.tp4j.parallel;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Module;
import org.tp4j.tensor.DType;

/**
 * Splits the output features: Y = [X W_0ᵀ | X W_1ᵀ | ...] (Shoeybi et al., arXiv 1909.08053, section 3). On rank i of p:
 *
 * <table>
 * <caption>Tensors of a linear layer [out, in]</caption>
 * <tr><th>tensor</th><th>placement</th><th>local shape</th></tr>
 * <tr><td>X [..., in]</td><td>whatever it is → Replicate</td><td>[..., in]</td></tr>
 * <tr><td>weight [out, in]</td><td>Shard(0)</td><td>[out/p, in]</td></tr>
 * <tr><td>bias [out]</td><td>Shard(0)</td><td>[out/p]</td></tr>
 * <tr><td>Y [..., out]</td><td>Shard(-1), or {@code output}</td><td>[..., out/p]</td></tr>
 * </table>
 *
 * <p>Collectives: forward none if X is Invariant, an all-gather of X if it is sharded along the sequence; backward an
 * all-reduce (or reduce-scatter) of dX, which runs under the product dW. An embedding is split along the row's features.
 *
 * @param input placement of a plain input along the axis
 * @param output what the result is redistributed to, or null to leave it Shard(-1)
 * @param localOutput whether the result is returned as this rank's plain tensor
 * @param unit number of consecutive features that stay on one rank, such as those of a head
 * @param reduceType type of the terms of pending sums, or null for the default
 */
public record ColwiseParallel(
        Placement input,
        @Nullable Placement output,
        boolean localOutput,
        long unit,
        @Nullable DType reduceType) implements ParallelStyle {
    /** Plain inputs are Invariant, the result stays Shard(-1). */
    public ColwiseParallel() {
        this(Placement.invariant(), null, false, 1, null);
    }

    /** The same with another placement of plain inputs. */
    public ColwiseParallel withInput(Placement declared) {
        return new ColwiseParallel(declared, output, localOutput, unit, reduceType);
    }

    /** The same with the result redistributed; Invariant gathers it. */
    public ColwiseParallel withOutput(Placement wanted) {
        return new ColwiseParallel(input, wanted, localOutput, unit, reduceType);
    }

    /** The same returning plain tensors. */
    public ColwiseParallel withLocalOutput() {
        return new ColwiseParallel(input, output, true, unit, reduceType);
    }

    /** The same with units of {@code together} features that stay on one rank. */
    public ColwiseParallel withUnit(long together) {
        return new ColwiseParallel(input, output, localOutput, together, reduceType);
    }

    /**
     * The same holding and reducing pending sums of products, forward and backward, in another type than the default: the
     * model's, or 32 bits for FLOAT16. Null is the default.
     */
    public ColwiseParallel withReduceType(@Nullable DType type) {
        return new ColwiseParallel(input, output, localOutput, unit, type);
    }

    @Override
    public String toString() {
        return Styles.text(
                "ColwiseParallel",
                input.equals(Placement.invariant()) ? "" : "input " + input,
                output == null ? "" : "output " + output,
                localOutput ? "local output" : "",
                unit == 1 ? "" : "unit " + unit,
                reduceType == null ? "" : "reduced in " + reduceType);
    }

    @Override
    public List<String> validate(String path, Module module, int ranks) {
        List<String> problems = Styles.linearOrEmbedding(this, path, module);
        problems.addAll(Styles.dimProblems(this, path, input, output));
        if (module instanceof Linear linear) {
            problems.addAll(Styles.unitProblem(path, "the output", linear.out(), unit, ranks));
        } else if (module instanceof Embedding embedding) {
            problems.addAll(
                    Styles.unitProblem(path, "a row", embedding.weight().shape().size(1), unit, ranks));
        }
        return problems;
    }

    @Override
    public Map<String, Placement> placements(Module module) {
        if (module instanceof Embedding) {
            return Map.of("weight", new Placement.Shard(1, unit));
        }
        Placement rows = new Placement.Shard(0, unit);
        return module.ownParameters().containsKey("bias")
                ? Map.of("weight", rows, "bias", rows)
                : Map.of("weight", rows);
    }

    @Override
    public void install(Module module, MeshAxis axis) {
        Styles.reduceIn(reduceType, module);
        boolean ids = module instanceof Embedding;
        module.addInputHook(x -> axis.bring(x, input, ids ? Placement.invariant() : Placement.replicate()));
        module.addOutputHook(y -> Styles.finish(y, axis, output, localOutput));
    }
}
