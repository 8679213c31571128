package org.tp4j.nccl;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.engine.EngineGroup;
import org.tp4j.comm.engine.SplitRequest;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;

/**
 * A group of ranks with a GPU each, over NCCL: one communicator of its own.
 *
 * <p>Calls are asked of the communication stream, behind what the compute stream has been asked for so far, and return at
 * once. To await one makes the compute stream wait for it; the host goes on, and waits when it reads a value. Calls can be
 * part of a captured step, except for those that wait: barrier and split. Ranks that are in several groups together make their calls on
 * all of these in the same order, since one stream carries them all.
 *
 * <p>Sums of 16-bit floats are rounded wherever NCCL passes them on, and an average of floats is the sum of each value times
 * the rounded reciprocal of the number of ranks: what NCCL does.
 */
final class NcclProcessGroup extends EngineGroup {
    private final NcclSession session;
    private final Communicator communicator;
    private final String path;
    private final Map<Integer, NcclLink> sends = new ConcurrentHashMap<>();
    private final Map<Integer, NcclLink> receives = new ConcurrentHashMap<>();
    private @Nullable NdArray token;
    private int splits;

    /**
     * A group.
     *
     * @param path its place in the tree of groups, the same on all its ranks and of no other group
     */
    NcclProcessGroup(
            NcclSession session,
            Communicator communicator,
            String path,
            String name,
            int rank,
            List<Integer> worldRanks) {
        super(name, rank, worldRanks, session.member().recorder());
        this.session = session;
        this.communicator = communicator;
        this.path = path;
    }

    private NcclComm comm() {
        return communicator.comm();
    }

    private long stream() {
        return session.collectives().stream().handle();
    }

    private long address(NdArray array) {
        return session.backend().address(array);
    }

    /** One call of NCCL's. */
    private Work issue(CallRecord record, @Nullable NdArray in, @Nullable NdArray out, Runnable call) {
        synchronized (session.collectives()) {
            NcclWork work = session.collectives().begin(record, worldRanks());
            session.collectives().issue(work, () -> communicator.run(record, call), in, out);
            return work;
        }
    }

    /** Several that are one. */
    private Work issueGroup(CallRecord record, @Nullable NdArray in, @Nullable NdArray out, Runnable calls) {
        synchronized (session.collectives()) {
            NcclWork work = session.collectives().begin(record, worldRanks());
            session.collectives().issue(work, () -> communicator.runGroup(record, calls), in, out);
            return work;
        }
    }

    /** A call in which no rank has anything to move. */
    private static Work nothing(CallRecord record) {
        record.done();
        return Work.done();
    }

    @Override
    protected Work startAllReduce(CallRecord record, NdArray in, NdArray out, ReduceOp reduction) {
        if (in.elements() == 0) {
            return nothing(record);
        }
        int type = NcclTypes.of(in.dtype());
        int op = NcclTypes.of(in.dtype(), reduction);
        return issue(
                record,
                in,
                out,
                () -> JNccl.ncclAllReduce(address(in), address(out), in.elements(), type, op, comm(), stream()));
    }

    @Override
    protected Work startReduce(CallRecord record, NdArray in, NdArray out, ReduceOp reduction, int root) {
        if (in.elements() == 0) {
            return nothing(record);
        }
        int type = NcclTypes.of(in.dtype());
        int op = NcclTypes.of(in.dtype(), reduction);
        boolean writes = root == rank();
        long to = writes ? address(out) : address(in);
        return issue(
                record,
                in,
                writes ? out : null,
                () -> JNccl.ncclReduce(address(in), to, in.elements(), type, op, root, comm(), stream()));
    }

    @Override
    protected Work startBroadcast(CallRecord record, NdArray array, int root) {
        if (array.elements() == 0) {
            return nothing(record);
        }
        long at = address(array);
        int type = NcclTypes.of(array.dtype());
        return issue(
                record, array, null, () -> JNccl.ncclBroadcast(at, at, array.elements(), type, root, comm(), stream()));
    }

    @Override
    protected Work startAllGather(CallRecord record, NdArray in, NdArray out, long[] counts) {
        if (out.elements() == 0) {
            return nothing(record);
        }
        int type = NcclTypes.of(in.dtype());
        if (isEven(counts)) {
            return issue(
                    record,
                    in,
                    out,
                    () -> JNccl.ncclAllGather(address(in), address(out), counts[0], type, comm(), stream()));
        }
        return issueGroup(record, in, out, () -> {
            long at = address(out);
            for (int from = 0; from < counts.length; from++) {
                if (counts[from] > 0) {
                    long source = from == rank() ? address(in) : at;
                    JNccl.ncclBroadcast(source, at, counts[from], type, from, comm(), stream());
                }
                at += counts[from] * in.dtype().bytes();
            }
        });
    }

    @Override
    protected Work startReduceScatter(CallRecord record, NdArray in, NdArray out, long[] counts, ReduceOp reduction) {
        if (in.elements() == 0) {
            return nothing(record);
        }
        int type = NcclTypes.of(in.dtype());
        int op = NcclTypes.of(in.dtype(), reduction);
        if (isEven(counts)) {
            return issue(
                    record,
                    in,
                    out,
                    () -> JNccl.ncclReduceScatter(address(in), address(out), counts[0], type, op, comm(), stream()));
        }
        return issueGroup(record, in, out, () -> {
            long at = address(in);
            for (int to = 0; to < counts.length; to++) {
                if (counts[to] > 0) {
                    long target = to == rank() ? address(out) : at;
                    JNccl.ncclReduce(at, target, counts[to], type, op, to, comm(), stream());
                }
                at += counts[to] * in.dtype().bytes();
            }
        });
    }

