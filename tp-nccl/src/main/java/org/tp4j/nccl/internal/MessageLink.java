package org.tp4j.nccl.internal;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.cuda.HeldMemory;
import org.tp4j.nccl.JNccl;
import org.tp4j.nccl.NcclUniqueId;
import org.tp4j.tensor.NdArray;

/**
 * Messages from one rank of a group to another. A link has a communicator of these two ranks and a stream of its own, so
 * that no message waits for one in another direction or for a collective, whatever order the ranks make their calls in. It
 * connects at the first message, on a thread of its own, since the peer may make its first call much later; until then
 * messages are queued.
 */
final class MessageLink {
    private final SessionParts session;
    private final String key;
    private final List<Integer> worldRanks;
    private final boolean sends;
    private final CallStream stream;
    private final List<Message> queued = new ArrayList<>(); // guarded by this, as is the communicator
    private @Nullable Communicator communicator;

    /** A message that has not been enqueued. */
    private record Message(NcclWork work, HeldMemory memory, long elements, int type) {}

    /**
     * A link as one of its ends sees it.
     *
     * @param key identifies the link: the same on both ends, different for every link of the job
     * @param name name for people
     * @param worldRanks the sender and the receiver
     * @param sends whether this rank is the sender
     */
    MessageLink(SessionParts session, String key, String name, List<Integer> worldRanks, boolean sends) {
        this.session = session;
        this.key = key;
        this.worldRanks = worldRanks;
        this.sends = sends;
        this.stream = session.streams().open(name);
        Thread thread = new Thread(this::connect, "tp4j-nccl " + name);
        thread.setDaemon(true);
        thread.start();
    }

    private void connect() {
        NcclContext context = session.context();
        try {
            NcclUniqueId id = context.shareId(key, sends);
            Communicator joined = session.communicators().join(key, worldRanks, sends ? 0 : 1, id);
            synchronized (this) {
                communicator = joined;
                queued.forEach(message -> enqueue(joined, message));
                queued.clear();
            }
        } catch (CommunicationException e) {
            giveUp(e);
        } catch (RuntimeException | LinkageError e) {
            giveUp(new CommunicationException("rank " + context.member().rank() + " in " + key + ": " + e, e));
        }
    }

    private void giveUp(CommunicationException reason) {
        session.context().fail(reason);
        synchronized (this) {
            queued.forEach(message -> message.memory.close());
            queued.clear();
        }
    }

    /** Waits for all messages, and frees the link. */
    void leave() {
        session.streams().drain(stream);
        Communicator joined;
        synchronized (this) {
            joined = communicator;
        }
        if (joined != null) {
            session.communicators().leave(joined);
        }
        session.streams().free(stream);
    }

    /** Whether the two ends are connected. */
    synchronized boolean isConnected() {
        return communicator != null;
    }

    /** Sends or receives an array. Its memory is held until the message has been enqueued, which may be much later. */
    synchronized NcclWork post(CallRecord record, NdArray array) {
        NcclWork work = stream.begin(record, worldRanks);
        Message message = new Message(
                work, session.context().backend().hold(array), array.elements(), NcclTypes.of(array.dtype()));
        Communicator connected = communicator;
        if (connected != null) {
            enqueue(connected, message);
        } else {
            queued.add(message);
        }
        return work;
    }

    private void enqueue(Communicator connected, Message message) {
        long handle = stream.stream().handle();
        long address = message.memory.address();
        Runnable call = sends
                ? () -> JNccl.ncclSend(address, message.elements, message.type, 1, connected.comm(), handle)
                : () -> JNccl.ncclRecv(address, message.elements, message.type, 0, connected.comm(), handle);
        try (HeldMemory memory = message.memory) {
            stream.enqueue(message.work, () -> connected.run(message.work.record(), call), memory::usedOn);
        }
    }
}
