package org.tp4j.mpi;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.engine.EngineGroup;
import org.tp4j.comm.engine.SplitRequest;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;
import org.tp4j.tensor.NdArray;

/** A group of processes over MPI, with a communicator of its own. */
final class MpiGroup extends EngineGroup {
    private final MpiComm comm;
    private final long[] sent;
    private final long[] received;

    MpiGroup(MpiComm comm, String name) {
        super(name, comm.rank(), comm.worldRanks(), comm.job().recorder());
        this.comm = comm;
        this.sent = new long[size()];
        this.received = new long[size()];
    }

    @Override
    public Work startAllReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op) {
        return start(record, in, out, () -> MpiReductions.allReduce(comm, record, in, out, op));
    }

    @Override
    public Work startReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op, int root) {
        return start(record, in, out, () -> MpiReductions.reduce(comm, record, in, out, op, root));
    }

    @Override
    public Work startReduceScatter(CallRecord record, NdArray in, NdArray out, long[] counts, ReduceOp op) {
        return start(record, in, out, () -> new MpiReductions.Scatter(comm, record, in, out, counts, op));
    }

    @Override
    public Work startAllGather(CallRecord record, NdArray in, NdArray out, long[] counts) {
        return start(record, in, out, () -> new MpiTransfers.Gather(comm, record, in, out, counts));
    }

    @Override
    public Work startAllToAll(CallRecord record, NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        return start(
                record, in, out, () -> new MpiTransfers.AllToAll(comm, record, in, sendCounts, out, receiveCounts));
    }

    @Override
    public Work startBroadcast(CallRecord record, NdArray array, int root) {
        return start(record, array, array, () -> new MpiTransfers.Broadcast(comm, record, array, root));
    }

    @Override
    public Work startSend(CallRecord record, NdArray array, int peer) {
        return start(new MpiTransfers.Message(comm, record, ++sent[peer], array, peer, false));
    }

    @Override
    public Work startReceive(CallRecord record, NdArray array, int peer) {
        return start(new MpiTransfers.Message(comm, record, ++received[peer], array, peer, true));
    }

    @Override
    public Work startBarrier(CallRecord record) {
        return size() == 1 ? done(record) : start(new MpiTransfers.Barrier(comm, record));
    }

    /** Starts a collective; on a single rank it is a copy. */
    private Work start(CallRecord record, NdArray in, NdArray out, Supplier<MpiWork> work) {
        if (size() == 1) {
            MpiWork.copy(in, 0, out, 0, in.elements());
            return done(record);
        }
        return start(work.get());
    }

    private Work start(MpiWork work) {
        comm.job().start(work);
        return work;
    }

    private static Work done(CallRecord record) {
        record.done();
        return Work.done();
    }

    /** All ranks' bytes, equally many from each. */
    private byte[][] gatherBytes(CallRecord record, byte[] mine) {
        MpiTransfers.Bytes gather = new MpiTransfers.Bytes(comm, record, mine);
        comm.job().start(gather);
        gather.await();
        return gather.all();
    }

    /** All ranks' bytes, equally many from each; for starting up. */
    byte[][] gatherBytes(byte[] mine) {
        return gatherBytes(internalCall(Collective.BARRIER), mine);
    }

    @Override
    protected ProcessGroup startSplit(CallRecord record, String name, int color, int key) {
        byte[] mine = ByteBuffer.allocate(SplitRequest.INTS * Integer.BYTES)
                .putInt(color)
                .putInt(key)
                .putInt(name.hashCode())
                .array();
        byte[][] all = gatherBytes(record, mine);
        List<SplitRequest> requests = new ArrayList<>();
        for (int rank = 0; rank < all.length; rank++) {
            ByteBuffer bytes = ByteBuffer.wrap(all[rank]);
            requests.add(new SplitRequest(rank, bytes.getInt(), bytes.getInt(), bytes.getInt()));
        }
        List<Integer> ranks = SplitRequest.members(requests, rank(), name);
        // MPI gets the position as the key, so that it cannot order the ranks differently.
        int position = ranks.indexOf(rank());
        long handle = comm.job().split(record, worldRanks(), comm.handle(), Collections.min(ranks), position);
        List<Integer> worldRanks = ranks.stream().map(worldRanks()::get).toList();
        return new MpiGroup(new MpiComm(comm.job(), handle, position, worldRanks), name);
    }

    @Override
    protected void release() {
        comm.job().free(comm.handle());
    }
}
