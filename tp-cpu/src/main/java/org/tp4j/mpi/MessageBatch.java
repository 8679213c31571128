package org.tp4j.mpi;

import java.nio.ByteBuffer;

/** A set of sends and receives that go out together and are complete together. */
final class MessageBatch {
    private static final int ENTRY_BYTES = 5 * Long.BYTES;

    private final NativeBuffer.Pool pool;
    private final MpiTags tags;
    private final int tagBase;
    private final NativeBuffer plan;
    private final int capacity;
    private int count;

    /**
     * Room for {@code capacity} messages.
     *
     * @param tagBase what the ranks' calls have in common; see {@link MpiTags}
     */
    MessageBatch(NativeBuffer.Pool pool, MpiTags tags, int tagBase, int capacity) {
        this.pool = pool;
        this.tags = tags;
        this.tagBase = tagBase;
        this.capacity = capacity;
        this.plan = pool.take((long) capacity * (ENTRY_BYTES + Long.BYTES));
    }

    /** Bytes {@code at} to {@code at + bytes} to a peer. */
    void send(int peer, NativeBuffer from, long at, long bytes) {
        add(0, peer, from, at, bytes);
    }

    /** From a peer into bytes {@code at} to {@code at + bytes}. */
    void receive(int peer, NativeBuffer into, long at, long bytes) {
        add(1, peer, into, at, bytes);
    }

    private void add(int receive, int peer, NativeBuffer data, long at, long bytes) {
        if (bytes == 0) {
            return; // both sides know
        }
        put(receive, peer, data.address() + at, bytes);
    }

    /** A message without content in each direction. */
    void greet(int peer) {
        put(1, peer, plan.address(), 0);
        put(0, peer, plan.address(), 0);
    }

    private void put(int receive, int peer, long address, long bytes) {
        if (count == capacity) {
            throw new IllegalStateException("more messages than planned");
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

    /** Lets all of them go. */
    void post(long comm) {
        MpiNative.post(comm, plan.address(), count, requests());
    }

    /** Whether all are complete; then this object is of no further use. */
    boolean test() {
        if (!MpiNative.test(requests(), count)) {
            return false;
        }
        pool.give(plan);
        return true;
    }
}
