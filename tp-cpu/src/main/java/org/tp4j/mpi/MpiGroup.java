package org.tp4j.mpi;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.engine.EngineGroup;
import org.tp4j.comm.engine.SplitRequest;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;
import org.tp4j.tensor.NdArray;

/** A group of processes over MPI: one communicator of its own. */
final class MpiGroup extends EngineGroup {
    private final MpiJob job;
    private final long comm;
    private final long[] sent;
    private final long[] received;

    MpiGroup(MpiJob job, long comm, String name, int rank, List<Integer> worldRanks) {
        super(name, rank, worldRanks, job.recorder());
        this.job = job;
        this.comm = comm;
        this.sent = new long[size()];
        this.received = new long[size()];
    }

    MpiJob job() {
        return job;
    }

    long comm() {
        return comm;
    }

    @Override
    protected Work startAllReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op) {
        return size() == 1 ? alone(record, in, out) : run(MpiReductions.allReduce(this, record, in, out));
    }

    @Override
    protected Work startReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op, int root) {
        return size() == 1 ? alone(record, in, out) : run(new MpiReductions.Direct(this, record, in, out));
    }

    @Override
    protected Work startReduceScatter(CallRecord record, NdArray in, NdArray out, long[] counts, ReduceOp op) {
        return size() == 1 ? alone(record, in, out) : run(new MpiReductions.Scatter(this, record, in, out, counts));
    }

    @Override
    protected Work startAllGather(CallRecord record, NdArray in, NdArray out, long[] counts) {
        return size() == 1 ? alone(record, in, out) : run(new MpiMovements.Gather(this, record, in, out, counts));
    }

    @Override
    protected Work startAllToAll(CallRecord record, NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        return size() == 1
                ? alone(record, in, out)
                : run(new MpiMovements.Exchange(this, record, in, out, sendCounts, receiveCounts));
    }

    @Override
    protected Work startBroadcast(CallRecord record, NdArray array, int root) {
        return size() == 1 ? done(record) : run(new MpiMovements.Broadcast(this, record, array));
    }

    @Override
    protected Work startSend(CallRecord record, NdArray array, int peer) {
        return run(new MpiMovements.Message(this, record, ++sent[peer], array, false));
    }

    @Override
    protected Work startReceive(CallRecord record, NdArray array, int peer) {
        return run(new MpiMovements.Message(this, record, ++received[peer], array, true));
    }

    @Override
    protected Work startBarrier(CallRecord record) {
        return size() == 1 ? done(record) : run(new MpiMovements.Barrier(this, record));
    }

    private Work run(MpiWork work) {
        job.start(work);
        return work;
    }

    /** A call of a group of one. */
    private static Work alone(CallRecord record, NdArray in, NdArray out) {
        if (in != out) {
            MpiWork.copy(in, 0, out, 0, in.elements());
        }
        return done(record);
    }

    private static Work done(CallRecord record) {
        record.done();
        return Work.done();
    }

    /** A few bytes of each rank, as many from each, to all. */
    byte[][] gather(CallRecord record, byte[] mine) {
        MpiMovements.Notes notes = new MpiMovements.Notes(this, record, mine);
        job.start(notes);
        notes.await();
        return notes.all();
    }

    /** As a barrier that carries something; for starting up. */
    byte[][] gather(byte[] mine) {
        return gather(internalCall(Collective.BARRIER), mine);
    }

    @Override
    protected ProcessGroup startSplit(CallRecord record, String name, int color, int key) {
        SplitRequest request = new SplitRequest(rank(), color, key, name.hashCode());
        byte[] mine = ByteBuffer.allocate(3 * Integer.BYTES)
                .putInt(color)
                .putInt(key)
                .putInt(request.nameHash())
                .array();
        byte[][] all = gather(record, mine);
        List<SplitRequest> requests = new ArrayList<>();
        for (int rank = 0; rank < all.length; rank++) {
            ByteBuffer note = ByteBuffer.wrap(all[rank]);
            requests.add(new SplitRequest(rank, note.getInt(), note.getInt(), note.getInt()));
        }
        List<Integer> ranks = SplitRequest.members(requests, request, name);
        // The places are ours, so that MPI's idea of keys and ours cannot differ.
        int place = ranks.indexOf(rank());
        int smallest = ranks.stream().mapToInt(Integer::intValue).min().orElse(0);
        long made = job.split(comm, smallest, place);
        return new MpiGroup(
                job, made, name, place, ranks.stream().map(worldRanks()::get).toList());
    }

    @Override
    protected void release() {
        job.free(comm);
    }
}
