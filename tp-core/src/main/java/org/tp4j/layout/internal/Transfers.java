package org.tp4j.layout.internal;

import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Partial;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.layout.Transition;
import org.tp4j.mesh.Axis;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Pending;
import org.tp4j.tensor.Shape;

/**
 * Applies one row of {@link Transition} to this rank's array.
 *
 * <p>Collectives work on flat runs of elements, so a cut along a dimension other than the first is packed before or
 * unpacked after. The result may still be arriving; {@link NdArray#await()} waits for it and unpacks it.
 */
public final class Transfers {
    private Transfers() {}

    /**
     * Applies a step to this rank's array.
     *
     * @param local this rank's array under {@code step.before()}
     * @param global shape of the whole tensor
     * @return this rank's array under {@code step.after()}; it may share memory with {@code local}
     */
    public static NdArray apply(RedistributePlan.Step step, NdArray local, Shape global) {
        Transition row = step.transition();
        Axis axis = step.before().mesh().axis(step.axis());
        ProcessGroup group = axis.group();
        return switch (row.move()) {
            case IDENTITY -> local;
            case ALL_REDUCE -> allReduce(local, group, ((Partial) row.from()).op());
            case ALL_GATHER -> allGather(local, (Shard) row.from(), uncut(step.before(), step.axis(), global), group);
            case REDUCE_SCATTER -> reduceScatter(local, (Shard) row.to(), group, ((Partial) row.from()).op());
            case ALL_TO_ALL ->
                allToAll(local, (Shard) row.from(), (Shard) row.to(), uncut(step.before(), step.axis(), global), group);
            case SLICE -> {
                Shard to = (Shard) row.to();
                long n = local.shape().size(to.dim());
                checkUnits(n, to, global);
                yield Boxes.narrow(
                        local,
                        to.dim(),
                        to.begin(n, axis.coordinate(), axis.size()),
                        to.count(n, axis.coordinate(), axis.size()));
            }
            case ZERO_ALL_BUT_FIRST -> axis.coordinate() == 0 ? local : zeros(local, local.shape());
            case ZERO_PAD -> {
                Shard from = (Shard) row.from();
                long n = uncut(step.before(), step.axis(), global);
                NdArray padded = zeros(local, local.shape().with(from.dim(), n));
                Boxes.insert(local.await(), padded, from.dim(), from.begin(n, axis.coordinate(), axis.size()));
                yield padded;
            }
        };
    }

    /** The array as another type, once it has arrived. */
    public static NdArray converted(NdArray array, DType dtype) {
        NdArray result = NdArray.allocate(array.backend(), dtype, array.shape());
        return result.setPending(new Once(array::await) {
            @Override
            void finish() {
                array.backend().elementwise().cast(array, result);
            }
        });
    }

    /** Size of the cut dimension before this axis cut it. */
    private static long uncut(Layout layout, int axis, Shape global) {
        int dim = ((Shard) layout.placement(axis)).dim();
        return layout.with(axis, Placement.replicate()).localShape(global).size(dim);
    }

    private static void checkUnits(long n, Shard shard, Shape global) {
        if (n % shard.unit() != 0) {
            throw new LayoutException(
                    "redistribute",
                    "redistribute: " + n + " elements along dimension " + shard.dim() + " of shape " + global
                            + " are not whole units for " + shard);
        }
    }

    private static NdArray zeros(NdArray like, Shape shape) {
        return NdArray.full(like.backend(), like.dtype(), shape, 0);
    }

    private static NdArray allReduce(NdArray local, ProcessGroup group, ReduceOp op) {
        NdArray result = NdArray.allocate(local.backend(), local.dtype(), local.shape());
        return result.setPending(group.allReduce(local.await(), result, op));
    }

    private static long[] counts(Shard shard, long n, int ranks, long others) {
        long[] counts = new long[ranks];
        for (int r = 0; r < ranks; r++) {
            counts[r] = shard.count(n, r, ranks) * others;
        }
        return counts;
    }

