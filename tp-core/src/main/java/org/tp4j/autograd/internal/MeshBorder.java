package org.tp4j.autograd.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.GroupNumbers;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Partial;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.layout.internal.RedistributePlan;
import org.tp4j.layout.internal.Transfers;
import org.tp4j.mesh.Axis;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** How plain tensors enter a mesh and leave it, with their gradients. */
public final class MeshBorder {
    /**
     * System property: compares plain tensors over the ranks each time they meet a mesh, not only once per place in the
     * code.
     */
    private static final boolean CHECK_ALWAYS = Boolean.getBoolean("tp4j.checking");

    private MeshBorder() {}

    /** A plain tensor that met a mesh, for messages. */
    private record Met(String operation, int operand, DType dtype, Shape shape) {
        @Override
        public String toString() {
            return "plain tensor " + dtype + shape + ", operand " + operand + " of " + operation + ",";
        }
    }

    /** A tensor declared as whole along an axis, for messages. */
    private record Declared(Axis axis, DType dtype, Shape shape) {
        @Override
        public String toString() {
            return "tensor " + dtype + shape + ", which is whole on mesh axis '" + axis.name() + "',";
        }
    }

    /** Where a plain tensor meets a mesh. */
    private record Meeting(DeviceMesh mesh, String module, String operation, int operand) {}

    /**
     * A plain tensor met by tensors on a mesh counts as Invariant. Its content is compared over the axes at the first
     * time at each place in the code, so that ranks fed different data are reported. The same tensor results the next time,
     * so that what it is redistributed to (the input of q, k and v) is shared as well.
     */
    public static MeshTensor meet(
            EagerTensor plain, DeviceMesh mesh, String operation, int operand, boolean recording) {
        if (!plain.isNumber() && !ExecutionContext.current().isAlone()) {
            String module = ExecutionContext.current().modulePath();
            boolean first = mesh.cache().put(new Meeting(mesh, module, operation, operand), Boolean.TRUE) == null;
            if (first || CHECK_ALWAYS) {
                compare(plain, mesh, module, operation, operand);
            }
            Agreed agreed = Agreed.on(mesh);
            if (agreed.isOn() && Agreed.isCheapToHash(plain.array())) {
                long start = System.nanoTime();
                Met met = new Met(operation, operand, plain.dtype(), plain.shape());
                agreed.content(met, module, plain.contentHash());
                agreed.ledger().spent(System.nanoTime() - start);
            }
        }
        MeshTensor earlier = plain.met();
        boolean tracked = recording && plain.requiresGrad();
        if (earlier != null && earlier.layout().mesh().equals(mesh) && (earlier.node() != null) == tracked) {
            return earlier;
        }
        Layout layout = Layout.uniform(mesh, plain.shape().dims(), Placement.invariant());
        MeshTensor entered = enter(plain, plain.shape(), layout, recording);
        plain.noteMet(entered);
        return entered;
    }

    private static void compare(EagerTensor plain, DeviceMesh mesh, String module, String operation, int operand) {
        for (Axis axis : mesh.axes()) {
            if (axis.size() == 1 || !plain.backend().holdsValues()) {
                continue;
            }
            long[] all = exchange(axis, plain.local(), new long[] {hash(plain.local())});
            for (int r = 1; r < all.length; r++) {
                if (all[r] != all[0]) {
                    throw new LayoutException(
                            operation,
                            operation + (module.isEmpty() ? "" : " in module '" + module + "'")
                                    + ": operand " + operand + ", a plain tensor " + plain.dtype() + plain.shape()
                                    + ", counts as Invariant, but ranks 0 and " + r + " of mesh axis '" + axis.name()
                                    + "' hold different data; HINT: feed every rank of '" + axis.name()
                                    + "' the same data, or declare it with DTensors.fromLocal(tensor, mesh, placements)");
                }
            }
        }
    }

    /** A hash of type, shape and elements. */
    static long hash(NdArray array) {
        CRC32C crc = new CRC32C();
        long bytes = array.elements() * array.dtype().bytes();
        int piece = 1 << 20;
        int step = piece / array.dtype().bytes();
        ByteBuffer buffer = ByteBuffer.allocate((int) Math.min(bytes, piece)).order(ByteOrder.LITTLE_ENDIAN);
        for (long at = 0; at < array.elements(); at += step) {
            long n = Math.min(step, array.elements() - at);
            buffer.clear().limit((int) n * array.dtype().bytes());
            array.backend().copyOut(array.window(at, Shape.of(n)), buffer);
            crc.update(buffer.flip());
        }
        return (crc.getValue() << 20) ^ array.shape().hashCode() ^ array.dtype().ordinal();
    }

    /**
     * Every rank's numbers along an axis, in rank order; on a backend without values, all ranks are assumed to be alike.
     */
    public static long[] exchange(Axis axis, NdArray onBackendOf, long[] mine) {
        int p = axis.size();
        if (!onBackendOf.backend().holdsValues()) {
            long[] alike = new long[mine.length * p];
            for (int r = 0; r < p; r++) {
                System.arraycopy(mine, 0, alike, r * mine.length, mine.length);
            }
            return alike;
        }
        return GroupNumbers.allGather(axis.group(), onBackendOf.backend(), mine);
    }

