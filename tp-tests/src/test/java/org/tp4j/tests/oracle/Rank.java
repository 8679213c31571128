package org.tp4j.tests.oracle;

import java.util.Arrays;
import java.util.List;
import org.tp4j.autograd.Tensors;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.comm.World;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** One rank of a test, and what it can learn from the others without the library. */
public final class Rank {
    private final World world;
    private final DeviceMesh mesh;
    private final CommunicationLog log;
    private final Object[] slots;

    Rank(World world, DeviceMesh mesh, CommunicationLog log, Object[] slots) {
        this.world = world;
        this.mesh = mesh;
        this.log = log;
        this.slots = slots;
    }

    /** This rank's number. */
    public int number() {
        return world.rank();
    }

    /** Number of ranks. */
    public int count() {
        return world.size();
    }

    /** The world. */
    public World world() {
        return world;
    }

    /** The mesh over all ranks. */
    public DeviceMesh mesh() {
        return mesh;
    }

    /** What this rank has communicated over the mesh. */
    public CommunicationLog log() {
        return log;
    }

    /** The backend. */
    public Backend backend() {
        return world.backend();
    }

    /** What every rank passes here, by rank, through plain Java memory. */
    @SuppressWarnings("unchecked")
    public <T> List<T> all(T mine) {
        slots[number()] = mine;
        world.group().barrier();
        List<T> result = (List<T>) Arrays.asList(slots.clone());
        world.group().barrier();
        return result;
    }

    /** A layout of tensors of {@code shape} on the whole mesh. */
    public Layout layout(Shape shape, Placement... placements) {
        return Layout.of(mesh, shape.dims(), placements);
    }

    /** A leaf in this layout, made of only this rank's part; terms of a pending reduction are drawn from the seed. */
    public DTensor place(Whole value, Layout layout, long seed) {
        double[] part =
                Denotation.split(layout, value.shape(), value.elements(), seed).get(number());
        Shape local = Denotation.shape(Denotation.box(layout, value.shape(), number()));
        Tensor plain = Whole.tensor(backend(), value.dtype(), part, local);
        return MeshBorder.trusted(plain, value.shape(), layout);
    }

    /** As {@link #place(Whole, Layout, long)} with placements by axis. */
    public DTensor place(Whole value, Placement... placements) {
        return place(value, layout(value.shape(), placements), 1);
    }

    /** The whole value that all ranks' parts of a tensor represent. */
    public double[] value(DTensor tensor) {
        return Denotation.join(
                tensor.layout(), tensor.shape(), all(tensor.local().toDoubles()));
    }

    /** As {@link #value(DTensor)}; of a plain tensor, which must be the same on every rank. */
    public double[] value(Tensor tensor) {
        if (tensor instanceof DTensor d) {
            return value(d);
        }
        double[] mine = tensor.toDoubles();
        for (double[] other : all(mine)) {
            if (!Arrays.equals(mine, other)) {
                throw new AssertionError("a plain tensor is " + Arrays.toString(mine) + " here and "
                        + Arrays.toString(other) + " elsewhere");
            }
        }
        return mine;
    }

    /** A plain float64 tensor. */
    public Tensor tensor(Shape shape, double... elements) {
        return Tensors.of(backend(), elements, shape.toArray());
    }
}
