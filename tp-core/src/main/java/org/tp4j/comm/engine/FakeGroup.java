package org.tp4j.comm.engine;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.internal.RankLists;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.FlightRecorder;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * One process that pretends to be rank r of n, to see what a plan would do without starting ranks. Results consist of
 * this rank's own data, repeated in place of the other ranks'; nothing is reduced.
 */
public final class FakeGroup extends EngineGroup {
    /** Rank {@code rank} of {@code size}, in a group called {@code world}. */
    public FakeGroup(int rank, int size) {
        this("world", rank, ranks(rank, size));
    }

    private FakeGroup(String name, int rank, List<Integer> worldRanks) {
        super(name, rank, worldRanks, new FlightRecorder(worldRanks.get(rank)));
    }

    private static List<Integer> ranks(int rank, int size) {
        if (rank < 0 || rank >= size) {
            throw new IllegalArgumentException(
                    "rank " + rank + " of " + size + "; HINT: ranks are numbered from 0 to size - 1");
        }
        return IntStream.range(0, size).boxed().toList();
    }

    @Override
    public Work startAllReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op) {
        return repeat(record, in, 0, out);
    }

    @Override
    public Work startAllGather(CallRecord record, NdArray in, NdArray out, long[] counts) {
        return repeat(record, in, 0, out);
    }

    @Override
    public Work startReduceScatter(CallRecord record, NdArray in, NdArray out, long[] counts, ReduceOp op) {
        return repeat(record, in, Arrays.stream(counts, 0, rank()).sum(), out);
    }

    @Override
    public Work startAllToAll(CallRecord record, NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        return repeat(record, in, 0, out);
    }

    @Override
    public Work startBroadcast(CallRecord record, NdArray array, int root) {
        return done(record);
    }

    @Override
    public Work startReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op, int root) {
        return root == rank() ? repeat(record, in, 0, out) : done(record);
    }

    @Override
    public Work startSend(CallRecord record, NdArray array, int peer) {
        return done(record);
    }

    @Override
    public Work startReceive(CallRecord record, NdArray array, int peer) {
        return done(record);
    }

    @Override
    public Work startBarrier(CallRecord record) {
        return done(record);
    }

    private static Work done(CallRecord record) {
        record.done();
        return Work.done();
    }

    /** out = in from its element {@code first} on, starting over at element 0 when it ends. */
    private static Work repeat(CallRecord record, NdArray in, long first, NdArray out) {
        long at = first;
        for (long filled = 0; in.elements() > 0 && filled < out.elements(); ) {
            long run = Math.min(out.elements() - filled, in.elements() - at);
            Shape shape = Shape.of(run);
            NdArray from = in.window(at, shape);
            NdArray to = out.window(filled, shape);
            if (from.storage() != to.storage() || from.offset() != to.offset()) {
                to.assign(from);
            }
            filled += run;
            at = 0;
        }
        return done(record);
    }

    @Override
    protected ProcessGroup startSplit(CallRecord record, String name, int color, int key) {
        record.failed();
        throw new CommunicationException("split('" + name + "') on a fake group, which cannot know the colors of ranks"
                + " that do not exist; HINT: use partition, which is given every rank's group");
    }

    @Override
    public ProcessGroup partition(String name, List<List<Integer>> groups) {
        int mine = RankLists.find("partition('" + name + "') of group '" + name() + "'", groups, rank(), size());
        List<Integer> group = groups.get(mine);
        return new FakeGroup(
                name,
                group.indexOf(rank()),
                group.stream().map(worldRanks()::get).toList());
    }

    @Override
    protected void release() {}
}
