package org.tp4j.comm.record;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.tensor.NdArray;

/** Turns the arguments of a {@link ProcessGroup} method into a {@link CollectiveCall}, or says what is wrong with them. */
public final class CallChecks {
    private CallChecks() {}

    public static CollectiveCall allReduce(NdArray in, NdArray out, ReduceOp op) {
        CollectiveCall call = CollectiveCall.of(Collective.ALL_REDUCE, in, op, -1);
        sameType(call, in, out);
        outHolds(call, out, in.elements());
        reducible(call, in, op);
        return apart(call, in, out, 0);
    }

    public static CollectiveCall allGather(ProcessGroup group, NdArray in, NdArray out, long[] counts) {
        CollectiveCall call = counted(Collective.ALL_GATHER, in, counts, null, null);
        sameType(call, in, out);
        long sum = sum(call, group, counts);
        inHolds(call, in, counts[group.rank()]);
        outHolds(call, out, sum);
        return apart(call, in, out, -before(counts, group.rank()));
    }

    public static CollectiveCall reduceScatter(
            ProcessGroup group, NdArray in, NdArray out, long[] counts, ReduceOp op) {
        CollectiveCall call = counted(Collective.REDUCE_SCATTER, in, counts, null, op);
        sameType(call, in, out);
        inHolds(call, in, sum(call, group, counts));
        outHolds(call, out, counts[group.rank()]);
        reducible(call, in, op);
        return apart(call, in, out, before(counts, group.rank()));
    }

    public static CollectiveCall allToAll(ProcessGroup group, NdArray in, long[] send, NdArray out, long[] receive) {
        CollectiveCall call = counted(Collective.ALL_TO_ALL, in, send, receive, null);
        sameType(call, in, out);
        inHolds(call, in, sum(call, group, send));
        outHolds(call, out, sum(call, group, receive));
        int me = group.rank();
        if (send[me] != receive[me]) {
            throw refuse(call, "rank " + me + " sends itself " + send[me] + " elements and receives " + receive[me]);
        }
        if (overlap(in, out)) {
            throw refuse(call, "in and out share memory; HINT: allToAll cannot work in place, give it another array");
        }
        return call;
    }

    public static CollectiveCall broadcast(ProcessGroup group, NdArray array, int root) {
        return rooted(CollectiveCall.of(Collective.BROADCAST, array, null, root), group);
    }

    public static CollectiveCall reduce(ProcessGroup group, NdArray in, NdArray out, ReduceOp op, int root) {
        CollectiveCall call = rooted(CollectiveCall.of(Collective.REDUCE, in, op, root), group);
        sameType(call, in, out);
        reducible(call, in, op);
        if (group.rank() != root) {
            return call;
        }
        outHolds(call, out, in.elements());
        return apart(call, in, out, 0);
    }

    public static CollectiveCall pointToPoint(ProcessGroup group, Collective kind, NdArray array, int peer) {
        CollectiveCall call = rooted(CollectiveCall.of(kind, array, null, peer), group);
        if (peer == group.rank()) {
            throw refuse(call, "rank " + peer + " cannot be its own peer");
        }
        return call;
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

    private static long sum(CollectiveCall call, ProcessGroup group, long[] counts) {
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
