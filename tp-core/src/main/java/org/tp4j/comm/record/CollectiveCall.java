package org.tp4j.comm.record;

import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * The signature of one call on one rank: what the ranks of a group have to agree on. The factories, one per collective,
 * check the arguments.
 *
 * @param kind which call
 * @param dtype element type; null if no data moves
 * @param shape shape of this rank's input (of the received array, for {@link Collective#RECEIVE})
 * @param sendCounts elements per rank: what each contributes or gets, or what goes to each; empty if the call has none
 * @param receiveCounts elements from each rank in {@link Collective#ALL_TO_ALL}, empty otherwise
 * @param op how values are reduced; null if they are not
 * @param root the root's or the peer's rank in the group; -1 if there is none
 */
@SuppressWarnings("ArrayRecordComponent") // read by this package and the engines, which never write them
public record CollectiveCall(
        Collective kind,
        @Nullable DType dtype,
        Shape shape,
        long[] sendCounts,
        long[] receiveCounts,
        @Nullable ReduceOp op,
        int root) {
    private static final long[] NO_COUNTS = {};

    /** A call without data. */
    public static CollectiveCall withoutData(Collective kind) {
        return new CollectiveCall(kind, null, Shape.of(0), NO_COUNTS, NO_COUNTS, null, -1);
    }

    /**
     * A checked {@link ProcessGroup#allReduce}.
     *
     * @throws CommunicationException if the arguments do not fit together; so do all factories
     */
    public static CollectiveCall allReduce(NdArray in, NdArray out, ReduceOp op) {
        CollectiveCall call = of(Collective.ALL_REDUCE, in, op, -1);
        call.check()
                .sameType(in, out)
                .outHolds(out, in.elements())
                .reducible(in, op)
                .inPlaceOrDisjoint(in, out, 0);
        return call;
    }

    /** A checked {@link ProcessGroup#allGather}. */
    public static CollectiveCall allGather(ProcessGroup group, NdArray in, NdArray out, long[] counts) {
        CollectiveCall call = counted(Collective.ALL_GATHER, in, counts, NO_COUNTS, null);
        call.check()
                .sameType(in, out)
                .counts(group, counts)
                .inHolds(in, counts[group.rank()])
                .outHolds(out, sum(counts, counts.length))
                .inPlaceOrDisjoint(in, out, -sum(counts, group.rank()));
        return call;
    }

    /** A checked {@link ProcessGroup#reduceScatter}. */
    public static CollectiveCall reduceScatter(
            ProcessGroup group, NdArray in, NdArray out, long[] counts, ReduceOp op) {
        CollectiveCall call = counted(Collective.REDUCE_SCATTER, in, counts, NO_COUNTS, op);
        call.check()
                .sameType(in, out)
                .counts(group, counts)
                .inHolds(in, sum(counts, counts.length))
                .outHolds(out, counts[group.rank()])
                .reducible(in, op)
                .inPlaceOrDisjoint(in, out, sum(counts, group.rank()));
        return call;
    }

    /** A checked {@link ProcessGroup#allToAll}. */
    public static CollectiveCall allToAll(
            ProcessGroup group, NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        CollectiveCall call = counted(Collective.ALL_TO_ALL, in, sendCounts, receiveCounts.clone(), null);
        ArgumentChecks checks = call.check()
                .sameType(in, out)
                .counts(group, sendCounts)
                .inHolds(in, sum(sendCounts, sendCounts.length))
                .counts(group, receiveCounts)
                .outHolds(out, sum(receiveCounts, receiveCounts.length));
        int me = group.rank();
        if (sendCounts[me] != receiveCounts[me]) {
            throw checks.refused(
                    "rank " + me + " sends itself " + sendCounts[me] + " elements and receives " + receiveCounts[me]);
        }
        if (ArgumentChecks.overlap(in, out)) {
            throw checks.refused(
                    "in and out share memory; HINT: allToAll cannot work in place, use another array for out");
        }
        return call;
    }

    /** A checked {@link ProcessGroup#broadcast}. */
    public static CollectiveCall broadcast(ProcessGroup group, NdArray array, int root) {
        CollectiveCall call = of(Collective.BROADCAST, array, null, root);
        call.check().rankExists(group);
        return call;
    }

    /** A checked {@link ProcessGroup#reduce}. */
    public static CollectiveCall reduce(ProcessGroup group, NdArray in, NdArray out, ReduceOp op, int root) {
        CollectiveCall call = of(Collective.REDUCE, in, op, root);
        ArgumentChecks checks = call.check().rankExists(group).sameType(in, out).reducible(in, op);
        if (call.writesOutput(group.rank())) {
            checks.outHolds(out, in.elements()).inPlaceOrDisjoint(in, out, 0);
        }
        return call;
    }

    /** A checked {@link ProcessGroup#send}. */
    public static CollectiveCall send(ProcessGroup group, NdArray array, int peer) {
        return message(Collective.SEND, group, array, peer);
    }

    /** A checked {@link ProcessGroup#receive}. */
    public static CollectiveCall receive(ProcessGroup group, NdArray array, int peer) {
        return message(Collective.RECEIVE, group, array, peer);
    }

    private static CollectiveCall message(Collective kind, ProcessGroup group, NdArray array, int peer) {
        CollectiveCall call = of(kind, array, null, peer);
        ArgumentChecks checks = call.check().rankExists(group);
        if (peer == group.rank()) {
            throw checks.refused("rank " + peer + " cannot be its own peer");
        }
        return call;
    }

    private static CollectiveCall of(Collective kind, NdArray array, @Nullable ReduceOp op, int root) {
        return new CollectiveCall(kind, array.dtype(), array.shape(), NO_COUNTS, NO_COUNTS, op, root);
    }

    private static CollectiveCall counted(
            Collective kind, NdArray in, long[] sendCounts, long[] receiveCounts, @Nullable ReduceOp op) {
        return new CollectiveCall(kind, in.dtype(), in.shape(), sendCounts.clone(), receiveCounts, op, -1);
    }

    private ArgumentChecks check() {
        return new ArgumentChecks(this);
    }

    private static long sum(long[] counts, int end) {
        long sum = 0;
        for (int i = 0; i < end; i++) {
            sum = Math.addExact(sum, counts[i]);
        }
        return sum;
    }

    /** Elements this rank contributes (or receives, for {@link Collective#RECEIVE}). */
    public long elements() {
        return dtype == null ? 0 : shape.elements();
    }

    /**
     * Elements of the whole value that moves: the sum of the counts where all ranks agree on them, otherwise what this
     * rank contributes.
     */
    public long wholeElements() {
        return kind.agreement() == Collective.Agreement.COUNTS ? sum(sendCounts, sendCounts.length) : elements();
    }

    /** Whether rank {@code rank} of the group writes its output array. */
    public boolean writesOutput(int rank) {
        return kind.writesOutput(rank, root);
    }

    /**
     * Whether this call of rank {@code me} and {@code that} of rank {@code other} belong together.
     *
     * <p>Kind, type, reduction and root must be the same; so must the shapes if all ranks contribute equally much
     * (all-reduce, reduce, broadcast), the counts if they are given, and the number of elements of a send and its receive.
     */
    public boolean agrees(int me, CollectiveCall that, int other) {
        if (kind.isPointToPoint()) {
            return that.kind.isPointToPoint() && dtype == that.dtype && elements() == that.elements();
        }
        if (kind != that.kind || dtype != that.dtype || op != that.op || root != that.root) {
            return false;
        }
        return switch (kind.agreement()) {
            case SHAPE -> shape.equals(that.shape);
            case COUNTS -> Arrays.equals(sendCounts, that.sendCounts);
            case PAIRWISE_COUNTS ->
                count(sendCounts, other) == count(that.receiveCounts, me)
                        && count(receiveCounts, other) == count(that.sendCounts, me);
            case KIND, ELEMENTS -> true;
        };
    }

    /**
     * What all ranks' calls have in common if they belong together, as text. Pairwise counts are not part of it and must
     * be compared separately.
     */
    String signature() {
        String common = kind + " " + dtype + " " + op + " " + root + " ";
        return switch (kind.agreement()) {
            case SHAPE -> common + shape;
            case COUNTS -> common + Arrays.toString(sendCounts);
            case ELEMENTS -> dtype + " " + elements();
            case PAIRWISE_COUNTS, KIND -> common;
        };
    }

    /** A hash of what all ranks' calls have in common if they belong together; the same in every process. */
    public int signatureHash() {
        // Of names, not of enum constants, whose hash codes differ between processes.
        int hash = kind.isPointToPoint()
                ? -1
                : kind.name().hashCode() + (op == null ? 0 : op.name().hashCode()) + root;
        hash = hash * 31 + (dtype == null ? 0 : dtype.name().hashCode());
        int rest = switch (kind.agreement()) {
            case SHAPE -> shape.hashCode();
            case COUNTS -> Arrays.hashCode(sendCounts);
            case ELEMENTS -> Long.hashCode(elements());
            case PAIRWISE_COUNTS, KIND -> 0;
        };
        hash = (hash * 31 + rest) * 0x9e3779b9;
        return hash ^ (hash >>> 15);
    }

    private static long count(long[] counts, int rank) {
        return rank >= counts.length ? -1 : counts[rank];
    }

    /** As a call, such as {@code allReduce(sum, float32 [2, 3])}. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(kind.toString()).append('(');
        if (op != null) {
            text.append(op.name().toLowerCase(Locale.ROOT)).append(", ");
        }
        if (dtype != null) {
            text.append(dtype).append(' ').append(shape);
        }
        if (receiveCounts.length > 0) {
            text.append(", to each ").append(Arrays.toString(sendCounts));
            text.append(", from each ").append(Arrays.toString(receiveCounts));
        } else if (sendCounts.length > 0) {
            text.append(", counts ").append(Arrays.toString(sendCounts));
        }
        if (dtype != null && !kind.rootLabel().isEmpty()) {
            text.append(", ").append(kind.rootLabel()).append(' ').append(root);
        }
        return text.append(')').toString();
    }
}
