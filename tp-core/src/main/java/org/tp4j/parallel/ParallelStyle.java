package org.tp4j.parallel;

import java.util.List;
import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;

/**
 * How one module is split along a mesh axis: where its parameters lie, and what is done to its inputs and outputs. A style
 * is a value; a user's own is one more implementation.
 */
public interface ParallelStyle {
    /**
     * What keeps this style from being used on a module, in words; empty if nothing does.
     *
     * @param path the module's name, for the message
     * @param ranks number of ranks along the axis
     */
    List<String> validate(String path, Module module, int ranks);

    /** Where the module's own parameters lie along the axis, by name; those not named are Invariant. */
    Map<String, Placement> placements(Module module);

    /** Adds the hooks that redistribute inputs and outputs. */
    void install(Module module, MeshAxis axis);

    /**
     * This style and another for one module: what both place, and the hooks of this one, then those of the other. Such as
     * {@code new PrepareModuleInput(...).and(new PrepareModuleOutput(...))}.
     */
    default ParallelStyle and(ParallelStyle other) {
        return new CombinedStyle(this, other);
    }
}
