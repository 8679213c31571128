package org.tp4j.threads;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.engine.EngineGroup;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.tensor.NdArray;

/** An in-JVM group as one of its ranks sees it. */
final class ThreadGroup extends EngineGroup {
    private final Exchange exchange;
    private final SharedCall[] sends;
    private final SharedCall[] receives;
    private SharedCall latest;

    ThreadGroup(Exchange exchange, int rank) {
        super(
                exchange.name(),
                rank,
                exchange.worldRanks(),
                exchange.job().recorder(exchange.worldRanks().get(rank)));
        this.exchange = exchange;
        this.latest = exchange.collectives();
        this.sends = new SharedCall[size()];
        this.receives = new SharedCall[size()];
        for (int peer = 0; peer < size(); peer++) {
            sends[peer] = exchange.channel(rank, peer);
            receives[peer] = exchange.channel(peer, rank);
        }
    }

    @Override
    protected Work startAllReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op) {
        return meet(record, in, out, true);
    }

    @Override
    protected Work startAllGather(CallRecord record, NdArray in, NdArray out, long[] counts) {
        return meet(record, in, out, true);
    }

    @Override
    protected Work startReduceScatter(CallRecord record, NdArray in, NdArray out, long[] counts, ReduceOp op) {
        return meet(record, in, out, true);
    }

    @Override
    protected Work startAllToAll(CallRecord record, NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        return meet(record, in, out, true);
    }

    @Override
    protected Work startReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op, int root) {
        return meet(record, in, out, root == rank());
    }

    /** One array, which the root reads and the others write. */
    @Override
    protected Work startBroadcast(CallRecord record, NdArray array, int root) {
        if (HostStagedWork.isOnHost(array)) {
            return arrive(record, array, array);
        }
        boolean reads = root == rank();
        NdArray host = reads ? HostStagedWork.copyOf(array) : HostStagedWork.room(array);
        return HostStagedWork.of(arrive(record, host, host), reads ? null : host, array);
    }

    @Override
    protected Work startSend(CallRecord record, NdArray array, int peer) {
        sends[peer] = sends[peer].next();
        NdArray host = HostStagedWork.isOnHost(array) ? array : HostStagedWork.copyOf(array);
        return arrive(new ThreadWork(exchange, sends[peer], 0, rank(), record, host, null));
    }

    @Override
    protected Work startReceive(CallRecord record, NdArray array, int peer) {
        receives[peer] = receives[peer].next();
        boolean staged = !HostStagedWork.isOnHost(array);
        NdArray host = staged ? HostStagedWork.room(array) : array;
        Work work = arrive(new ThreadWork(exchange, receives[peer], 1, rank(), record, null, host));
        return staged ? HostStagedWork.of(work, host, array) : work;
    }

    @Override
    protected Work startBarrier(CallRecord record) {
        return arrive(record, null, null);
    }

    /** A collective from one array into another, by copies in the host's memory where they lie on a device. */
    private Work meet(CallRecord record, NdArray in, NdArray out, boolean writes) {
        if (HostStagedWork.isOnHost(in) && HostStagedWork.isOnHost(out)) {
            return arrive(record, in, out);
        }
        NdArray host = HostStagedWork.room(out);
        return HostStagedWork.of(arrive(record, HostStagedWork.copyOf(in), host), writes ? host : null, out);
    }

    private Work arrive(CallRecord record, @Nullable NdArray in, @Nullable NdArray out) {
        latest = latest.next();
        return arrive(new ThreadWork(exchange, latest, rank(), rank(), record, in, out));
    }

    private static Work arrive(ThreadWork work) {
        work.arrive();
        return work;
    }

    @Override
    protected ProcessGroup startSplit(CallRecord record, String name, int color, int key) {
        latest = latest.next();
        ThreadWork work = new ThreadWork(exchange, latest, rank(), rank(), record, null, null);
        work.split = new NamedSplit(name, color, key);
        work.arrive();
        work.await();
        Exchange formed = Objects.requireNonNull(work.formed);
        return new ThreadGroup(formed, formed.worldRanks().indexOf(worldRanks().get(rank())));
    }

    @Override
    protected void refused(CallRecord record, RuntimeException reason) {
        if (!record.call().kind().isPointToPoint()) {
            latest = latest.next();
            latest.fail(
                    "rank " + rank() + " of group '" + name() + "' gave arguments that cannot be: "
                            + reason.getMessage(),
                    reason);
        }
    }

    @Override
    protected void release() {
        exchange.close(rank());
    }
}
