package org.tp4j.comm.record;

import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.internal.agreement.Ledger;
import org.tp4j.tensor.NdArray;

/**
 * Skeleton of engines and of decorators: turns each method of {@link ProcessGroup} into one {@link Invocation}, so that
 * what they do around every collective is written once. This file alone pairs a collective's method with its check and
 * with the method that starts it.
 */
public abstract class AbstractProcessGroup implements ProcessGroup {
    /** Starts collectives whose arguments have been checked. The work marks {@code record} as done or failed. */
    public interface Engine {
        /** Starts {@link ProcessGroup#allReduce}. */
        Work startAllReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op);

        /** Starts {@link ProcessGroup#allGather}. */
        Work startAllGather(CallRecord record, NdArray in, NdArray out, long[] counts);

        /** Starts {@link ProcessGroup#reduceScatter}. */
        Work startReduceScatter(CallRecord record, NdArray in, NdArray out, long[] counts, ReduceOp op);

        /** Starts {@link ProcessGroup#allToAll}. */
        Work startAllToAll(CallRecord record, NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts);

        /** Starts {@link ProcessGroup#broadcast}. */
        Work startBroadcast(CallRecord record, NdArray array, int root);

        /** Starts {@link ProcessGroup#reduce}; {@code out} is written on the root only. */
        Work startReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op, int root);

        /** Starts {@link ProcessGroup#send}. */
        Work startSend(CallRecord record, NdArray array, int peer);

        /** Starts {@link ProcessGroup#receive}. */
        Work startReceive(CallRecord record, NdArray array, int peer);

        /** Starts {@link ProcessGroup#barrier}. */
        Work startBarrier(CallRecord record);
    }

    /**
     * One call, its arguments not yet checked.
     *
     * @param kind which call
     * @param in what this rank contributes, null if nothing
     * @param out where the result goes, which may be {@code in}; null if nowhere
     * @param checked checks the arguments
     * @param start starts the call on an engine, once checked and recorded
     * @param repeat makes the same call on another group
     */
    protected record Invocation(
            Collective kind,
            @Nullable NdArray in,
            @Nullable NdArray out,
            Supplier<CollectiveCall> checked,
            BiFunction<Engine, CallRecord, Work> start,
            Function<ProcessGroup, Work> repeat) {}

    /** For subclasses. */
    protected AbstractProcessGroup() {}

    /** What this rank has done that others must have done as well. */
    public abstract Ledger ledger();

    /** Makes a call. */
    protected abstract Work invoke(Invocation invocation);

    @Override
    public final Work allReduce(NdArray in, NdArray out, ReduceOp op) {
        return invoke(new Invocation(
                Collective.ALL_REDUCE,
                in,
                out,
                () -> CollectiveCall.allReduce(in, out, op),
                (engine, record) -> engine.startAllReduce(record, in, out, op),
                group -> group.allReduce(in, out, op)));
    }

    @Override
    public final Work allGather(NdArray in, NdArray out, long[] counts) {
        return invoke(new Invocation(
                Collective.ALL_GATHER,
                in,
                out,
                () -> CollectiveCall.allGather(this, in, out, counts),
                (engine, record) ->
                        engine.startAllGather(record, in, out, record.call().sendCounts()),
                group -> group.allGather(in, out, counts)));
    }

    @Override
    public final Work reduceScatter(NdArray in, NdArray out, long[] counts, ReduceOp op) {
        return invoke(new Invocation(
                Collective.REDUCE_SCATTER,
                in,
                out,
                () -> CollectiveCall.reduceScatter(this, in, out, counts, op),
                (engine, record) ->
                        engine.startReduceScatter(record, in, out, record.call().sendCounts(), op),
                group -> group.reduceScatter(in, out, counts, op)));
    }

    @Override
    public final Work allToAll(NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        return invoke(new Invocation(
                Collective.ALL_TO_ALL,
                in,
                out,
                () -> CollectiveCall.allToAll(this, in, sendCounts, out, receiveCounts),
                (engine, record) -> engine.startAllToAll(
                        record,
                        in,
                        record.call().sendCounts(),
                        out,
                        record.call().receiveCounts()),
                group -> group.allToAll(in, sendCounts, out, receiveCounts)));
    }

    @Override
    public final Work broadcast(NdArray array, int root) {
        return invoke(new Invocation(
                Collective.BROADCAST,
                array,
                array,
                () -> CollectiveCall.broadcast(this, array, root),
                (engine, record) -> engine.startBroadcast(record, array, root),
                group -> group.broadcast(array, root)));
    }

    @Override
    public final Work reduce(NdArray in, NdArray out, ReduceOp op, int root) {
        return invoke(new Invocation(
                Collective.REDUCE,
                in,
                out,
                () -> CollectiveCall.reduce(this, in, out, op, root),
                (engine, record) -> engine.startReduce(record, in, out, op, root),
                group -> group.reduce(in, out, op, root)));
    }

    @Override
    public final Work send(NdArray array, int peer) {
        return invoke(new Invocation(
                Collective.SEND,
                array,
                null,
                () -> CollectiveCall.send(this, array, peer),
                (engine, record) -> engine.startSend(record, array, peer),
                group -> group.send(array, peer)));
    }

    @Override
    public final Work receive(NdArray array, int peer) {
        return invoke(new Invocation(
                Collective.RECEIVE,
                null,
                array,
                () -> CollectiveCall.receive(this, array, peer),
                (engine, record) -> engine.startReceive(record, array, peer),
                group -> group.receive(array, peer)));
    }

    @Override
    public final void barrier() {
        invoke(new Invocation(
                        Collective.BARRIER,
                        null,
                        null,
                        () -> CollectiveCall.withoutData(Collective.BARRIER),
                        (engine, record) -> engine.startBarrier(record),
                        group -> {
                            group.barrier();
                            return Work.done();
                        }))
                .await();
    }
}
