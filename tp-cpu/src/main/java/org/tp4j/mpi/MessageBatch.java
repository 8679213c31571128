package org.tp4j.mpi;

import java.nio.ByteBuffer;

/** A set of sends and receives that are posted and completed together. */
final class MessageBatch {
    private static final int ENTRY_BYTES = 5 * Long.BYTES;

    private final NativeBuffer.Pool pool;
    private final MpiTags tags;
    private final int tagBase;
    private final NativeBuffer plan;
    private final int capacity;
    private int count;

    /**
     * An empty batch for up to {@code capacity} messages.
     *
     * @param tagBase the common part of the messages' tags, see {@link MpiTags}
     */
    MessageBatch(NativeBuffer.Pool pool, MpiTags tags, int tagBase, int capacity) {
        this.pool = pool;
        this.tags = tags;
        this.tagBase = tagBase;
        this.capacity = capacity;
        this.plan = pool.take((long) capacity * (ENTRY_BYTES + Long.BYTES));
    }

    /** Sends bytes {@code at} to {@code at + bytes} to a peer. */
    void send(int peer, NativeBuffer from, long at, long bytes) {
        add(0, peer, from, at, bytes);
    }

    /** Receives bytes {@code at} to {@code at + bytes} from a peer. */
    void receive(int peer, NativeBuffer into, long at, long bytes) {
        add(1, peer, into, at, bytes);
    }

    private void add(int receive, int peer, NativeBuffer data, long at, long bytes) {
        if (bytes == 0) {
            return; // both sides know the length
        }
        put(receive, peer, data.address() + at, bytes);
    }

    /** Exchanges empty messages with a peer. */
    void empty(int peer) {
        put(1, peer, plan.address(), 0);
        put(0, peer, plan.address(), 0);
    }

    private void put(int receive, int peer, long address, long bytes) {
        if (count == capacity) {
            throw new IllegalStateException("more than " + capacity + " messages in a batch");
        }
        ByteBuffer entry = plan.buffer();
        int at = count++ * ENTRY_BYTES;
        entry.putLong(at, receive);
        entry.putLong(at + 8, peer);
        entry.putLong(at + 16, tags.tag(tagBase, bytes));
        entry.putLong(at + 24, address);
        entry.putLong(at + 32, bytes);
    }

    private long requests() {
        return plan.address() + (long) capacity * ENTRY_BYTES;
    }

    /** Posts all messages. */
    void post(long comm) {
        MpiNative.post(comm, plan.address(), count, requests());
    }

    /** Whether all messages are complete; if so, the batch must not be used any more. */
    boolean test() {
        if (!MpiNative.test(requests(), count)) {
            return false;
        }
        pool.give(plan);
        return true;
    }
}
