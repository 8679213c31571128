package org.tp4j.autograd;

import java.util.List;
import java.util.function.Function;
import org.tp4j.autograd.internal.EagerTensor;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.mesh.Axis;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Brings tensors onto a mesh. */
public final class DTensors {
    private DTensors() {}

    private static boolean recording() {
        return ExecutionContext.current().gradientsRecorded();
    }

    /**
     * A tensor that every rank holds whole, laid out on a mesh; no communication but the comparison of its content the
     * first time.
     */
    public static DTensor distribute(Tensor whole, DeviceMesh mesh, Placement... placements) {
        return distribute(whole, Layout.of(mesh, whole.shape().dims(), placements));
    }

    /** As {@link #distribute(Tensor, DeviceMesh, Placement...)} with a whole layout, which may hold a cut order. */
    public static DTensor distribute(Tensor whole, Layout layout) {
        return MeshBorder.meet(MeshBorder.plain(whole, "distribute"), layout.mesh(), "distribute", 0, recording())
                .redistribute(layout);
    }

    /**
     * A tensor made of the ranks' parts: shapes along the mesh add up to the whole. Collective; every rank's shape and type
     * are compared, and must be what the layout gives.
     *
     * @throws LayoutException on every rank if they do not fit
     */
    public static DTensor fromLocal(Tensor local, DeviceMesh mesh, Placement... placements) {
        EagerTensor part = MeshBorder.plain(local, "fromLocal");
        Layout layout = Layout.of(mesh, local.shape().dims(), placements);
        Shape global = LocalShapes.whole(local, layout);
        MeshBorder.agreeOnWhole(part, layout);
        return MeshBorder.enter(part, global, layout, recording());
    }

    /**
     * As {@link #fromLocal(Tensor, DeviceMesh, Placement...)} for a known shape of the whole.
     *
     * @param global shape of the whole tensor
     */
    public static DTensor fromLocal(Tensor local, Shape global, Layout layout) {
        EagerTensor part = MeshBorder.plain(local, "fromLocal");
        LocalShapes.check(local, global, layout);
        MeshBorder.agreeOnWhole(part, layout);
        return MeshBorder.enter(part, global, layout, recording());
    }

    /**
     * Runs a function on this rank's parts; its result is trusted to be laid out as {@code out}.
     *
     * @param in layouts the arguments must have; their gradients are trusted to be laid out as the duals
     * @param out layout of the result, and its shape as a whole
     * @param arguments tensors on the mesh
     */
    public static DTensor localMap(
            Function<List<Tensor>, Tensor> function,
            List<Layout> in,
            Layout out,
            Shape outShape,
            DTensor... arguments) {
        if (in.size() != arguments.length) {
            throw new IllegalArgumentException(
                    "localMap: " + in.size() + " layouts for " + arguments.length + " arguments");
        }
        Tensor[] locals = new Tensor[arguments.length];
        for (int i = 0; i < locals.length; i++) {
            Layout layout = arguments[i].layout();
            if (!layout.equals(in.get(i))) {
                throw new LayoutException(
                        "localMap",
                        "localMap: argument " + i + " is laid out " + layout + ", but the function takes " + in.get(i)
                                + "; HINT: redistribute it first");
            }
            locals[i] = arguments[i].toLocal(layout.dual().placements().toArray(new Placement[0]));
        }
        return fromLocal(function.apply(List.of(locals)), outShape, out);
    }

    /** Shapes of ranks' parts. */
    private static final class LocalShapes {
        private static final int MOST_DIMS = 8;

        private LocalShapes() {}

        private static long[] describe(Tensor local) {
            long[] facts = new long[MOST_DIMS + 2];
            facts[0] = local.dtype().ordinal();
            facts[1] = local.shape().dims();
            for (int d = 0; d < Math.min(MOST_DIMS, local.shape().dims()); d++) {
                facts[2 + d] = local.shape().size(d);
            }
            return facts;
        }

        /** The whole shape, from all ranks' parts. */
        static Shape whole(Tensor local, Layout layout) {
            Shape shape = local.shape();
            boolean fits = true;
            StringBuilder found = new StringBuilder();
            for (int a = layout.placements().size() - 1; a >= 0; a--) {
                Axis axis = layout.mesh().axis(a);
                long[] mine = describe(local);
                for (int d = 0; d < shape.dims(); d++) {
                    mine[2 + d] = shape.size(d); // with the inner axes already joined
                }
                long[] all = MeshBorder.exchange(axis, local.local(), mine);
                int cut = layout.placement(a) instanceof Shard s ? s.dim() : -1;
                long sum = 0;
                found.append(" axis '").append(axis.name()).append("':");
                for (int r = 0; r < axis.size(); r++) {
                    long[] theirs = java.util.Arrays.copyOfRange(all, r * mine.length, (r + 1) * mine.length);
                    found.append(r == 0 ? " " : ", ").append(text(theirs));
                    fits &= theirs[0] == all[0] && theirs[1] == all[1];
                    for (int d = 0; d < MOST_DIMS; d++) {
                        fits &= d == cut || theirs[2 + d] == all[2 + d];
                    }
                    sum += cut >= 0 ? theirs[2 + cut] : 0;
                }
                if (fits && cut >= 0) {
                    Shard s = (Shard) layout.placement(a);
                    for (int r = 0; r < axis.size(); r++) {
                        fits &= all[r * mine.length + 2 + cut] == s.count(sum, r, axis.size());
                    }
                    shape = shape.with(cut, sum);
                }
            }
            if (!fits) {
                throw mismatch(layout, found, "the sizes, dimensions or types do not fit together");
            }
            return shape;
        }

        private static String text(long[] facts) {
            long[] sizes = java.util.Arrays.copyOfRange(facts, 2, 2 + (int) Math.min(MOST_DIMS, facts[1]));
            return org.tp4j.tensor.DType.values()[(int) facts[0]] + java.util.Arrays.toString(sizes);
        }

        /** Checks on every rank that all ranks' parts are what the layout gives. */
        static void check(Tensor local, Shape global, Layout layout) {
            boolean fits = layout.localShape(global).equals(local.shape());
            StringBuilder found = new StringBuilder();
            long verdict = fits ? 1 : 0;
            for (Axis axis : layout.mesh().axes()) {
                long[] mine = describe(local);
                long[] facts = java.util.Arrays.copyOf(mine, mine.length + 1);
                facts[mine.length] = verdict;
                long[] all = MeshBorder.exchange(axis, local.local(), facts);
                found.append(" axis '").append(axis.name()).append("':");
                for (int r = 0; r < axis.size(); r++) {
                    long[] theirs = java.util.Arrays.copyOfRange(all, r * facts.length, (r + 1) * facts.length);
                    found.append(r == 0 ? " " : ", ").append(text(theirs));
                    verdict &= theirs[mine.length] & (theirs[0] == all[0] ? 1 : 0);
                }
            }
            if (verdict == 0) {
                throw mismatch(layout, found, "the whole is given as " + global);
            }
        }

        private static LayoutException mismatch(Layout layout, StringBuilder found, String why) {
            return new LayoutException(
                    "fromLocal",
                    "fromLocal as " + layout + ": " + why + "; the ranks hold" + found
                            + "; HINT: rank r of p holds ceil(n/p) elements of the cut dimension, the last ranks fewer or none");
        }
    }
}
