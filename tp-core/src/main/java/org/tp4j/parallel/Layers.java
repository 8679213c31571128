package org.tp4j.parallel;

import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;

/** Splits a single module by a style, outside of a plan. */
final class Layers {
    private Layers() {}

    static void split(Module module, ParallelStyle style, MeshAxis axis) {
        Map<String, Placement> placements = style.placements(module);
        module.ownParameters()
                .forEach((name, parameter) -> parameter.place(
                        axis.layout(parameter.shape(), placements.getOrDefault(name, Placement.invariant()))));
        style.install(module, axis);
        module.markSplit(style + " along " + axis.name());
    }
}
