package org.tp4j.mpi;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Collectives that reduce. Each element is reduced in rank order, by all ranks or by one: the same bits everywhere. */
final class MpiReductions {
    /** Up to this size every rank sends its whole input to every other and reduces all of them: one round instead of two. */
    private static final long DIRECT_BYTES = 16 * 1024;

    /** Two ranks move as much either way, so only reducing the whole on both weighs against the saved round. */
    private static final long DIRECT_BYTES_OF_TWO = 256 * 1024;

    /** In place of a root: all ranks get the result. */
    private static final int ALL_RANKS = -1;

    private MpiReductions() {}

    static MpiWork allReduce(MpiComm comm, CallRecord record, NdArray in, NdArray out, ReduceOp op) {
        long bytes = in.elements() * in.dtype().bytes();
        return bytes <= (comm.size() == 2 ? DIRECT_BYTES_OF_TWO : DIRECT_BYTES)
                ? new Direct(comm, record, in, out, op, ALL_RANKS)
                : new Chunked(comm, record, in, out, op);
    }

    static MpiWork reduce(MpiComm comm, CallRecord record, NdArray in, NdArray out, ReduceOp op, int root) {
        return new Direct(comm, record, in, out, op, root);
    }

    /** What reductions share. */
    private abstract static class Reduction extends MpiWork {
        final NdArray in;
        final NdArray out;
        final DType dtype;
        final ReduceOp op;
        final int size;
        final int me;
        final int width;

        Reduction(MpiComm comm, CallRecord record, NdArray in, NdArray out, ReduceOp op, long end, long step) {
            super(comm, record, record.sequence(), end, step);
            this.in = in;
            this.out = out;
            this.dtype = in.dtype();
            this.op = op;
            this.size = comm.size();
            this.me = comm.rank();
            this.width = dtype.bytes();
        }

        /** One run per rank, {@code n} elements apart. */
        final BufferReducer.Run[] slots(NativeBuffer all, long n) {
            BufferReducer.Run[] runs = new BufferReducer.Run[size];
            Arrays.setAll(runs, r -> new BufferReducer.Run(all, (int) (r * n * width)));
            return runs;
        }
    }

    /** Small all-reduce, and reduce: each rank that needs the result gets all ranks' values and reduces them. */
    static final class Direct extends Reduction {
        private final int root;
        private @Nullable NativeBuffer all;

        Direct(MpiComm comm, CallRecord record, NdArray in, NdArray out, ReduceOp op, int root) {
            super(
                    comm,
                    record,
                    in,
                    out,
                    op,
                    in.elements(),
                    SLICE_BYTES / comm.size() / in.dtype().bytes());
            this.root = root;
        }

        @Override
        int phases() {
            return 1;
        }

        private boolean reduces(int rank) {
            return root == ALL_RANKS || root == rank;
        }

        @Override
        MessageBatch prepare(int phase, long from, long to) {
            long n = to - from;
            long bytes = n * width;
            NativeBuffer buffer = take(reduces(me) ? size * bytes : bytes);
            all = buffer;
            long own = reduces(me) ? me * bytes : 0;
            copyOut(in, from, n, buffer, own);
            MessageBatch messages = messages(phase, 2 * size);
            for (int peer = 0; peer < size; peer++) {
                if (peer != me && reduces(me)) {
                    messages.receive(peer, buffer, peer * bytes, bytes);
                }
            }
            for (int peer = 0; peer < size; peer++) {
                if (peer != me && reduces(peer)) {
                    messages.send(peer, buffer, own, bytes);
                }
            }
            return messages;
        }

        @Override
        void complete(int phase, long from, long to) {
            if (reduces(me)) {
                BufferReducer.Run[] runs = slots(Objects.requireNonNull(all), to - from);
                Shape shape = Shape.of(to - from);
                BufferReducer.reduce(dtype, op, runs, me, in.window(from, shape), out.window(from, shape));
            }
        }
    }

    /** Large all-reduce: each rank reduces a piece, then all ranks gather the pieces. */
    static final class Chunked extends Reduction {
        private @Nullable NativeBuffer whole;
        private @Nullable NativeBuffer pieces;

        Chunked(MpiComm comm, CallRecord record, NdArray in, NdArray out, ReduceOp op) {
            super(
                    comm,
                    record,
                    in,
                    out,
                    op,
                    in.elements(),
                    SLICE_BYTES / 2 / in.dtype().bytes());
        }