    private static long others(Shape shape, int dim) {
        return shape.product(0, dim) * shape.product(dim + 1, shape.dims());
    }

    private static NdArray allGather(NdArray local, Shard from, long n, ProcessGroup group) {
        int dim = from.dim();
        Shape whole = local.shape().with(dim, n);
        NdArray flat = NdArray.allocate(local.backend(), local.dtype(), whole);
        long[] counts = counts(from, n, group.size(), others(whole, dim));
        Work work = group.allGather(local.await(), flat, counts);
        if (whole.product(0, dim) <= 1) {
            return flat.setPending(work);
        }
        NdArray result = NdArray.allocate(local.backend(), local.dtype(), whole);
        return result.setPending(new Once(work) {
            @Override
            void finish() {
                long at = 0;
                for (int r = 0; r < group.size(); r++) {
                    Shape piece = whole.with(dim, from.count(n, r, group.size()));
                    Boxes.insert(flat.window(at, piece), result, dim, from.begin(n, r, group.size()));
                    at += piece.elements();
                }
            }
        });
    }

    private static NdArray reduceScatter(NdArray local, Shard to, ProcessGroup group, ReduceOp op) {
        int dim = to.dim();
        long n = local.shape().size(dim);
        checkUnits(n, to, local.shape());
        NdArray packed = pack(local.await(), to, n, group.size());
        Shape mine = local.shape().with(dim, to.count(n, group.rank(), group.size()));
        NdArray result = NdArray.allocate(local.backend(), local.dtype(), mine);
        long[] counts = counts(to, n, group.size(), others(local.shape(), dim));
        return result.setPending(group.reduceScatter(packed, result, counts, op));
    }

    /** The pieces along the shard's dimension, concatenated. */
    private static NdArray pack(NdArray array, Shard shard, long n, int ranks) {
        int dim = shard.dim();
        if (array.shape().product(0, dim) <= 1) {
            return array;
        }
        NdArray packed = NdArray.allocate(array.backend(), array.dtype(), array.shape());
        long at = 0;
        for (int r = 0; r < ranks; r++) {
            Shape piece = array.shape().with(dim, shard.count(n, r, ranks));
            long[] from = new long[piece.dims()];
            from[dim] = shard.begin(n, r, ranks);
            Boxes.copy(array, from, packed.window(at, piece), new long[piece.dims()], piece);
            at += piece.elements();
        }
        return packed;
    }

    private static NdArray allToAll(NdArray local, Shard from, Shard to, long n, ProcessGroup group) {
        int p = group.size();
        long m = local.shape().size(to.dim());
        checkUnits(m, to, local.shape());
        Shape result = local.shape().with(from.dim(), n).with(to.dim(), to.count(m, group.rank(), p));
        NdArray packed = pack(local.await(), to, m, p);
        NdArray received = NdArray.allocate(local.backend(), local.dtype(), result);
        long[] send = counts(to, m, p, others(local.shape(), to.dim()));
        long[] receive = counts(from, n, p, others(result, from.dim()));
        Work work = group.allToAll(packed, send, received, receive);
        NdArray out = NdArray.allocate(local.backend(), local.dtype(), result);
        return out.setPending(new Once(work) {
            @Override
            void finish() {
                long at = 0;
                for (int r = 0; r < p; r++) {
                    Shape piece = result.with(from.dim(), from.count(n, r, p));
                    Boxes.insert(received.window(at, piece), out, from.dim(), from.begin(n, r, p));
                    at += piece.elements();
                }
            }
        });
    }

    /** Waits for the work and unpacks what arrived, once. */
    private abstract static class Once implements Pending {
        private final Pending work;
        private boolean finished;

        Once(Pending work) {
            this.work = work;
        }

        abstract void finish();

        @Override
        public void await() {
            if (!finished) {
                work.await();
                finished = true;
                finish();
            }
        }
    }
}
