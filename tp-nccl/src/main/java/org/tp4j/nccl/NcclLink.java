package org.tp4j.nccl;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.tensor.NdArray;

/**
 * Messages from one rank of a group to another: a communicator of these two and a stream of its own, so that no message
 * waits for one in another direction or for a collective, whatever order the ranks make their calls in. It is made at the
 * first message, by a thread of its own, since the peer may come to its first call much later; until then messages queue.
 */
final class NcclLink {
    private final NcclSession session;
    private final String key;
    private final List<Integer> worldRanks;
    private final boolean sends;
    private final NcclLane lane;
    private final List<Runnable> queued = new ArrayList<>();
    private @Nullable Communicator communicator;

    /**
     * A link as one of its ends sees it.
     *
     * @param key name of the link, the same on both ends, different for every link of the job
     * @param name for people
     * @param worldRanks the sender and the receiver
     * @param sends whether this rank is the one that sends
     */
    NcclLink(NcclSession session, String key, String name, List<Integer> worldRanks, boolean sends) {
        this.worldRanks = worldRanks;
        this.session = session;
        this.key = key;
        this.sends = sends;
        this.lane = session.newLane(name);
        Thread thread = new Thread(this::connect, "tp4j-nccl " + name);
        thread.setDaemon(true);
        thread.start();
    }

    private void connect() {
        try {
            NcclUniqueId id = session.shareId(key, sends);
            Communicator joined = Communicator.join(session, key, worldRanks, sends ? 0 : 1, id);
            synchronized (this) {
                communicator = joined;
                queued.forEach(Runnable::run);
                queued.clear();
            }
        } catch (CommunicationException e) {
            session.fail(e);
        } catch (RuntimeException | LinkageError e) {
            session.fail(new CommunicationException("rank " + session.member().rank() + " in " + key + ": " + e, e));
        }
    }

    /** The orderly end, once all messages have been. */
    void leave() {
        session.drain(lane);
        Communicator joined;
        synchronized (this) {
            joined = communicator;
        }
        if (joined != null) {
            joined.leave();
        }
        session.freeLane(lane);
    }

    /** Whether the two ends have found each other. */
    synchronized boolean isConnected() {
        return communicator != null;
    }

    /** Sends or receives an array. */
    synchronized NcclWork post(CallRecord record, NdArray array) {
        NcclWork work = lane.begin(record, worldRanks);
        Communicator ready = communicator;
        if (ready != null) {
            issue(ready, work, array);
        } else {
            queued.add(() -> issue(Objects.requireNonNull(communicator), work, array));
        }
        return work;
    }

    private void issue(Communicator ready, NcclWork work, NdArray array) {
        long address = session.backend().address(array);
        int type = NcclTypes.of(array.dtype());
        long stream = lane.stream().handle();
        Runnable call = sends
                ? () -> JNccl.ncclSend(address, array.elements(), type, 1, ready.comm(), stream)
                : () -> JNccl.ncclRecv(address, array.elements(), type, 0, ready.comm(), stream);
        lane.issue(work, () -> ready.run(work.record(), call), array, null);
    }
}