        @Override
        int phases() {
            return 2;
        }

        private long piece(long n) {
            return (n + size - 1) / size;
        }

        private long length(int rank, long n) {
            return part(n, rank * piece(n), (rank + 1) * piece(n));
        }

        @Override
        MessageBatch prepare(int phase, long from, long to) {
            long n = to - from;
            long pieceBytes = piece(n) * width;
            MessageBatch messages = messages(phase, 2 * size);
            if (phase == 0) {
                whole = take(n * width);
                pieces = take(size * pieceBytes);
                for (int peer = 0; peer < size; peer++) {
                    if (peer != me || !BufferReducer.isHost(in)) {
                        copyOut(in, from + peer * piece(n), length(peer, n), whole, peer * pieceBytes);
                    }
                }
            }
            NativeBuffer all = Objects.requireNonNull(whole);
            NativeBuffer mine = Objects.requireNonNull(pieces);
            for (int i = 1; i < size; i++) {
                int peer = (me + i) % size;
                if (phase == 0) {
                    messages.receive(peer, mine, peer * pieceBytes, length(me, n) * width);
                    messages.send(peer, all, peer * pieceBytes, length(peer, n) * width);
                } else {
                    messages.receive(peer, all, peer * pieceBytes, length(peer, n) * width);
                    messages.send(peer, all, me * pieceBytes, length(me, n) * width);
                }
            }
            return messages;
        }

        @Override
        void complete(int phase, long from, long to) {
            long n = to - from;
            long piece = piece(n);
            NativeBuffer all = Objects.requireNonNull(whole);
            if (phase == 0 && length(me, n) > 0) {
                BufferReducer.Run[] runs = slots(Objects.requireNonNull(pieces), piece);
                runs[me] = new BufferReducer.Run(all, (int) (me * piece * width));
                Shape shape = Shape.of(length(me, n));
                NdArray result = out.window(from + me * piece, shape);
                BufferReducer.reduce(dtype, op, runs, me, in.window(from + me * piece, shape), result);
                copyOut(result, 0, result.elements(), all, me * piece * width);
            } else if (phase == 1) {
                for (int peer = 0; peer < size; peer++) {
                    if (peer != me) {
                        copyIn(all, peer * piece * width, out, from + peer * piece, length(peer, n));
                    }
                }
            }
        }
    }

    /** Reduce-scatter: each rank gets its piece of all ranks' inputs and reduces it. */
    static final class Scatter extends Reduction {
        private final long[] counts;
        private final long first;
        private @Nullable NativeBuffer received;

        Scatter(MpiComm comm, CallRecord record, NdArray in, NdArray out, long[] counts, ReduceOp op) {
            super(
                    comm,
                    record,
                    in,
                    out,
                    op,
                    Arrays.stream(counts).max().orElse(0),
                    SLICE_BYTES / comm.size() / in.dtype().bytes());
            this.counts = counts;
            this.first = Arrays.stream(counts, 0, me).sum();
        }

        @Override
        int phases() {
            return 1;
        }

        @Override
        MessageBatch prepare(int phase, long from, long to) {
            long own = part(counts[me], from, to);
            long total = 0;
            for (long count : counts) {
                total += part(count, from, to);
            }
            NativeBuffer outgoing = take(total * width);
            NativeBuffer slots = take(size * own * width);
            received = slots;
            MessageBatch messages = messages(phase, 2 * size);
            long begin = 0;
            long at = 0;
            for (int peer = 0; peer < size; peer++) {
                long n = part(counts[peer], from, to);
                if (peer == me) {
                    if (!BufferReducer.isHost(in)) {
                        copyOut(in, begin + from, n, slots, me * own * width);
                    }
                } else {
                    copyOut(in, begin + from, n, outgoing, at);
                    messages.receive(peer, slots, peer * own * width, own * width);
                    messages.send(peer, outgoing, at, n * width);
                }
                begin += counts[peer];
                at += n * width;
            }
            return messages;
        }

        @Override
        void complete(int phase, long from, long to) {
            long own = part(counts[me], from, to);
            if (own > 0) {
                BufferReducer.Run[] runs = slots(Objects.requireNonNull(received), own);
                Shape shape = Shape.of(own);
                BufferReducer.reduce(dtype, op, runs, me, in.window(first + from, shape), out.window(from, shape));
            }
        }
    }
}
