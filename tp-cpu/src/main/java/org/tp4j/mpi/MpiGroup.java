package org.tp4j.mpi;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.Work;
import org.tp4j.comm.engine.EngineGroup;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CollectiveCall;
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
    protected Work start(CallRecord record, @Nullable NdArray in, @Nullable NdArray out) {
        CollectiveCall call = record.call();
        if (size() == 1) {
            if (in != null && out != null && in != out) {
                MpiWork.copy(in, 0, out, 0, in.elements());
            }
            record.done();
            return Work.done();
        }
        MpiWork work = switch (call.kind()) {
            case ALL_REDUCE -> MpiReductions.allReduce(this, record, some(in), some(out));
            case REDUCE -> new MpiReductions.Direct(this, record, some(in), some(out));
            case REDUCE_SCATTER ->
                new MpiReductions.Scatter(this, record, some(in), some(out), some(call.sendCounts()));
            case ALL_GATHER -> new MpiMovements.Gather(this, record, some(in), some(out), some(call.sendCounts()));
            case ALL_TO_ALL ->
                new MpiMovements.Exchange(
                        this, record, some(in), some(out), some(call.sendCounts()), some(call.receiveCounts()));
            case BROADCAST -> new MpiMovements.Broadcast(this, record, some(in));
            case SEND -> new MpiMovements.Message(this, record, ++sent[call.root()], some(in), false);
            case RECEIVE -> new MpiMovements.Message(this, record, ++received[call.root()], some(out), true);
            case BARRIER -> new MpiMovements.Barrier(this, record);
            case SPLIT -> throw new IllegalStateException("split is no work");
        };
        job.start(work);
        return work;
    }

    private static <T> T some(@Nullable T value) {
        return Objects.requireNonNull(value);
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

    /** A wish of a rank in a split. */
    private record Wish(int rank, int color, int key, int nameHash) {}

    @Override
    protected ProcessGroup startSplit(CallRecord record, String name, int color, int key) {
        byte[] mine = ByteBuffer.allocate(3 * Integer.BYTES)
                .putInt(color)
                .putInt(key)
                .putInt(name.hashCode())
                .array();
        byte[][] all = gather(record, mine);
        List<Wish> members = new ArrayList<>();
        for (int rank = 0; rank < all.length; rank++) {
            ByteBuffer note = ByteBuffer.wrap(all[rank]);
            Wish wish = new Wish(rank, note.getInt(), note.getInt(), note.getInt());
            if (wish.color() == color) {
                members.add(wish);
            }
        }
        members.sort(Comparator.comparingInt(Wish::key)); // stable: equal keys stay in rank order
        List<Integer> ranks = members.stream().map(Wish::rank).toList();
        for (Wish wish : members) {
            if (wish.nameHash() != name.hashCode()) {
                throw new CommunicationException("ranks of one color name their new group differently: rank " + rank()
                        + " '" + name + "', rank " + wish.rank() + " otherwise");
            }
        }
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
