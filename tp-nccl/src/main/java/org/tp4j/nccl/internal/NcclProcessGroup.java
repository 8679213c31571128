package org.tp4j.nccl.internal;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
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
import org.tp4j.nccl.JNccl;
import org.tp4j.nccl.NcclComm;
import org.tp4j.nccl.NcclDataType;
import org.tp4j.nccl.NcclRedOp;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;

/**
 * A group of ranks with a GPU each, over NCCL, with a communicator of its own.
 *
 * <p>Calls are enqueued on the communication stream, behind the work enqueued on the compute stream so far, and return at
 * once. Awaiting a call makes the compute stream wait for it; the host does not wait until it reads a value. Calls can be
 * part of a captured step, except for those that block: barrier and split. Ranks that are in several groups together must
 * make their calls on all of these in the same order, since one stream carries them all.
 *
 * <p>Sums of 16-bit floats are rounded wherever NCCL passes them on, and an average of floats is the sum of each value times
 * the rounded reciprocal of the number of ranks: that is how NCCL computes them.
 */
final class NcclProcessGroup extends EngineGroup {
    private final SessionParts session;
    private final NcclContext context;
    private final CallStream collectives;
    private final Communicator communicator;
    private final FloatExtremes extremes;
    private final String path;
    private final Map<Integer, MessageLink> sends = new ConcurrentHashMap<>();
    private final Map<Integer, MessageLink> receives = new ConcurrentHashMap<>();
    private @Nullable NdArray barrierValue;
    private int splits;

    /**
     * A group.
     *
     * @param path its position in the tree of groups: the same on all its ranks, different for every group
     */
    NcclProcessGroup(
            SessionParts session,
            Communicator communicator,
            String path,
            String name,
            int rank,
            List<Integer> worldRanks) {
        super(name, rank, worldRanks, session.context().member().recorder());
        this.session = session;
        this.context = session.context();
        this.collectives = session.streams().collectives();
        this.communicator = communicator;
        this.extremes = new FloatExtremes(context, collectives, communicator);
        this.path = path;
    }

    private NcclComm comm() {
        return communicator.comm();
    }

    private long stream() {
        return collectives.stream().handle();
    }

    private long address(NdArray array) {
        return context.backend().address(array);
    }

    /** Enqueues one NCCL call. */
    private NcclWork enqueue(CallRecord record, @Nullable NdArray in, @Nullable NdArray out, Runnable call) {
        synchronized (collectives) {
            NcclWork work = collectives.begin(record, worldRanks());
            collectives.enqueue(work, () -> communicator.run(record, call), in, out);
            return work;
        }
    }

    /** Enqueues several NCCL calls as one group. */
    private NcclWork enqueueGroup(CallRecord record, NdArray in, NdArray out, Runnable calls) {
        synchronized (collectives) {
            NcclWork work = collectives.begin(record, worldRanks());
            collectives.enqueue(work, () -> communicator.runGroup(record, calls), in, out);
            return work;
        }
    }

    /** A call in which no rank has anything to move. */
    private static Work nothing(CallRecord record) {
        record.done();
        return Work.done();
    }

