package org.tp4j.tests;

import java.util.List;
import java.util.Map;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Module;
import org.tp4j.nn.Parameter;
import org.tp4j.parallel.MeshAxis;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Tensor;

/**
 * A planted bug: row-parallel, with the bias added to each rank's term of the sum, so that T ranks add it T times. The
 * layouts would refuse it, so it works on raw local tensors and gives the result a false layout.
 */
public final class BiasBeforeReduction implements ParallelStyle {
    private final RowwiseParallel right = new RowwiseParallel();

    @Override
    public List<String> validate(String path, Module module, int ranks) {
        return right.validate(path, module, ranks);
    }

    @Override
    public Map<String, Placement> placements(Module module) {
        return right.placements(module);
    }

    @Override
    public void install(Module module, MeshAxis axis) {
        Linear linear = (Linear) module;
        Parameter bias = linear.bias();
        if (bias != null) {
            linear.skipBiasAdd(true);
            linear.reduceBeforeBias(product -> {
                Tensor term = ((DTensor) product).toLocal(Placement.replicate());
                Tensor raw = ((DTensor) bias.tensor()).toLocal(Placement.invariant());
                return MeshBorder.trusted(term.add(raw), product.shape(), ((DTensor) product).layout());
            });
        }
        right.install(module, axis);
    }
}
