package org.tp4j.mpi;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.tensor.NdArray;

/** Collectives that move values without reducing them. */
final class MpiTransfers {
    /** Up to this size a broadcast's root sends the whole value to every rank. */
    private static final long DIRECT_BYTES = 64 * 1024;

    private MpiTransfers() {}

    /** All-gather: each rank sends its run to every other rank. */
    static final class Gather extends MpiWork {
        private final NdArray in;
        private final NdArray out;
        private final long[] counts;
        private final int width;
        private @Nullable NativeBuffer all;

        Gather(MpiComm comm, CallRecord record, NdArray in, NdArray out, long[] counts) {
            super(
                    comm,
                    record,
                    record.sequence(),
                    Arrays.stream(counts).max().orElse(0),
                    SLICE_BYTES / comm.size() / in.dtype().bytes());
            this.in = in;
            this.out = out;
            this.counts = counts;
            this.width = in.dtype().bytes();
        }

        @Override
        int phases() {
            return 1;
        }

        @Override
        MessageBatch prepare(int phase, long from, long to) {
            long total = 0;
            long own = 0;
            for (int r = 0; r < counts.length; r++) {
                own = r == comm.rank() ? total : own;
                total += part(counts[r], from, to) * width;
            }
            NativeBuffer buffer = take(total);
            all = buffer;
            long mine = part(counts[comm.rank()], from, to);
            copyOut(in, from, mine, buffer, own);
            MessageBatch messages = messages(phase, 2 * counts.length);
            long at = 0;
            for (int peer = 0; peer < counts.length; peer++) {
                long bytes = part(counts[peer], from, to) * width;
                if (peer != comm.rank()) {
                    messages.receive(peer, buffer, at, bytes);
                    messages.send(peer, buffer, own, mine * width);
                }
                at += bytes;
            }
            return messages;
        }

        @Override
        void complete(int phase, long from, long to) {
            long first = 0;
            long at = 0;
            for (int peer = 0; peer < counts.length; peer++) {
                long n = part(counts[peer], from, to);
                if (peer == comm.rank()) {
                    copy(in, from, out, first + from, n);
                } else {
                    copyIn(Objects.requireNonNull(all), at, out, first + from, n);
                }
                first += counts[peer];
                at += n * width;
            }
        }
    }

    /** All-to-all. */
    static final class AllToAll extends MpiWork {
        private final NdArray in;
        private final NdArray out;
        private final long[] sends;
        private final long[] receives;
        private final int width;
        private @Nullable NativeBuffer received;

        AllToAll(MpiComm comm, CallRecord record, NdArray in, long[] sends, NdArray out, long[] receives) {
            super(
                    comm,
                    record,
                    record.sequence(),
                    Math.max(
                            Arrays.stream(sends).max().orElse(0),
                            Arrays.stream(receives).max().orElse(0)),
                    SLICE_BYTES / 2 / comm.size() / in.dtype().bytes());
            this.in = in;
            this.out = out;
            this.sends = sends;
            this.receives = receives;
            this.width = in.dtype().bytes();
        }

        @Override
        int phases() {
            return 1;
        }

        private long total(long[] counts, long from, long to) {
            long total = 0;
            for (long count : counts) {
                total += part(count, from, to) * width;
            }
            return total;
        }

        @Override
        MessageBatch prepare(int phase, long from, long to) {
            NativeBuffer sent = take(total(sends, from, to));
            NativeBuffer got = take(total(receives, from, to));
            received = got;
            MessageBatch messages = messages(phase, 2 * sends.length);
            long first = 0;
            long sendAt = 0;
            long receiveAt = 0;
            for (int peer = 0; peer < sends.length; peer++) {
                long n = part(sends[peer], from, to);
                long m = part(receives[peer], from, to);
                if (peer != comm.rank()) {
                    copyOut(in, first + from, n, sent, sendAt);
                    messages.receive(peer, got, receiveAt, m * width);
                    messages.send(peer, sent, sendAt, n * width);
                }
                first += sends[peer];
                sendAt += n * width;
                receiveAt += m * width;
            }
            return messages;
        }

        @Override
        void complete(int phase, long from, long to) {
            long first = 0;
            long at = 0;
            for (int peer = 0; peer < receives.length; peer++) {
                long n = part(receives[peer], from, to);
                if (peer == comm.rank()) {
                    long mine = Arrays.stream(sends, 0, peer).sum();
                    copy(in, mine + from, out, first + from, n);
                } else {
                    copyIn(Objects.requireNonNull(received), at, out, first + from, n);
                }
                first += receives[peer];
                at += n * width;
            }
        }
    }

    /** Broadcast: the root sends the whole value to every rank; if it is large, a piece to each, which passes it on. */
    static final class Broadcast extends MpiWork {
        private final NdArray array;
        private final int root;
        private final int size;
        private final int me;
        private final int width;
        private final boolean pieces;
        private @Nullable NativeBuffer all;

        Broadcast(MpiComm comm, CallRecord record, NdArray array, int root) {
            super(
                    comm,
                    record,
                    record.sequence(),
                    array.elements(),
                    SLICE_BYTES / array.dtype().bytes());
            this.array = array;
            this.root = root;
            this.size = comm.size();
            this.me = comm.rank();
            this.width = array.dtype().bytes();
            this.pieces = size > 2 && array.elements() * width > DIRECT_BYTES;
        }

