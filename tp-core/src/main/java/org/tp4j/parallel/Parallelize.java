package org.tp4j.parallel;

import java.util.Map;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Module;

/**
 * Splits a model over a mesh axis.
 *
 * <pre>{@code
 * Parallelize.apply(model, mesh, Map.of(
 *     "layers.*.mlp.up_proj", new ColwiseParallel(),
 *     "layers.*.mlp.down_proj", new RowwiseParallel()));
 * model.materialize(world.backend(), DType.FLOAT32, seed); // each rank allocates only its shards
 * }</pre>
 *
 * <p>Parameters that no style places are Invariant: every rank holds them whole. Plans compose: one for other modules or
 * another axis adds to the first; sharding a parameter twice along one axis is refused. A model that already has values
 * keeps them; an optimizer made earlier refuses to step.
 */
public final class Parallelize {
    private Parallelize() {}

    /**
     * Splits a model over the only axis of a mesh.
     *
     * @param plan maps module names, in which {@code *} stands for one segment, to styles
     * @throws PlanException if the plan does not fit, listing everything that is wrong; the model is unchanged
     * @throws IllegalArgumentException if the mesh has several axes
     */
    public static <M extends Module> M apply(M model, DeviceMesh mesh, Map<String, ? extends ParallelStyle> plan) {
        return apply(model, MeshAxis.only(mesh), plan);
    }

    /** Splits a model over the named axis of a mesh; placements on the other axes do not change. */
    public static <M extends Module> M apply(
            M model, DeviceMesh mesh, String axis, Map<String, ? extends ParallelStyle> plan) {
        return apply(model, new MeshAxis(mesh, axis), plan);
    }

    /** Splits a model over an axis. */
    public static <M extends Module> M apply(M model, MeshAxis axis, Map<String, ? extends ParallelStyle> plan) {
        Plan.match(model, axis, plan).carryOut();
        return model;
    }
}
