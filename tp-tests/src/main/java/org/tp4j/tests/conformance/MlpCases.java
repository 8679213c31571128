package org.tp4j.tests.conformance;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.tp4j.autograd.DTensors;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.nn.GatedMlp;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Mlp;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * MLPs: up, activation, down, or gate and up. Column- then row-parallel, and the same with the sequence sharded before and
 * after.
 */
public final class MlpCases implements CaseRunner {
    private final ParallelStyle down;

    /** With the styles that are right. */
    public MlpCases() {
        this(new RowwiseParallel());
    }

    /** @param down style of the second product where the sequence is whole; a wrong one must be found out */
    public MlpCases(ParallelStyle down) {
        this.down = down;
    }

    @Override
    public boolean recognises(ReferenceCase about) {
        return about.has("x", "y", "grad_y", "param.up_proj.weight", "param.down_proj.weight");
    }

    @Override
    public List<String> run(CaseData data) {
        Activation activation = ActivationNames.of(data);
        List<String> variants = new ArrayList<>();
        variants.add("column- then row-parallel");
        data.variant(variants.get(0));
        Layer whole = data.withParameters(split(data, activation, new ColwiseParallel(), down));
        Tensor x = data.tensor("x").requiresGrad(true);
        data.compareAll(whole, x, whole.apply(x));

        int sequence = data.about().shape("x").dims() - 2;
        if (sequence >= 0) {
            variants.add("sequence-parallel");
            data.variant("sequence-parallel");
            Placement cut = Placement.shard(sequence);
            Layer sharded = data.withParameters(split(
                    data, activation, new ColwiseParallel().withInput(cut), new RowwiseParallel().withOutput(cut)));
            Tensor leaf = data.tensor("x").requiresGrad(true);
            DTensor entered = DTensors.distribute(leaf, data.mesh(), cut);
            data.compareAll(sharded, leaf, sharded.apply(entered));
        }
        return variants;
    }

    private static Layer split(CaseData data, Activation activation, ParallelStyle column, ParallelStyle row) {
        boolean gated = data.about().has("param.gate_proj.weight");
        Layer model = build(data.about(), activation, gated);
        Map<String, ParallelStyle> plan = gated
                ? Map.of("gate_proj", column, "up_proj", column, "down_proj", row)
                : Map.of("up_proj", column, "down_proj", row);
        return Parallelize.apply(model, data.mesh(), plan);
    }

    /** The model on one rank, for whoever wants to try activations. */
    static Layer build(ReferenceCase about, Activation activation, boolean gated) {
        Shape up = about.shape("param.up_proj.weight");
        boolean bias = about.has("param.up_proj.bias");
        return gated
                ? new GatedMlp(up.size(1), up.size(0), activation, bias)
                : new Mlp(up.size(1), up.size(0), activation, bias);
    }
}