        @Override
        int phases() {
            return pieces ? 2 : 1;
        }

        @Override
        MessageBatch prepare(int phase, long from, long to) {
            long bytes = (to - from) * width;
            if (phase == 0) {
                all = take(bytes);
                if (me == root) {
                    copyOut(array, from, to - from, all, 0);
                }
            }
            NativeBuffer buffer = Objects.requireNonNull(all);
            MessageBatch messages = messages(phase, 2 * size);
            long each = (to - from + size - 1) / size * width;
            for (int i = 1; i < size; i++) {
                int peer = (me + i) % size;
                if (!pieces) {
                    transfer(messages, buffer, peer, 0, bytes);
                } else if (phase == 0) {
                    int owner = me == root ? peer : me;
                    transfer(messages, buffer, peer, owner * each, part(bytes, owner * each, (owner + 1) * each));
                } else {
                    if (me != root) {
                        messages.receive(peer, buffer, peer * each, part(bytes, peer * each, (peer + 1) * each));
                    }
                    if (peer != root) {
                        messages.send(peer, buffer, me * each, part(bytes, me * each, (me + 1) * each));
                    }
                }
            }
            return messages;
        }

        /** A piece of the root's value to another rank. */
        private void transfer(MessageBatch messages, NativeBuffer buffer, int peer, long at, long bytes) {
            if (me == root) {
                messages.send(peer, buffer, at, bytes);
            } else if (peer == root) {
                messages.receive(peer, buffer, at, bytes);
            }
        }

        @Override
        void complete(int phase, long from, long to) {
            if (me != root && phase == phases() - 1) {
                copyIn(Objects.requireNonNull(all), 0, array, from, to - from);
            }
        }
    }

    /** A send or a receive. */
    static final class Message extends MpiWork {
        private final NdArray array;
        private final boolean receives;
        private final int peer;
        private @Nullable NativeBuffer buffer;

        Message(MpiComm comm, CallRecord record, long sequence, NdArray array, int peer, boolean receives) {
            super(
                    comm,
                    record,
                    sequence,
                    array.elements(),
                    SLICE_BYTES / array.dtype().bytes());
            this.array = array;
            this.receives = receives;
            this.peer = peer;
        }

        @Override
        int phases() {
            return 1;
        }

        @Override
        MessageBatch prepare(int phase, long from, long to) {
            long bytes = (to - from) * array.dtype().bytes();
            NativeBuffer memory = take(bytes);
            buffer = memory;
            MessageBatch messages = messages(phase, 1);
            if (receives) {
                messages.receive(peer, memory, 0, bytes);
            } else {
                copyOut(array, from, to - from, memory, 0);
                messages.send(peer, memory, 0, bytes);
            }
            return messages;
        }

        @Override
        void complete(int phase, long from, long to) {
            if (receives) {
                copyIn(Objects.requireNonNull(buffer), 0, array, from, to - from);
            }
        }
    }

    /** Barrier: an empty message between every two ranks. */
    static final class Barrier extends MpiWork {
        Barrier(MpiComm comm, CallRecord record) {
            super(comm, record, record.sequence(), 1, 1);
        }

        @Override
        int phases() {
            return 1;
        }

        @Override
        MessageBatch prepare(int phase, long from, long to) {
            MessageBatch messages = messages(phase, 2 * comm.size());
            for (int peer = 0; peer < comm.size(); peer++) {
                if (peer != comm.rank()) {
                    messages.empty(peer);
                }
            }
            return messages;
        }

        @Override
        void complete(int phase, long from, long to) {}
    }

    /** All ranks' bytes, equally many from each: for splitting groups and starting up. */
    static final class Bytes extends MpiWork {
        private final byte[] mine;
        private final byte[][] all;
        private @Nullable NativeBuffer buffer;

        Bytes(MpiComm comm, CallRecord record, byte[] mine) {
            super(comm, record, record.sequence(), 1, 1);
            this.mine = mine;
            this.all = new byte[comm.size()][];
        }

        /** All ranks' bytes, in rank order, once awaited. */
        byte[][] all() {
            return all;
        }

        @Override
        int phases() {
            return 1;
        }

        @Override
        MessageBatch prepare(int phase, long from, long to) {
            int length = mine.length;
            NativeBuffer memory = take((long) length * all.length);
            buffer = memory;
            memory.slice(comm.rank() * length, length).put(mine);
            MessageBatch messages = messages(phase, 2 * all.length);
            for (int peer = 0; peer < all.length; peer++) {
                if (peer != comm.rank()) {
                    messages.receive(peer, memory, (long) peer * length, length);
                    messages.send(peer, memory, (long) comm.rank() * length, length);
                }
            }
            return messages;
        }

        @Override
        void complete(int phase, long from, long to) {
            for (int rank = 0; rank < all.length; rank++) {
                all[rank] = new byte[mine.length];
                Objects.requireNonNull(buffer)
                        .slice(rank * mine.length, mine.length)
                        .get(all[rank]);
            }
        }
    }
}
