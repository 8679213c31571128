package org.tp4j.parallel;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;
import org.tp4j.tensor.Tensor;

/**
 * Redistributes one of a module's outputs. Several are combined by {@link #and}:
 *
 * <pre>{@code
 * new PrepareModuleOutput("x", invariant(), replicate()).and(new PrepareModuleOutput("mask", invariant(), shard(0)))
 * }</pre>
 *
 * @param name the output, as the module names it in its call; null for the first
 * @param output placement of a plain output along the axis
 * @param wanted placement in which it is returned
 * @param localOutput whether it is returned as this rank's plain tensor
 */
public record PrepareModuleOutput(@Nullable String name, Placement output, Placement wanted, boolean localOutput)
        implements ParallelStyle {
    /** The first output, on the mesh. */
    public PrepareModuleOutput(Placement output, Placement wanted) {
        this(null, output, wanted, false);
    }

    /** The first output. */
    public PrepareModuleOutput(Placement output, Placement wanted, boolean localOutput) {
        this(null, output, wanted, localOutput);
    }

    /** An output by name, on the mesh. */
    public PrepareModuleOutput(String name, Placement output, Placement wanted) {
        this(name, output, wanted, false);
    }

    @Override
    public String toString() {
        String which = name == null ? "" : name + ": ";
        return Styles.text("PrepareModuleOutput", which + output + " -> " + wanted, localOutput ? "local output" : "");
    }

    @Override
    public List<String> validate(String path, Module module, int ranks) {
        List<String> problems = new ArrayList<>(Styles.unknownName(this, path, "output", name, module.outputNames()));
        problems.addAll(Styles.dimProblems(this, path, output, wanted));
        return problems;
    }

    @Override
    public Map<String, Placement> placements(Module module) {
        return Map.of();
    }

    @Override
    public void install(Module module, MeshAxis axis) {
        UnaryOperator<Tensor> prepare = y -> Styles.finish(axis.enter(y, output), axis, wanted, localOutput);
        if (name == null) {
            module.addOutputHook(prepare);
        } else {
            module.addOutputHook(name, prepare);
        }
    }
}
