package org.tp4j.threads;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.Work;
import org.tp4j.comm.engine.EngineGroup;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CollectiveCall;
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
    protected Work start(CallRecord record, @Nullable NdArray in, @Nullable NdArray out) {
        if (HostStagedWork.isOnHost(in) && HostStagedWork.isOnHost(out)) {
            return post(record, in, out);
        }
        CollectiveCall call = record.call();
        boolean root = call.root() == rank();
        boolean reads = in != null && (call.kind() != Collective.BROADCAST || root);
        boolean writes = out != null
                && switch (call.kind()) {
                    case BROADCAST -> !root;
                    case REDUCE -> root;
                    default -> true;
                };
        NdArray hostIn = in == null ? null : reads ? HostStagedWork.copyOf(in) : HostStagedWork.room(in);
        // A broadcast has one array, of which it reads or writes.
        NdArray hostOut = out == null ? null : call.kind() == Collective.BROADCAST ? hostIn : HostStagedWork.room(out);
        return HostStagedWork.of(post(record, hostIn, hostOut), writes ? hostOut : null, out);
    }

    private Work post(CallRecord record, @Nullable NdArray in, @Nullable NdArray out) {
        int peer = record.call().root();
        ThreadWork post;
        switch (record.call().kind()) {
            case SEND -> {
                sends[peer] = sends[peer].next();
                post = new ThreadWork(exchange, sends[peer], 0, rank(), record, in, null);
            }
            case RECEIVE -> {
                receives[peer] = receives[peer].next();
                post = new ThreadWork(exchange, receives[peer], 1, rank(), record, null, out);
            }
            default -> {
                latest = latest.next();
                post = new ThreadWork(exchange, latest, rank(), rank(), record, in, out);
            }
        }
        post.arrive();
        return post;
    }

    @Override
    protected ProcessGroup startSplit(CallRecord record, String name, int color, int key) {
        latest = latest.next();
        ThreadWork post = new ThreadWork(exchange, latest, rank(), rank(), record, null, null);
        post.wish = new SplitRequest(name, color, key);
        post.arrive();
        post.await();
        Exchange formed = Objects.requireNonNull(post.formed);
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
