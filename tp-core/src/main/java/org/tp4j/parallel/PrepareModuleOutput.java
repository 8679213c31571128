package org.tp4j.parallel;

import java.util.List;
import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;

/**
 * Redistributes a module's output.
 *
 * @param output how a plain output is meant to lie along the axis
 * @param wanted how it is handed out
 * @param localOutput whether it is handed out as this rank's plain tensor
 */
public record PrepareModuleOutput(Placement output, Placement wanted, boolean localOutput) implements ParallelStyle {
    /** The output stays on the mesh. */
    public PrepareModuleOutput(Placement output, Placement wanted) {
        this(output, wanted, false);
    }

    @Override
    public String toString() {
        return Styles.text("PrepareModuleOutput", output + " -> " + wanted, localOutput ? "local output" : "");
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
        module.addOutputHook(y -> Styles.finish(axis.enter(y, output), axis, wanted, localOutput));
    }
}
