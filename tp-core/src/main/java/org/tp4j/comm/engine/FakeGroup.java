package org.tp4j.comm.engine;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.FlightRecorder;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * One process that pretends to be rank r of n, to see what a plan would do without starting ranks. Results are this
 * rank's own data, repeated where several ranks' would stand; nothing is reduced.
 */
public final class FakeGroup extends EngineGroup {
    /** Rank {@code rank} of {@code size}, in a group called {@code world}. */
    public FakeGroup(int rank, int size) {
        this("world", rank, range(rank, size));
    }

    private FakeGroup(String name, int rank, List<Integer> worldRanks) {
        super(name, rank, worldRanks, new FlightRecorder(worldRanks.get(rank)));
    }

    private static List<Integer> range(int rank, int size) {
        if (rank < 0 || rank >= size) {
            throw new IllegalArgumentException("rank " + rank + " of " + size);
        }
        List<Integer> ranks = new ArrayList<>();
        for (int r = 0; r < size; r++) {
            ranks.add(r);
        }
        return ranks;
    }

    @Override
    protected Work startAllReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op) {
        return pretend(record, in, 0, out);
    }

    @Override
    protected Work startAllGather(CallRecord record, NdArray in, NdArray out, long[] counts) {
        return pretend(record, in, 0, out);
    }

    @Override
    protected Work startReduceScatter(CallRecord record, NdArray in, NdArray out, long[] counts, ReduceOp op) {
        return pretend(record, in, Arrays.stream(counts, 0, rank()).sum(), out);
    }

    @Override
    protected Work startAllToAll(CallRecord record, NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        return pretend(record, in, 0, out);
    }

    @Override
    protected Work startBroadcast(CallRecord record, NdArray array, int root) {
        return done(record);
    }

    @Override
    protected Work startReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op, int root) {
        return root == rank() ? pretend(record, in, 0, out) : done(record);
    }

    @Override
    protected Work startSend(CallRecord record, NdArray array, int peer) {
        return done(record);
    }

    @Override
    protected Work startReceive(CallRecord record, NdArray array, int peer) {
        return done(record);
    }

    @Override
    protected Work startBarrier(CallRecord record) {
        return done(record);
    }

    private static Work pretend(CallRecord record, NdArray in, long skip, NdArray out) {
        if (in != out) {
            repeat(in, skip, out);
        }
        return done(record);
    }

    private static Work done(CallRecord record) {
        record.done();
        return Work.done();
    }

    /** out = in from its element {@code first} on, from the start again when it ends. */
    private static void repeat(NdArray in, long first, NdArray out) {
        if (in.elements() == 0) {
            return;
        }
        long at = first;
        for (long done = 0; done < out.elements(); ) {
            long run = Math.min(out.elements() - done, in.elements() - at);
            Shape shape = Shape.of(run);
            NdArray from = in.window(at, shape);
            NdArray to = out.window(done, shape);
            if (from.storage() != to.storage() || from.offset() != to.offset()) {
                to.assign(from);
            }
            done += run;
            at = 0;
        }
    }

    @Override
    protected ProcessGroup startSplit(CallRecord record, String name, int color, int key) {
        record.failed();
        throw new CommunicationException("split('" + name + "') on a fake group, which cannot know the colors of ranks"
                + " that do not exist; HINT: use partition, which is told every rank's group");
    }

    @Override
    public ProcessGroup partition(String name, List<List<Integer>> groups) {
        for (List<Integer> group : groups) {
            int place = group.indexOf(rank());
            if (place >= 0) {
                return new FakeGroup(
                        name, place, group.stream().map(worldRanks()::get).toList());
            }
        }
        return super.partition(name, groups);
    }

    @Override
    protected void release() {}
}
