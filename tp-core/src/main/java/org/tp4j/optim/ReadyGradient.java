package org.tp4j.optim;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.Axis;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Parameter;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;

/**
 * A complete gradient.
 *
 * @param name of its parameter
 * @param local this rank's part
 * @param cutBy the mesh axes along which ranks hold different parts; along all others they hold the same
 */
record ReadyGradient(String name, NdArray local, Set<Axis> cutBy) {
    /**
     * Runs the deferred sums; the gradients of the parameters that train and have one, each parameter once. Collective.
     *
     * @throws LayoutException if a parameter is laid out so that its gradient stays pending
     */
    static List<ReadyGradient> of(Collection<Parameter> parameters) {
        Set<Parameter> distinct = new LinkedHashSet<>(parameters); // compared by identity: a tied one counts once
        Gradients.finish(distinct);
        List<ReadyGradient> ready = new ArrayList<>(distinct.size());
        for (Parameter parameter : distinct) {
            Tensor gradient = parameter.isTrainable() && parameter.isMaterialized()
                    ? parameter.tensor().grad()
                    : null;
            if (gradient != null) {
                ready.add(new ReadyGradient(parameter.name(), gradient.local(), axes(parameter.name(), gradient)));
            }
        }
        return ready;
    }

    private static Set<Axis> axes(String name, Tensor gradient) {
        if (!(gradient instanceof DTensor onMesh)) {
            return Set.of();
        }
        Layout layout = onMesh.layout();
        Set<Axis> cut = new LinkedHashSet<>();
        for (int a = 0; a < layout.mesh().axisCount(); a++) {
            Placement placement = layout.placement(a);
            if (placement instanceof Placement.Shard && layout.mesh().axis(a).size() > 1) {
                cut.add(layout.mesh().axis(a));
            } else if (placement instanceof Placement.Partial) {
                throw pending(name, layout.mesh().axis(a).name());
            }
        }
        return cut;
    }

    static LayoutException pending(String name, String axis) {
        return new LayoutException(
                "optimizer",
                "the gradient of parameter '" + name + "' is never complete on mesh axis '" + axis
                        + "', where the parameter is Replicate; HINT: place parameters Invariant or Shard");
    }
}
