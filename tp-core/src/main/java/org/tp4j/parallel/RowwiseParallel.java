package org.tp4j.parallel;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Module;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Splits the input features: Y = Σ X_i W_iᵀ + b (Shoeybi et al., arXiv 1909.08053, section 3). On rank i of p:
 *
 * <table>
 * <caption>Tensors of a linear layer [out, in]</caption>
 * <tr><th>tensor</th><th>placement</th><th>local shape</th></tr>
 * <tr><td>X [..., in]</td><td>Shard(-1); a whole one keeps its slice</td><td>[..., in/p]</td></tr>
 * <tr><td>weight [out, in]</td><td>Shard(1)</td><td>[out, in/p]</td></tr>
 * <tr><td>product [..., out]</td><td>Partial → {@code output}</td><td>[..., out]</td></tr>
 * <tr><td>bias [out]</td><td>Invariant, added once, after the reduction</td><td>[out]</td></tr>
 * </table>
 *
 * <p>Collectives: forward an all-reduce of the product, or a reduce-scatter to Shard along the sequence; backward none, or
 * an all-gather of dY. An embedding is split by vocabulary: each rank looks up the ids it owns.
 *
 * @param input placement of a plain input along the axis; for an embedding ids are Invariant
 * @param output what the product is redistributed to: Invariant, or Shard of the sequence dimension
 * @param localOutput whether the result is returned as this rank's plain tensor
 * @param unit number of consecutive features (or rows of a table) that stay on one rank
 * @param reduceType type of the terms of pending sums, or null for the default
 */
public record RowwiseParallel(
        Placement input,
        Placement output,
        boolean localOutput,
        long unit,
        @Nullable DType reduceType) implements ParallelStyle {
    /** Plain inputs are Shard(-1), the product is all-reduced to Invariant. */
    public RowwiseParallel() {
        this(Placement.shard(-1), Placement.invariant(), false, 1, null);
    }

    /** The same with another placement of plain inputs. */
    public RowwiseParallel withInput(Placement declared) {
        return new RowwiseParallel(declared, output, localOutput, unit, reduceType);
    }

    /** The same with another target of the product; Shard of the sequence dimension reduce-scatters it. */
    public RowwiseParallel withOutput(Placement wanted) {
        return new RowwiseParallel(input, wanted, localOutput, unit, reduceType);
    }

    /** The same returning plain tensors. */
    public RowwiseParallel withLocalOutput() {
        return new RowwiseParallel(input, output, true, unit, reduceType);
    }

    /** The same with units of {@code together} features that stay on one rank. */
    public RowwiseParallel withUnit(long together) {
        return new RowwiseParallel(input, output, localOutput, together, reduceType);
    }

    /**
     * The same holding and reducing pending sums of products, forward and backward, in another type than the default: the
     * model's, or 32 bits for FLOAT16. Null is the default.
     */
    public RowwiseParallel withReduceType(@Nullable DType type) {
        return new RowwiseParallel(input, output, localOutput, unit, type);
    }

    @Override
    public String toString() {
        Placement sliced = Placement.shard(-1);
        return Styles.text(
                "RowwiseParallel",
                input.equals(sliced) ? "" : "input " + input,
                output.equals(Placement.invariant()) ? "" : "output " + output,
                localOutput ? "local output" : "",
                unit == 1 ? "" : "unit " + unit,
                reduceType == null ? "" : "reduced in " + reduceType);
    }

    @Override
    public List<String> validate(String path, Module module, int ranks) {
        List<String> problems = Styles.linearOrEmbedding(this, path, module);
        problems.addAll(Styles.dimProblems(this, path, input, output));
        if (module instanceof Linear linear) {
            problems.addAll(Styles.unitProblem(path, "the input", linear.in(), unit, ranks));
        } else if (module instanceof Embedding embedding) {
            problems.addAll(Styles.unitProblem(
                    path, "the vocabulary", embedding.weight().shape().size(0), unit, ranks));
        }
        return problems;
    }

    @Override
    public Map<String, Placement> placements(Module module) {
        return Map.of("weight", new Placement.Shard(module instanceof Embedding ? 0 : 1, unit));
    }

    @Override
    public void install(Module module, MeshAxis axis) {
        Styles.reduceIn(reduceType, module);
        if (module instanceof Linear linear) {
            module.addInputHook(x -> slice(x, linear.in(), axis));
            linear.reduceBeforeBias(product -> reduce(product, axis));
        } else {
            module.addInputHook(ids -> axis.bring(ids, Placement.invariant(), Placement.invariant()));
            module.addOutputHook(rows -> reduce(rows, axis));
        }
        if (localOutput) {
            module.addOutputHook(y -> MeshAxis.leave((DTensor) y));
        }
    }

    /** The slice of the input that meets this rank's slice of the weight. */
    private DTensor slice(Tensor x, long in, MeshAxis axis) {
        int last = x.shape().dims() - 1;
        Placement.Shard mine = new Placement.Shard(last, unit);
        boolean isSlice = input instanceof Placement.Shard s && (s.dim() == -1 || s.dim() == last);
        if (!(x instanceof DTensor) && isSlice && last >= 0) {
            requireSlice(x, in, axis);
            Shape whole = x.shape().with(last, in); // known, so that ranks need not communicate
            return MeshBorder.trusted(x, whole, axis.layout(whole, mine));
        }
        if (!(x instanceof DTensor)) {
            Styles.requireDim(x, axis, input);
        }
        DTensor onMesh = axis.enter(x, input);
        if (axis.isCutLike(onMesh, last, mine)) {
            return onMesh;
        }
        if (axis.placementOf(onMesh) instanceof Placement.Shard has && has.dim() == last) {
            String module = ExecutionContext.current().modulePath();
            throw new LayoutException(
                    "RowwiseParallel",
                    "RowwiseParallel in module '" + module + "': the last dimension of the input " + x.shape()
                            + " is cut as " + has + " on mesh axis '" + axis.name() + "', the weight's as " + mine
                            + ", so a rank's input and weight would be of different channels; HINT: give both layers'"
                            + " styles the same unit");
        }
        return onMesh.redistribute(axis.name(), mine);
    }

    /** Refuses a whole tensor where a slice is declared: mostly the layer before is not split. */
    private void requireSlice(Tensor x, long in, MeshAxis axis) {
        if (x.shape().size(-1) == in && mineOf(in, axis) != in) {
            throw new LayoutException(
                    "RowwiseParallel",
                    "RowwiseParallel in module '" + ExecutionContext.current().modulePath()
                            + "' takes this rank's slice of "
                            + mineOf(in, axis) + " of " + in + " features on mesh axis '" + axis.name()
                            + "', but the plain input " + x.shape()
                            + " is whole; HINT: split the layer before it as"
                            + " ColwiseParallel, or declare a whole input: withInput(Placement.invariant()),"
                            + " inputIsParallel false of RowParallelLinear");
        }
    }

    private long mineOf(long in, MeshAxis axis) {
        int rank = axis.mesh().axis(axis.name()).coordinate();
        return new Placement.Shard(0, unit).count(in, rank, axis.size());
    }

    private Tensor reduce(Tensor product, MeshAxis axis) {
        Styles.requireDim(product, axis, output);
        return ((DTensor) product).redistribute(axis.name(), output);
    }
}
