package org.tp4j.parallel;

import java.util.List;
import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;

/**
 * How one module is split along a mesh axis: the placements of its parameters, and the hooks on its inputs and outputs. A
 * style is a value; custom styles implement this interface.
 */
public interface ParallelStyle {
    /**
     * Reasons why this style cannot be used on a module; empty if it can.
     *
     * @param path the module's name, for the message
     * @param ranks number of ranks along the axis
     */
    List<String> validate(String path, Module module, int ranks);

    /** Placements of the module's own parameters along the axis, by name; all others are Invariant. */
    Map<String, Placement> placements(Module module);

    /** Adds the hooks that redistribute inputs and outputs. */
    void install(Module module, MeshAxis axis);

    /**
     * This style and another for one module: the placements of both, the hooks of this one and then those of the other, as in
     * {@code new PrepareModuleInput(...).and(new PrepareModuleOutput(...))}.
     */
    default ParallelStyle and(ParallelStyle other) {
        return new CombinedStyle(this, other);
    }
}