    @Override
    public Work startAllReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op) {
        if (in.elements() == 0) {
            return nothing(record);
        }
        if (FloatExtremes.include(in.dtype(), op)) {
            return extremes.allReduce(record, in, out, op);
        }
        int type = NcclTypes.of(in.dtype());
        int ncclOp = NcclTypes.of(in.dtype(), op);
        return enqueue(
                record,
                in,
                out,
                () -> JNccl.ncclAllReduce(address(in), address(out), in.elements(), type, ncclOp, comm(), stream()));
    }

    @Override
    public Work startReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op, int root) {
        if (in.elements() == 0) {
            return nothing(record);
        }
        boolean writes = root == rank();
        if (FloatExtremes.include(in.dtype(), op)) {
            return extremes.reduce(record, in, writes ? out : null, op, root);
        }
        int type = NcclTypes.of(in.dtype());
        int ncclOp = NcclTypes.of(in.dtype(), op);
        long to = writes ? address(out) : address(in);
        return enqueue(
                record,
                in,
                writes ? out : null,
                () -> JNccl.ncclReduce(address(in), to, in.elements(), type, ncclOp, root, comm(), stream()));
    }

    @Override
    public Work startBroadcast(CallRecord record, NdArray array, int root) {
        if (array.elements() == 0) {
            return nothing(record);
        }
        long at = address(array);
        int type = NcclTypes.of(array.dtype());
        return enqueue(
                record, array, null, () -> JNccl.ncclBroadcast(at, at, array.elements(), type, root, comm(), stream()));
    }

    @Override
    public Work startAllGather(CallRecord record, NdArray in, NdArray out, long[] counts) {
        if (out.elements() == 0) {
            return nothing(record);
        }
        int type = NcclTypes.of(in.dtype());
        if (isEven(counts)) {
            return enqueue(
                    record,
                    in,
                    out,
                    () -> JNccl.ncclAllGather(address(in), address(out), counts[0], type, comm(), stream()));
        }
        return enqueueGroup(record, in, out, () -> {
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
    public Work startReduceScatter(CallRecord record, NdArray in, NdArray out, long[] counts, ReduceOp op) {
        if (in.elements() == 0) {
            return nothing(record);
        }
        if (FloatExtremes.include(in.dtype(), op)) {
            return extremes.reduceScatter(record, in, out, counts, rank(), op);
        }
        int type = NcclTypes.of(in.dtype());
        int ncclOp = NcclTypes.of(in.dtype(), op);
        if (isEven(counts)) {
            return enqueue(
                    record,
                    in,
                    out,
                    () -> JNccl.ncclReduceScatter(
                            address(in), address(out), counts[0], type, ncclOp, comm(), stream()));
        }
        return enqueueGroup(record, in, out, () -> {
            long at = address(in);
            for (int to = 0; to < counts.length; to++) {
                if (counts[to] > 0) {
                    long target = to == rank() ? address(out) : at;
                    JNccl.ncclReduce(at, target, counts[to], type, ncclOp, to, comm(), stream());
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

    /** Always as sends and receives: equal counts on this rank do not imply equal counts on the others. */
    @Override
    public Work startAllToAll(CallRecord record, NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        if (in.elements() == 0 && out.elements() == 0) {
            return nothing(record);
        }
        int type = NcclTypes.of(in.dtype());
        int width = in.dtype().bytes();
        return enqueueGroup(record, in, out, () -> {
            long from = address(in);
            long to = address(out);
            for (int peer = 0; peer < size(); peer++) {
                if (sendCounts[peer] > 0) {
                    JNccl.ncclSend(from, sendCounts[peer], type, peer, comm(), stream());
                }
                if (receiveCounts[peer] > 0) {
                    JNccl.ncclRecv(to, receiveCounts[peer], type, peer, comm(), stream());
                }
                from += sendCounts[peer] * width;
                to += receiveCounts[peer] * width;
            }
        });
    }

    @Override
    public Work startSend(CallRecord record, NdArray array, int peer) {
        return array.elements() == 0
                ? nothing(record)
                : post(record, array, sends.computeIfAbsent(peer, to -> link(to, true)));
    }

    @Override
    public Work startReceive(CallRecord record, NdArray array, int peer) {
        return array.elements() == 0
                ? nothing(record)
                : post(record, array, receives.computeIfAbsent(peer, from -> link(from, false)));
    }

    private Work post(CallRecord record, NdArray array, MessageLink link) {
        if (context.backend().computeStream().isCapturing() && !link.isConnected()) {
            throw new CommunicationException(record + " is captured before the first message to or from this peer"
                    + "; HINT: run the step once without capturing it");
        }
        return link.post(record, array);
    }

    private MessageLink link(int peer, boolean send) {
        String key = path + "/" + (send ? rank() + ">" + peer : peer + ">" + rank());
        String name = (send ? "send to rank " : "receive from rank ") + peer + " of " + name();
        int me = worldRanks().get(rank());
        int other = worldRanks().get(peer);
        return new MessageLink(session, key, name, send ? List.of(me, other) : List.of(other, me), send);
    }

    @Override
    public Work startBarrier(CallRecord record) {
        if (context.backend().computeStream().isCapturing()) {
            throw new CommunicationException(
                    record + " cannot be part of a captured step, which does not block; HINT: leave it out");
        }
        NdArray value = barrierValue;
        if (value == null) {
            value = context.allocate(DType.INT32, 1);
            barrierValue = value;
        }
        long at = address(value);
        NcclWork work = enqueue(
                record,
                value,
                null,
                () -> JNccl.ncclAllReduce(at, at, 1, NcclDataType.ncclInt32, NcclRedOp.ncclMax, comm(), stream()));
        work.awaitOnHost();
        return work;
    }

    /** The record of one run of a captured step, which stands for all the calls that were captured. */
    CallRecord stepRecord() {
        ExecutionContext execution = ExecutionContext.current();
        String modulePath = execution.setModulePath("a captured step");
        try {
            return internalCall(Collective.BARRIER);
        } finally {
            execution.setModulePath(modulePath);
        }
    }

    @Override
    protected ProcessGroup startSplit(CallRecord record, String name, int color, int key) {
        List<Integer> ranks = SplitRequest.members(exchange(record, color, key, name.hashCode()), rank(), name);
        // NCCL gets the smallest rank as the color and the position as the key, so that it cannot group them
        // differently.
        int position = ranks.indexOf(rank());
        int smallest = Collections.min(ranks);
        String childPath = path + "/" + splits++ + "." + smallest;
        List<Integer> worldRanks = ranks.stream().map(worldRanks()::get).toList();
        Communicator part = JNccl.has("ncclCommSplit")
                ? session.communicators().split(communicator, record, smallest, position, worldRanks)
                : session.communicators()
                        .join(childPath, worldRanks, position, context.shareId(childPath, position == 0));
        return new NcclProcessGroup(session, part, childPath, name, position, worldRanks);
    }

    /** All ranks' split requests, in rank order. */
    private List<SplitRequest> exchange(CallRecord record, int color, int key, int nameHash) {
        int ints = SplitRequest.INTS;
        NdArray mine = context.allocate(DType.INT32, ints);
        NdArray all = context.allocate(DType.INT32, (long) ints * size());
        ByteBuffer bytes =
                ByteBuffer.allocateDirect(ints * size() * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(color).putInt(key).putInt(nameHash).flip();
        context.backend().copyIn(bytes, mine);
        NcclWork work = enqueue(
                record,
                mine,
                all,
                () -> JNccl.ncclAllGather(address(mine), address(all), ints, NcclDataType.ncclInt32, comm(), stream()));
        work.awaitOnHost();
        work.await();
        context.backend().copyOut(all, bytes.clear());
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
        if (context.isOver()) {
            return;
        }
        session.streams().drain(collectives);
        sends.values().forEach(MessageLink::leave);
        receives.values().forEach(MessageLink::leave);
        session.communicators().leave(communicator);
    }
}
