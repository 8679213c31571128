package org.tp4j.comm.record;

import java.util.List;
import java.util.function.Supplier;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.tensor.NdArray;

/** A group that does something around each call of another group, and for the groups split from it. */
abstract class DecoratedGroup implements ProcessGroup {
    private final ProcessGroup inner;

    DecoratedGroup(ProcessGroup inner) {
        this.inner = inner;
    }

    /** Makes a call whose arguments are in order; {@code proceed} makes it on the group underneath. */
    abstract Work around(CollectiveCall call, Supplier<Work> proceed);

    /** Called before a call that the group underneath is going to refuse for its arguments. */
    void beforeRefusal(Collective kind, CommunicationException reason) {}

    /** Decorates a group split from this one. */
    abstract ProcessGroup decorate(ProcessGroup split);

    /** The group underneath. */
    final ProcessGroup inner() {
        return inner;
    }

    private Work call(Collective kind, Supplier<CollectiveCall> checked, Supplier<Work> proceed) {
        CollectiveCall call;
        try {
            call = checked.get();
        } catch (CommunicationException e) {
            beforeRefusal(kind, e);
            return proceed.get(); // which throws it again, and may have to tell others
        }
        return around(call, proceed);
    }

    @Override
    public final String name() {
        return inner.name();
    }

    @Override
    public final int rank() {
        return inner.rank();
    }

    @Override
    public final int size() {
        return inner.size();
    }

    @Override
    public final List<Integer> worldRanks() {
        return inner.worldRanks();
    }

    @Override
    public final Work allReduce(NdArray in, NdArray out, ReduceOp op) {
        return call(
                Collective.ALL_REDUCE, () -> CollectiveCall.allReduce(in, out, op), () -> inner.allReduce(in, out, op));
    }

    @Override
    public final Work allGather(NdArray in, NdArray out, long[] counts) {
        return call(
                Collective.ALL_GATHER,
                () -> CollectiveCall.allGather(this, in, out, counts),
                () -> inner.allGather(in, out, counts));
    }

    @Override
    public final Work reduceScatter(NdArray in, NdArray out, long[] counts, ReduceOp op) {
        return call(
                Collective.REDUCE_SCATTER,
                () -> CollectiveCall.reduceScatter(this, in, out, counts, op),
                () -> inner.reduceScatter(in, out, counts, op));
    }

    @Override
    public final Work allToAll(NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        return call(
                Collective.ALL_TO_ALL,
                () -> CollectiveCall.allToAll(this, in, sendCounts, out, receiveCounts),
                () -> inner.allToAll(in, sendCounts, out, receiveCounts));
    }

    @Override
    public final Work broadcast(NdArray array, int root) {
        return call(
                Collective.BROADCAST,
                () -> CollectiveCall.broadcast(this, array, root),
                () -> inner.broadcast(array, root));
    }

    @Override
    public final Work reduce(NdArray in, NdArray out, ReduceOp op, int root) {
        return call(
                Collective.REDUCE,
                () -> CollectiveCall.reduce(this, in, out, op, root),
                () -> inner.reduce(in, out, op, root));
    }

    @Override
    public final Work send(NdArray array, int peer) {
        return call(
                Collective.SEND,
                () -> CollectiveCall.pointToPoint(this, Collective.SEND, array, peer),
                () -> inner.send(array, peer));
    }

    @Override
    public final Work receive(NdArray array, int peer) {
        return call(
                Collective.RECEIVE,
                () -> CollectiveCall.pointToPoint(this, Collective.RECEIVE, array, peer),
                () -> inner.receive(array, peer));
    }

    @Override
    public final void barrier() {
        around(CollectiveCall.bare(Collective.BARRIER), () -> {
            inner.barrier();
            return Work.done();
        });
    }

    @Override
    public final ProcessGroup split(String name, int color, int key) {
        return formed(() -> inner.split(name, color, key));
    }

    @Override
    public final ProcessGroup partition(String name, List<List<Integer>> groups) {
        return formed(() -> inner.partition(name, groups));
    }

    private ProcessGroup formed(Supplier<ProcessGroup> split) {
        ProcessGroup[] made = new ProcessGroup[1];
        around(CollectiveCall.bare(Collective.SPLIT), () -> {
            made[0] = split.get();
            return Work.done();
        });
        return decorate(made[0]);
    }

    @Override
    public final void close() {
        inner.close();
    }
}
