package org.tp4j.parallel;

import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.internal.Gathers;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Parameter;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * The axis of a mesh that a style works along; placements on the other axes do not change.
 *
 * @param mesh the mesh
 * @param name the axis
 */
public record MeshAxis(DeviceMesh mesh, String name) {
    /** Checks that the mesh has the axis. */
    public MeshAxis {
        mesh.axisIndex(name);
    }

    /**
     * The only axis of a mesh.
     *
     * @throws IllegalArgumentException if it has several, naming them
     */
    public static MeshAxis only(DeviceMesh mesh) {
        if (mesh.axisCount() != 1) {
            throw new IllegalArgumentException(
                    "mesh " + mesh + " has " + mesh.axisCount() + " axes; HINT: name the one to split modules along");
        }
        return new MeshAxis(mesh, mesh.axis(0).name());
    }

    /** Number of ranks along it. */
    public int size() {
        return mesh.axis(name).size();
    }

    /** The layout of a parameter: {@code placement} here, Invariant on all other axes. */
    public Layout layout(Shape shape, Placement placement) {
        Placement[] all = new Placement[mesh.axisCount()];
        java.util.Arrays.fill(all, Placement.invariant());
        all[mesh.axisIndex(name)] = placement;
        return Layout.of(mesh, shape.dims(), all);
    }

    /** The layout of a parameter that may already be on the mesh: {@code placement} here, unchanged on all other axes. */
    Layout layout(Parameter parameter, Placement placement) {
        Layout alone = layout(parameter.shape(), placement);
        Layout before = parameter.layout();
        int index = mesh.axisIndex(name);
        return before == null ? alone : before.with(index, alone.placement(index));
    }

    /**
     * Brings a tensor to a placement along this axis, for use within the module that is running.
     *
     * @param declared placement of a plain tensor along it
     * @param wanted placement of the result
     */
    public DTensor bring(Tensor tensor, Placement declared, Placement wanted) {
        if (!(tensor instanceof DTensor)) {
            Styles.requireDim(tensor, this, declared);
        }
        Styles.requireDim(tensor, this, wanted);
        return Gathers.whileModuleRuns(enter(tensor, declared), name, wanted);
    }

    /** The placement of a tensor along this axis. */
    public Placement placementOf(DTensor tensor) {
        return placementOf(tensor.layout());
    }

    Placement placementOf(Layout layout) {
        return layout.placement(layout.mesh().axisIndex(name));
    }

    /**
     * Whether a tensor's dimension {@code dim} is cut along this axis at the same places as by {@code wanted}, whatever the units.
     *
     * @param dim counted from the front
     */
    boolean isCutLike(DTensor tensor, int dim, Placement.Shard wanted) {
        Layout layout = tensor.layout();
        int axis = layout.mesh().axisIndex(name);
        if (!(layout.placement(axis) instanceof Placement.Shard has) || has.dim() != dim) {
            return false;
        }
        if (has.unit() == wanted.unit()) {
            return true;
        }
        long uncut = layout.with(axis, Placement.replicate())
                .localShape(tensor.shape())
                .size(dim);
        return has.cutsLike(wanted, uncut, size());
    }

    /** The tensor on the mesh; a plain one counts as declared along this axis and as Invariant on the others. */
    public DTensor enter(Tensor tensor, Placement declared) {
        if (tensor instanceof DTensor onMesh) {
            return onMesh;
        }
        Layout layout = layout(tensor.shape(), declared);
        return declared == Placement.invariant()
                ? DTensors.distribute(tensor, layout)
                : DTensors.fromLocal(tensor, mesh, layout.placements().toArray(new Placement[0]));
    }

    /** This rank's part as a plain tensor whose gradient has the dual layout. */
    public static Tensor leave(DTensor tensor) {
        return tensor.toLocal(tensor.layout().dual().placements().toArray(new Placement[0]));
    }

    @Override
    public String toString() {
        return name + " of " + mesh;
    }
}
