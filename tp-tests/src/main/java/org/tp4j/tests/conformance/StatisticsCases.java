package org.tp4j.tests.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.tp4j.autograd.DTensors;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.Tensor;

/** Means and variances of numbers whose sums leave their type: {@code NAME.x} gives {@code NAME.mean} and so on. */
final class StatisticsCases implements CaseRunner {
    private static final String INPUT = ".x";

    @Override
    public boolean recognises(ReferenceCase about) {
        return about.setting("axes") != null && inputs(about).stream().anyMatch(name -> about.has(name + ".mean"));
    }

    private static List<String> inputs(ReferenceCase about) {
        return about.tensors().keySet().stream()
                .filter(name -> name.endsWith(INPUT))
                .map(name -> name.substring(0, name.length() - INPUT.length()))
                .toList();
    }

    @Override
    public List<String> run(CaseData data) {
        List<String> variants = new ArrayList<>();
        for (String name : inputs(data.about())) {
            run(data, name, "whole", Placement.invariant(), variants);
            int dims = data.about().shape(name + INPUT).dims();
            for (int dim = 0; dim < dims; dim++) {
                run(data, name, "dimension " + dim + " sharded", Placement.shard(dim), variants);
            }
        }
        return variants;
    }

    private static void run(CaseData data, String name, String variant, Placement placement, List<String> variants) {
        variants.add(name + " " + variant);
        data.variant(variant);
        JsonNode axis = Objects.requireNonNull(data.about().setting("axes")).get(name);
        int[] dims = axis == null || axis.isNull() ? new int[0] : new int[] {axis.asInt()};
        Tensor x = DTensors.distribute(data.tensor(name + INPUT), data.mesh(), placement);
        if (data.about().has(name + ".mean")) {
            data.compare(name + ".mean", x.mean(false, dims));
        }
        boolean cut = placement instanceof Placement.Shard shard
                && (dims.length == 0 || dims[0] == shard.dim()); // a variance needs the mean of all ranks first
        if (data.about().has(name + ".var") && !cut) {
            data.compare(name + ".var", x.variance(false, false, dims));
            data.compare(name + ".var_unbiased", x.variance(true, false, dims));
        }
    }
}
