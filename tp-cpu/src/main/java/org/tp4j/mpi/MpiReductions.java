package org.tp4j.mpi;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Calls that join values. Every element is joined in rank order, by all ranks or by one owner: the same bits everywhere. */
final class MpiReductions {
    /** Up to here everybody sends everything to everybody and joins it all: one round instead of two. */
    private static final long DIRECT_BYTES = 16 * 1024;

    /** Two ranks move as much either way, so only the joining, which each does whole, weighs against the round saved. */
    private static final long DIRECT_BYTES_OF_TWO = 256 * 1024;

    private MpiReductions() {}

    static MpiWork allReduce(MpiGroup group, CallRecord record, NdArray in, NdArray out) {
        long bytes = in.elements() * in.dtype().bytes();
        return bytes <= (group.size() == 2 ? DIRECT_BYTES_OF_TWO : DIRECT_BYTES)
                ? new Direct(group, record, in, out)
                : new Chunked(group, record, in, out);
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

        Reduction(MpiGroup group, CallRecord record, NdArray in, NdArray out, long end, long step) {
            super(group, record, record.sequence(), end, step);
            this.in = in;
            this.out = out;
            this.dtype = in.dtype();
            this.op = Objects.requireNonNull(record.call().op());
            this.size = group.size();
            this.me = group.rank();
            this.width = dtype.bytes();
        }

        /** A run a rank, {@code n} elements apart. */
        final NativeReducer.Run[] slots(NativeBuffer all, long n) {
            NativeReducer.Run[] runs = new NativeReducer.Run[size];
            Arrays.setAll(runs, r -> new NativeReducer.Run(all, (int) (r * n * width)));
            return runs;
        }
    }

    /** Small all-reduce, and reduce: whoever needs the result gets everybody's values and joins them. */
    static final class Direct extends Reduction {
        private final int root;
        private @Nullable NativeBuffer all;

        Direct(MpiGroup group, CallRecord record, NdArray in, NdArray out) {
            super(
                    group,
                    record,
                    in,
                    out,
                    in.elements(),
                    SLICE_BYTES / group.size() / in.dtype().bytes());
            this.root = record.call().root();
        }

        @Override
        int phases() {
            return 1;
        }

        private boolean joins(int rank) {
            return root < 0 || root == rank;
        }

        @Override
        MessageBatch prepare(int phase, long from, long to) {
            long n = to - from;
            long bytes = n * width;
            NativeBuffer staging = take(joins(me) ? size * bytes : bytes);
            all = staging;
            long own = joins(me) ? me * bytes : 0;
            copyOut(in, from, n, staging, own);
            MessageBatch messages = messages(phase, 2 * size);
            for (int peer = 0; peer < size; peer++) {
                if (peer != me && joins(me)) {
                    messages.receive(peer, staging, peer * bytes, bytes);
                }
            }
            for (int peer = 0; peer < size; peer++) {
                if (peer != me && joins(peer)) {
                    messages.send(peer, staging, own, bytes);
                }
            }
            return messages;
        }

        @Override
        void complete(int phase, long from, long to) {
            if (joins(me)) {
                NativeReducer.Run[] runs = slots(Objects.requireNonNull(all), to - from);
                Shape shape = Shape.of(to - from);
                NativeReducer.join(dtype, op, runs, me, in.window(from, shape), out.window(from, shape));
            }
        }
    }

    /** Large all-reduce: each rank joins a piece, then all gather the pieces. */
    static final class Chunked extends Reduction {
        private @Nullable NativeBuffer whole;
        private @Nullable NativeBuffer pieces;

        Chunked(MpiGroup group, CallRecord record, NdArray in, NdArray out) {
            super(
                    group,
                    record,
                    in,
                    out,
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
                    if (peer != me || !NativeReducer.isHost(in)) {
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
                NativeReducer.Run[] runs = slots(Objects.requireNonNull(pieces), piece);
                runs[me] = new NativeReducer.Run(all, (int) (me * piece * width));
                Shape shape = Shape.of(length(me, n));
                NdArray result = out.window(from + me * piece, shape);
                NativeReducer.join(dtype, op, runs, me, in.window(from + me * piece, shape), result);
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

    /** Reduce-scatter: each rank gets its piece of everybody and joins it. */
    static final class Scatter extends Reduction {
        private final long[] counts;
        private final long first;
        private @Nullable NativeBuffer received;

        Scatter(MpiGroup group, CallRecord record, NdArray in, NdArray out, long[] counts) {
            super(
                    group,
                    record,
                    in,
                    out,
                    Arrays.stream(counts).max().orElse(0),
                    SLICE_BYTES / group.size() / in.dtype().bytes());
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
                    if (!NativeReducer.isHost(in)) {
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
                NativeReducer.Run[] runs = slots(Objects.requireNonNull(received), own);
                Shape shape = Shape.of(own);
                NativeReducer.join(dtype, op, runs, me, in.window(first + from, shape), out.window(from, shape));
            }
        }
    }
}
