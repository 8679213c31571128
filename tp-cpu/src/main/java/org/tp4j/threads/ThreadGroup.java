package org.tp4j.threads;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.engine.EngineGroup;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.cpu.internal.reduce.Reducer;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;

/** An in-JVM group as one of its ranks sees it, with the data movement of each collective. */
final class ThreadGroup extends EngineGroup {
    private final Exchange exchange;
    private final @Nullable SharedCall[] sends;
    private final @Nullable SharedCall[] receives;
    private SharedCall latest;

    ThreadGroup(Exchange exchange, int rank) {
        super(
                exchange.name(),
                rank,
                exchange.worldRanks(),
                exchange.job().recorder(exchange.worldRanks().get(rank)));
        this.exchange = exchange;
        this.latest = exchange.takeCollectives(rank);
        this.sends = new SharedCall[size()];
        this.receives = new SharedCall[size()];
    }

    /** The latest collective. */
    SharedCall latest() {
        return latest;
    }

    @Override
    public Work startAllReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op) {
        DType dtype = in.dtype();
        long elements = in.elements();
        return start(record, in, out, parties -> {
            DataMovement.Mover mover = (run, begin, at, length) -> {
                reduce(parties, dtype, op, at, parties[0], at, length);
                for (Party to : parties) {
                    copy(parties[0].outArray(), parties[0].outOffset() + at, to, at, length);
                }
            };
            return new DataMovement(parties, mover, elements);
        });
    }

    @Override
    public Work startReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op, int root) {
        DType dtype = in.dtype();
        long elements = in.elements();
        return start(record, in, out, parties -> {
            DataMovement.Mover mover =
                    (run, begin, at, length) -> reduce(parties, dtype, op, at, parties[root], at, length);
            return new DataMovement(parties, mover, elements);
        });
    }

    /** Run r is reduced for rank r. */
    @Override
    public Work startReduceScatter(CallRecord record, NdArray in, NdArray out, long[] counts, ReduceOp op) {
        DType dtype = in.dtype();
        return start(record, in, out, parties -> {
            DataMovement.Mover mover =
                    (run, begin, at, length) -> reduce(parties, dtype, op, begin + at, parties[run], at, length);
            return new DataMovement(parties, mover, counts);
        });
    }

    /** Run r is rank r's input, and is copied to all ranks. */
    @Override
    public Work startAllGather(CallRecord record, NdArray in, NdArray out, long[] counts) {
        return start(record, in, out, parties -> {
            DataMovement.Mover mover = (run, begin, at, length) -> {
                for (Party to : parties) {
                    copy(parties[run].inArray(), parties[run].inOffset() + at, to, begin + at, length);
                }
            };
            return new DataMovement(parties, mover, counts);
        });
    }

    @Override
    public Work startAllToAll(CallRecord record, NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        return start(record, in, out, ThreadGroup::allToAll);
    }

    /** Run i * size + j goes from rank i to rank j. */
    private static DataMovement allToAll(Party[] parties) {
        int size = parties.length;
        long[] runs = new long[size * size];
        int[] source = new int[size * size];
        int[] target = new int[size * size];
        int[] received = new int[size];
        for (int from = 0; from < size; from++) {
            long[] counts = parties[from].record().call().sendCounts();
            int sent = 0;
            for (int to = 0; to < size; to++) {
                int run = from * size + to;
                runs[run] = counts[to];
                source[run] = parties[from].inOffset() + sent;
                target[run] = received[to];
                sent += (int) counts[to];
                received[to] += (int) counts[to];
            }
        }
        DataMovement.Mover mover = (run, begin, at, length) ->
                copy(parties[run / size].inArray(), source[run] + at, parties[run % size], target[run] + at, length);
        return new DataMovement(parties, mover, runs);
    }

    @Override
    public Work startBroadcast(CallRecord record, NdArray array, int root) {
        Function<Party[], DataMovement> movement = parties -> {
            DataMovement.Mover mover = (run, begin, at, length) -> {
                for (Party to : parties) {
                    copy(parties[root].inArray(), parties[root].inOffset() + at, to, at, length);
                }
            };
            return new DataMovement(parties, mover, array.elements());
        };
        if (HostStagedWork.isOnHost(array)) {
            return join(record, array, array, movement);
        }
        boolean sends = root == rank();
        NdArray host = sends ? HostStagedWork.copyOf(array) : HostStagedWork.room(array);
        Work work = join(record, host, host, movement);
        return sends ? work : new HostStagedWork(work, host, array);
    }

    @Override
    public Work startSend(CallRecord record, NdArray array, int peer) {
        NdArray host = HostStagedWork.isOnHost(array) ? array : HostStagedWork.copyOf(array);
        SharedCall before = sends[peer];
        SharedCall next = (before == null ? exchange.takeChannel(rank(), peer) : before).next();
        sends[peer] = next;
        return join(next, new Party(0, rank(), record, host, null), ThreadGroup::message);
    }

    @Override
    public Work startReceive(CallRecord record, NdArray array, int peer) {
        NdArray host = HostStagedWork.isOnHost(array) ? array : HostStagedWork.room(array);
        SharedCall before = receives[peer];
        SharedCall next = (before == null ? exchange.takeChannel(peer, rank()) : before).next();
        receives[peer] = next;
        Work work = join(next, new Party(1, rank(), record, null, host), ThreadGroup::message);
        return host == array ? work : new HostStagedWork(work, host, array);
    }

    /** From the sender, party 0, to the receiver. */
    private static DataMovement message(Party[] parties) {
        DataMovement.Mover mover = (run, begin, at, length) ->
                copy(parties[0].inArray(), parties[0].inOffset() + at, parties[1], at, length);
        return new DataMovement(parties, mover, parties[0].record().call().elements());
    }

    @Override
    public Work startBarrier(CallRecord record) {
        return join(record, null, null, parties -> new DataMovement(parties, (run, begin, at, length) -> {}));
    }

    @Override
    protected ProcessGroup startSplit(CallRecord record, String name, int color, int key) {
        latest = latest.next();
        SplitParty party = new SplitParty(exchange, rank(), record, name, color, key);
        join(latest, party, SplitParty::movement).await();
        Exchange formed = party.formed();
        return new ThreadGroup(formed, formed.worldRanks().indexOf(worldRanks().get(rank())));
    }

    @Override
    protected void refused(CallRecord record, RuntimeException reason) {
        if (!record.call().kind().isPointToPoint()) {
            latest = latest.next();
            latest.fail(
                    "rank " + rank() + " of group '" + name() + "' gave invalid arguments: " + reason.getMessage(),
                    reason);
        }
    }

    @Override
    protected void release() {
        exchange.close(rank());
    }

    /** Starts a collective with an input and an output, on copies in host memory if they are on a device. */
    private Work start(CallRecord record, NdArray in, NdArray out, Function<Party[], DataMovement> movement) {
        if (HostStagedWork.isOnHost(in) && HostStagedWork.isOnHost(out)) {
            return join(record, in, out, movement);
        }
        NdArray hostIn = HostStagedWork.copyOf(in);
        NdArray hostOut = HostStagedWork.room(out);
        Work work = join(record, hostIn, hostOut, movement);
        return record.call().writesOutput(rank()) ? new HostStagedWork(work, hostOut, out) : work;
    }

    /** Joins the group's next collective. */
    private Work join(
            CallRecord record, @Nullable NdArray in, @Nullable NdArray out, Function<Party[], DataMovement> movement) {
        latest = latest.next();
        return join(latest, new Party(rank(), rank(), record, in, out), movement);
    }

    private ThreadWork join(SharedCall call, Party party, Function<Party[], DataMovement> movement) {
        call.arrive(party, movement);
        return new ThreadWork(exchange, call, party);
    }

    /** Reduces the parties' inputs, from element {@code inAt} on, in rank order into elements of one party's output. */
    private static void reduce(Party[] parties, DType dtype, ReduceOp op, int inAt, Party to, int outAt, int length) {
        Object[] inputs = new Object[parties.length];
        int[] offsets = new int[parties.length];
        for (int i = 0; i < parties.length; i++) {
            inputs[i] = parties[i].inArray();
            offsets[i] = parties[i].inOffset() + inAt;
        }
        Reducer.reduce(dtype, op, inputs, offsets, to.outArray(), to.outOffset() + outAt, length);
    }

    private static void copy(Object from, int fromIndex, Party to, int outAt, int length) {
        Reducer.copy(from, fromIndex, to.outArray(), to.outOffset() + outAt, length);
    }
}