    private static boolean isEven(long[] counts) {
        for (long count : counts) {
            if (count != counts[0]) {
                return false;
            }
        }
        return true;
    }

    /** Always in pairs: that all counts are alike here does not say that they are on the other ranks. */
    @Override
    protected Work startAllToAll(CallRecord record, NdArray in, long[] send, NdArray out, long[] receive) {
        if (in.elements() == 0 && out.elements() == 0) {
            return nothing(record);
        }
        int type = NcclTypes.of(in.dtype());
        int width = in.dtype().bytes();
        return issueGroup(record, in, out, () -> {
            long from = address(in);
            long to = address(out);
            for (int peer = 0; peer < size(); peer++) {
                if (send[peer] > 0) {
                    JNccl.ncclSend(from, send[peer], type, peer, comm(), stream());
                }
                if (receive[peer] > 0) {
                    JNccl.ncclRecv(to, receive[peer], type, peer, comm(), stream());
                }
                from += send[peer] * width;
                to += receive[peer] * width;
            }
        });
    }

    @Override
    protected Work startSend(CallRecord record, NdArray array, int peer) {
        return message(record, array, peer, true);
    }

    @Override
    protected Work startReceive(CallRecord record, NdArray array, int peer) {
        return message(record, array, peer, false);
    }

    private Work message(CallRecord record, NdArray array, int peer, boolean send) {
        if (array.elements() == 0) {
            return nothing(record);
        }
        NcclLink link = (send ? sends : receives).computeIfAbsent(peer, other -> link(other, send));
        if (session.backend().computeStream().isCapturing() && !link.isConnected()) {
            throw new CommunicationException(record + " is captured before any message has gone this way"
                    + "; HINT: run the step once as it is before it is captured");
        }
        return link.post(record, array);
    }

    private NcclLink link(int peer, boolean send) {
        String key = path + "/" + (send ? rank() + ">" + peer : peer + ">" + rank());
        String name = (send ? "send to rank " : "receive from rank ") + peer + " of " + name();
        int me = worldRanks().get(rank());
        int other = worldRanks().get(peer);
        return new NcclLink(session, key, name, send ? List.of(me, other) : List.of(other, me), send);
    }

    @Override
    protected Work startBarrier(CallRecord record) {
        if (session.backend().computeStream().isCapturing()) {
            throw new CommunicationException(
                    record + " cannot be part of a captured step, which waits for nothing; HINT: leave it out");
        }
        NdArray one = token;
        if (one == null) {
            one = session.note(DType.INT32, 1);
            token = one;
        }
        long at = address(one);
        NcclWork work = (NcclWork) issue(
                record,
                one,
                null,
                () -> JNccl.ncclAllReduce(at, at, 1, NcclDataType.ncclInt32, NcclRedOp.ncclMax, comm(), stream()));
        session.waitFor(work);
        return work;
    }

    /**
     * The record of a run of a captured step, in which the ranks of this group meet: it has no calls of its own any more.
     */
    CallRecord stepRecord() {
        ExecutionContext context = ExecutionContext.current();
        String path = context.setModulePath("a captured step");
        try {
            return internalCall(Collective.BARRIER);
        } finally {
            context.setModulePath(path);
        }
    }

    @Override
    protected ProcessGroup startSplit(CallRecord record, String name, int color, int key) {
        SplitRequest request = new SplitRequest(rank(), color, key, name.hashCode());
        List<Integer> ranks = SplitRequest.members(exchange(record, request), request, name);
        // The places are ours, so that NCCL's idea of colors and keys and ours cannot differ.
        int place = ranks.indexOf(rank());
        int smallest = ranks.stream().mapToInt(Integer::intValue).min().orElse(0);
        String childPath = path + "/" + splits++ + "." + smallest;
        List<Integer> worldRanks = ranks.stream().map(worldRanks()::get).toList();
        Communicator made = JNccl.has("ncclCommSplit")
                ? communicator.split(record, smallest, place, worldRanks)
                : Communicator.join(session, childPath, worldRanks, place, session.shareId(childPath, place == 0));
        return new NcclProcessGroup(session, made, childPath, name, place, worldRanks);
    }

    private List<SplitRequest> exchange(CallRecord record, SplitRequest request) {
        int fields = 3;
        NdArray mine = session.note(DType.INT32, fields);
        NdArray all = session.note(DType.INT32, (long) fields * size());
        ByteBuffer bytes =
                ByteBuffer.allocateDirect(fields * size() * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(request.color())
                .putInt(request.key())
                .putInt(request.nameHash())
                .flip();
        session.backend().copyIn(bytes, mine);
        Work work = issue(
                record,
                mine,
                all,
                () -> JNccl.ncclAllGather(
                        address(mine), address(all), fields, NcclDataType.ncclInt32, comm(), stream()));
        session.waitFor((NcclWork) work);
        work.await();
        session.backend().copyOut(all, bytes.clear());
        bytes.clear();
        List<SplitRequest> requests = new ArrayList<>();
        for (int rank = 0; rank < size(); rank++) {
            requests.add(new SplitRequest(rank, bytes.getInt(), bytes.getInt(), bytes.getInt()));
        }
        mine.storage().release();
        all.storage().release();
        return requests;
    }

    @Override
    protected void release() {
        if (session.isOver()) {
            return;
        }
        session.drain(session.collectives());
        sends.values().forEach(NcclLink::leave);
        receives.values().forEach(NcclLink::leave);
        communicator.leave();
    }
}
