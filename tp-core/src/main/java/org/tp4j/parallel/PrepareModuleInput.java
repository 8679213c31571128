package org.tp4j.parallel;

import java.util.List;
import java.util.Map;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;

/**
 * Redistributes a module's input.
 *
 * @param input how a plain input is meant to lie along the axis
 * @param wanted how the module gets it
 * @param localInput whether the module gets this rank's part as a plain tensor
 */
public record PrepareModuleInput(Placement input, Placement wanted, boolean localInput) implements ParallelStyle {
    /** The module gets it on the mesh. */
    public PrepareModuleInput(Placement input, Placement wanted) {
        this(input, wanted, false);
    }

    @Override
    public String toString() {
        return Styles.text("PrepareModuleInput", input + " -> " + wanted, localInput ? "local input" : "");
    }

    @Override
    public List<String> problems(String path, Module module, int ranks) {
        return List.of();
    }

    @Override
    public Map<String, Placement> placements(Module module) {
        return Map.of();
    }

    @Override
    public void install(Module module, MeshAxis axis) {
        module.addInputHook(x -> {
            DTensor onMesh = axis.bring(x, input, wanted);
            return localInput ? MeshAxis.leave(onMesh) : onMesh;
        });
    }
}
