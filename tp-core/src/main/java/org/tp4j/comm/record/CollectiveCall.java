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
 * The signature of one call on one rank: what the ranks of a group have to agree on. The factories refuse arguments that no
 * engine could carry out.
 *
 * @param kind which call
 * @param dtype element type; null where no data moves
 * @param shape shape of this rank's input (of the array received, for {@link Collective#RECEIVE})
 * @param sendCounts elements each rank brings, or those to each rank; null where the call has none
 * @param receiveCounts elements from each rank in {@link Collective#ALL_TO_ALL}, null otherwise
 * @param op how values are reduced; null where they are not
 * @param root the root's or the peer's rank in the group; -1 where there is none
 */
@SuppressWarnings("ArrayRecordComponent") // made and read by this package and the engines, which never write them
public record CollectiveCall(
        Collective kind,
        @Nullable DType dtype,
        Shape shape,
        long @Nullable [] sendCounts,
        long @Nullable [] receiveCounts,
        @Nullable ReduceOp op,
        int root) {

    /** A call without data. */
    public static CollectiveCall bare(Collective kind) {
        return new CollectiveCall(kind, null, Shape.of(0), null, null, null, -1);
    }

    /** A call with one array a rank. */
    static CollectiveCall of(Collective kind, NdArray array, @Nullable ReduceOp op, int root) {
        return new CollectiveCall(kind, array.dtype(), array.shape(), null, null, op, root);
    }

    /**
     * An all-reduce; see {@link org.tp4j.comm.ProcessGroup#allReduce}.
     *
     * @throws CommunicationException if no engine could carry it out, saying what is wrong with the arguments
     */
    public static CollectiveCall allReduce(NdArray in, NdArray out, ReduceOp op) {
        CollectiveCall call = of(Collective.ALL_REDUCE, in, op, -1);
        sameType(call, in, out);
        outHolds(call, out, in.elements());
        reducible(call, in, op);
        return apart(call, in, out, 0);
    }

    /** As {@link #allReduce} for an all-gather. */
    public static CollectiveCall allGather(ProcessGroup group, NdArray in, NdArray out, long[] counts) {
        CollectiveCall call = counted(Collective.ALL_GATHER, in, counts, null, null);
        sameType(call, in, out);
        long sum = checkedSum(call, group, counts);
        inHolds(call, in, counts[group.rank()]);
        outHolds(call, out, sum);
        return apart(call, in, out, -before(counts, group.rank()));
    }

    /** As {@link #allReduce} for a reduce-scatter. */
    public static CollectiveCall reduceScatter(
            ProcessGroup group, NdArray in, NdArray out, long[] counts, ReduceOp op) {
        CollectiveCall call = counted(Collective.REDUCE_SCATTER, in, counts, null, op);
        sameType(call, in, out);
        inHolds(call, in, checkedSum(call, group, counts));
        outHolds(call, out, counts[group.rank()]);
        reducible(call, in, op);
        return apart(call, in, out, before(counts, group.rank()));
    }

    /** As {@link #allReduce} for an all-to-all. */
    public static CollectiveCall allToAll(ProcessGroup group, NdArray in, long[] send, NdArray out, long[] receive) {
        CollectiveCall call = counted(Collective.ALL_TO_ALL, in, send, receive, null);
        sameType(call, in, out);
        inHolds(call, in, checkedSum(call, group, send));
        outHolds(call, out, checkedSum(call, group, receive));
        int me = group.rank();
        if (send[me] != receive[me]) {
            throw refuse(call, "rank " + me + " sends itself " + send[me] + " elements and receives " + receive[me]);
        }
        if (overlap(in, out)) {
            throw refuse(call, "in and out share memory; HINT: allToAll cannot work in place, give it another array");
        }
        return call;
    }

    /** As {@link #allReduce} for a broadcast. */
    public static CollectiveCall broadcast(ProcessGroup group, NdArray array, int root) {
        return rooted(of(Collective.BROADCAST, array, null, root), group);
    }

    /** As {@link #allReduce} for a reduction to a root. */
    public static CollectiveCall reduce(ProcessGroup group, NdArray in, NdArray out, ReduceOp op, int root) {
        CollectiveCall call = rooted(of(Collective.REDUCE, in, op, root), group);
        sameType(call, in, out);
        reducible(call, in, op);
        if (group.rank() != root) {
            return call;
        }
        outHolds(call, out, in.elements());
        return apart(call, in, out, 0);
    }

    /** As {@link #allReduce} for a send or receive. */
    public static CollectiveCall pointToPoint(ProcessGroup group, Collective kind, NdArray array, int peer) {
        CollectiveCall call = rooted(of(kind, array, null, peer), group);
        if (peer == group.rank()) {
            throw refuse(call, "rank " + peer + " cannot be its own peer");
        }
        return call;
    }

    /** Elements this rank brings (or receives, for {@link Collective#RECEIVE}). */
    public long elements() {
        return dtype == null ? 0 : shape.elements();
    }

    /** Elements of the whole value that moves: what a gather gathers, otherwise what this rank brings. */
    public long wholeElements() {
        if (kind != Collective.ALL_GATHER || sendCounts == null) {
            return elements();
        }
        long sum = 0;
        for (long count : sendCounts) {
            sum += count;
        }
        return sum;
    }

    /**
     * Whether this call of rank {@code me} and {@code that} of rank {@code other} belong together.
     *
     * <p>Kind, type, reduction and root must be the same; so must the shapes where all ranks bring equally much
     * (all-reduce, reduce, broadcast), the counts where they are given, and the number of elements of a send and its
     * receive.
     */
    public boolean agrees(int me, CollectiveCall that, int other) {
        if (kind.isPointToPoint()) {
            return that.kind.isPointToPoint() && dtype == that.dtype && elements() == that.elements();
        }
        if (kind != that.kind || dtype != that.dtype || op != that.op || root != that.root) {
            return false;
        }
        return switch (kind) {
            case ALL_REDUCE, REDUCE, BROADCAST -> shape.equals(that.shape);
            case ALL_GATHER, REDUCE_SCATTER -> Arrays.equals(sendCounts, that.sendCounts);
            case ALL_TO_ALL ->
                count(sendCounts, other) == count(that.receiveCounts, me)
                        && count(receiveCounts, other) == count(that.sendCounts, me);
            case SEND, RECEIVE, BARRIER, SPLIT -> true;
        };
    }

    /** What all ranks' calls have in common if they belong together, as text; all-to-all needs its counts compared too. */
    String signature() {
        String common = kind + " " + dtype + " " + op + " " + root + " ";
        return switch (kind) {
            case ALL_REDUCE, REDUCE, BROADCAST -> common + shape;
            case ALL_GATHER, REDUCE_SCATTER -> common + Arrays.toString(sendCounts);
            case SEND, RECEIVE -> dtype + " " + elements();
            case ALL_TO_ALL, BARRIER, SPLIT -> common;
        };
    }

    /** A hash of what all ranks' calls have in common if they belong together. */
    public int signatureHash() {
        // Of names, not of enum constants: every process must come to the same.
        int hash = kind.isPointToPoint()
                ? -1
                : kind.name().hashCode() + (op == null ? 0 : op.name().hashCode()) + root;
        hash = hash * 31 + (dtype == null ? 0 : dtype.name().hashCode());
        int rest = switch (kind) {
            case ALL_REDUCE, REDUCE, BROADCAST -> shape.hashCode();
            case ALL_GATHER, REDUCE_SCATTER -> Arrays.hashCode(sendCounts);
            case SEND, RECEIVE -> Long.hashCode(elements());
            case ALL_TO_ALL, BARRIER, SPLIT -> 0;
        };
        hash = (hash * 31 + rest) * 0x9e3779b9;
        return hash ^ (hash >>> 15);
    }

    private static long count(long @Nullable [] counts, int rank) {
        return counts == null || rank >= counts.length ? -1 : counts[rank];
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
        if (kind == Collective.ALL_TO_ALL) {
            text.append(", to each ").append(Arrays.toString(sendCounts));
            text.append(", from each ").append(Arrays.toString(receiveCounts));
        } else if (sendCounts != null) {
            text.append(", counts ").append(Arrays.toString(sendCounts));
        }
        switch (kind) {
            case BROADCAST, REDUCE -> text.append(", root ").append(root);
            case SEND -> text.append(", to rank ").append(root);
            case RECEIVE -> text.append(", from rank ").append(root);
            default -> {}
        }
        return text.append(')').toString();
    }

    private static CollectiveCall counted(
            Collective kind, NdArray in, long[] counts, long @Nullable [] receive, @Nullable ReduceOp op) {
        long[] copy = receive == null ? null : receive.clone();
        return new CollectiveCall(kind, in.dtype(), in.shape(), counts.clone(), copy, op, -1);
    }

    private static CollectiveCall rooted(CollectiveCall call, ProcessGroup group) {
        int root = call.root();
        if (root < 0 || root >= group.size()) {
            int inGroup = group.worldRanks().indexOf(root);
            throw refuse(
                    call,
                    "group '" + group.name() + "' has ranks 0 to " + (group.size() - 1)
                            + "; HINT: ranks in arguments are counted within the group"
                            + (inGroup < 0 ? "" : ": world rank " + root + " is rank " + inGroup + " of it"));
        }
        return call;
    }

    private static void sameType(CollectiveCall call, NdArray in, NdArray out) {
        if (in.dtype() != out.dtype()) {
            throw refuse(call, "in is of type " + in.dtype() + " and out of type " + out.dtype());
        }
    }

    private static long checkedSum(CollectiveCall call, ProcessGroup group, long[] counts) {
        if (counts.length != group.size()) {
            throw refuse(
                    call,
                    "counts " + Arrays.toString(counts) + " are not one for each of the " + group.size()
                            + " ranks of group '" + group.name() + "'");
        }
        long sum = 0;
        for (long count : counts) {
            if (count < 0) {
                throw refuse(call, "counts " + Arrays.toString(counts) + " hold a negative number");
            }
            sum = Math.addExact(sum, count);
        }
        return sum;
    }

    private static long before(long[] counts, int rank) {
        long sum = 0;
        for (int i = 0; i < rank; i++) {
            sum += counts[i];
        }
        return sum;
    }

    private static void inHolds(CollectiveCall call, NdArray in, long expected) {
        if (in.elements() != expected) {
            throw refuse(call, "in holds " + in.elements() + " elements where " + expected + " are called for");
        }
    }

    private static void outHolds(CollectiveCall call, NdArray out, long expected) {
        if (out.elements() != expected) {
            throw refuse(call, "out holds " + out.elements() + " elements where " + expected + " are called for");
        }
    }

    private static void reducible(CollectiveCall call, NdArray in, ReduceOp op) {
        if (op == ReduceOp.AVG && !in.dtype().isFloating()) {
            throw refuse(call, "an average exists for floating-point types only, not for " + in.dtype());
        }
    }

    /** Arrays may be the same elements (out {@code distance} elements into in) or apart, never half over each other. */
    private static CollectiveCall apart(CollectiveCall call, NdArray in, NdArray out, long distance) {
        if (overlap(in, out) && out.offset() - in.offset() != distance) {
            throw refuse(
                    call,
                    "in and out overlap without being the same elements; HINT: work in place with out"
                            + " exactly where its elements lie in in (or in's in out), or in another array");
        }
        return call;
    }

    private static boolean overlap(NdArray a, NdArray b) {
        return a.storage() == b.storage()
                && a.elements() > 0
                && b.elements() > 0
                && a.offset() < b.offset() + b.elements()
                && b.offset() < a.offset() + a.elements();
    }

    private static CommunicationException refuse(CollectiveCall call, String why) {
        return new CommunicationException(call + " is refused: " + why);
    }
}
