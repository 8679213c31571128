package org.tp4j.parallel;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;
import org.tp4j.tensor.Tensor;

/**
 * Redistributes one of a module's inputs. Several are combined by {@link #and}:
 *
 * <pre>{@code
 * new PrepareModuleInput("x", invariant(), replicate()).and(new PrepareModuleInput("mask", invariant(), shard(0)))
 * }</pre>
 *
 * @param name the input, as the module names it in its call; null for the first
 * @param input placement of a plain input along the axis
 * @param wanted placement in which the module receives it
 * @param localInput whether the module receives it as this rank's plain tensor
 */
public record PrepareModuleInput(@Nullable String name, Placement input, Placement wanted, boolean localInput)
        implements ParallelStyle {
    /** The first input, on the mesh. */
    public PrepareModuleInput(Placement input, Placement wanted) {
        this(null, input, wanted, false);
    }

    /** The first input. */
    public PrepareModuleInput(Placement input, Placement wanted, boolean localInput) {
        this(null, input, wanted, localInput);
    }

    /** An input by name, on the mesh. */
    public PrepareModuleInput(String name, Placement input, Placement wanted) {
        this(name, input, wanted, false);
    }

    @Override
    public String toString() {
        String which = name == null ? "" : name + ": ";
        return Styles.text("PrepareModuleInput", which + input + " -> " + wanted, localInput ? "local input" : "");
    }

    @Override
    public List<String> validate(String path, Module module, int ranks) {
        List<String> problems = new ArrayList<>(Styles.unknownName(this, path, "input", name, module.inputNames()));
        problems.addAll(Styles.dimProblems(this, path, input, wanted));
        return problems;
    }

    @Override
    public Map<String, Placement> placements(Module module) {
        return Map.of();
    }

    @Override
    public void install(Module module, MeshAxis axis) {
        UnaryOperator<Tensor> prepare = x -> {
            DTensor onMesh = axis.bring(x, input, wanted);
            return localInput ? MeshAxis.leave(onMesh) : onMesh;
        };
        if (name == null) {
            module.addInputHook(prepare);
        } else {
            module.addInputHook(name, prepare);
        }
    }
}
