package org.tp4j.comm.record;

import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ReduceOp;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * The signature of one call on one rank: what the ranks of a group have to agree on. Made by the factories of
 * {@link CallChecks}, which refuse arguments that no engine could carry out.
 *
 * @param kind which call
 * @param dtype element type; null where no data moves
 * @param shape shape of this rank's input (of the array received, for {@link Collective#RECEIVE})
 * @param sendCounts elements each rank brings, or those to each rank; null where the call has none
 * @param receiveCounts elements from each rank in {@link Collective#ALL_TO_ALL}, null otherwise
 * @param op how values are joined; null where they are not
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
}