    /** A plain tensor as this rank's part of a tensor on a mesh; its gradient is this rank's part of the gradient. */
    public static MeshTensor enter(EagerTensor plain, Shape global, Layout layout, boolean recording) {
        MeshTensor result = new MeshTensor(plain.array(), global, layout);
        if (recording && plain.requiresGrad()) {
            result.computedBy(new Entered(plain));
        }
        return result;
    }

    /**
     * A tensor made of the ranks' parts without communication: only this rank's part is checked, the others are trusted to
     * be what the layout gives.
     */
    public static DTensor trusted(Tensor local, Shape global, Layout layout) {
        EagerTensor part = plain(local, "trusted");
        if (!layout.localShape(global).equals(local.shape())) {
            throw new LayoutException(
                    "trusted",
                    "trusted: a tensor of shape " + global + " laid out " + layout + " has "
                            + layout.localShape(global) + " on this rank, but " + local.shape()
                            + " is given; HINT: rank r of p holds ceil(n/p) elements of the cut dimension,"
                            + " the last ranks fewer or none");
        }
        return enter(part, global, layout, ExecutionContext.current().gradientsRecorded());
    }

    /** The tensor, which must be on no mesh. */
    public static EagerTensor plain(Tensor tensor, String operation) {
        if (tensor instanceof DTensor d) {
            throw new LayoutException(
                    operation,
                    operation + " takes a tensor that is on no mesh, but this one is laid out " + d.layout()
                            + "; HINT: redistribute(...) changes a layout, toLocal(...) leaves the mesh");
        }
        return (EagerTensor) tensor;
    }

    /** A model parameter whose pending products are held as their operations choose. */
    public static DTensor parameter(NdArray local, Shape global, Layout layout) {
        return parameter(local, global, layout, null);
    }

    /** A leaf on a mesh that is a model parameter: promoted from Invariant where each rank uses it differently. */
    public static DTensor parameter(NdArray local, Shape global, Layout layout, @Nullable DType reduceType) {
        MeshTensor leaf = new MeshTensor(local, global, layout);
        leaf.markParameter(reduceType);
        leaf.requiresGrad(true);
        return leaf;
    }

    /** The ranks along an axis on which a tensor is declared as whole hold the same. */
    public static void agreeOnWhole(EagerTensor plain, Layout layout) {
        for (int a = 0; a < layout.placements().size(); a++) {
            Axis axis = layout.mesh().axis(a);
            if (layout.placement(a).isWhole()
                    && axis.size() > 1
                    && plain.met() == null
                    && Agreed.isCheapToHash(plain.array())) {
                Agreed agreed = Agreed.on(layout.mesh());
                if (agreed.isOn()) {
                    agreed.contentAlong(axis, new Declared(axis, plain.dtype(), plain.shape()), plain.contentHash());
                }
            }
        }
    }

    /** This rank's part as a plain tensor, whose gradient is laid out as declared. */
    static EagerTensor leave(MeshTensor tensor, Layout gradient) {
        Layout layout = tensor.layout();
        for (int a = 0; a < layout.placements().size(); a++) {
            Placement p = layout.placement(a);
            Placement g = gradient.placement(a);
            boolean fits = p instanceof Shard ? g.equals(p) : g.isWhole() || g.isPartialSum();
            if (!fits || p instanceof Partial pending && !pending.isPartialSum() && tensor.requiresGrad()) {
                throw new LayoutException(
                        "toLocal",
                        "toLocal: on mesh axis '" + layout.mesh().axis(a).name()
                                + "' the tensor is " + p + ", so its gradient cannot be " + g + "; HINT: it is "
                                + p.dual() + " in general, or Invariant if every rank goes on identically");
            }
        }
        EagerTensor result = new EagerTensor(tensor.array());
        if (ExecutionContext.current().gradientsRecorded() && tensor.requiresGrad()) {
            result.computedBy(new Left(tensor, gradient));
        }
        return result;
    }

    /** The tape's step of {@link #enter}. */
    private static final class Entered extends Node {
        Entered(EagerTensor plain) {
            super(new @Nullable Edge[] {Edge.to(plain)});
        }

        @Override
        String name() {
            return "fromLocal";
        }

        @Override
        void backward(BackwardPass pass, EagerTensor gradient) {
            Edge edge = edges()[0];
            if (edge != null) {
                pass.deliver(this, edge, new EagerTensor(gradient.array()));
            }
        }
    }

    /** The tape's step of {@link #leave}. */
    private static final class Left extends Node {
        private final Shape global;
        private final Layout declared;
        private final Layout due;

        Left(MeshTensor tensor, Layout declared) {
            super(new @Nullable Edge[] {Edge.to(tensor)});
            this.global = tensor.shape();
            this.declared = declared;
            this.due = tensor.layout().dual();
        }

        @Override
        String name() {
            return "toLocal";
        }

        @Override
        void backward(BackwardPass pass, EagerTensor gradient) {
            Edge edge = edges()[0];
            if (edge != null) {
                NdArray array = gradient.array();
                for (RedistributePlan.Step step : RedistributePlan.steps(declared, due, global.dims())) {
                    array = Transfers.apply(step, array, global);
                }
                pass.deliver(this, edge, new MeshTensor(array, global, due));
            }
        }
    }
}
