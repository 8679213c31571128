package org.tp4j.nccl.internal;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.cuda.HeldMemory;
import org.tp4j.nccl.JNccl;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * Maxima and minima of floats in which NaN stays, as in all engines: NCCL's own drop it. The floats are reduced as integers
 * that order the same way, in one collective; -0 is below +0. It costs two passes over memory, and 16-bit floats travel as 32
 * bits.
 */
final class FloatExtremes {
    private final NcclContext context;
    private final CallStream stream;
    private final Communicator communicator;

    FloatExtremes(NcclContext context, CallStream stream, Communicator communicator) {
        this.context = context;
        this.stream = stream;
        this.communicator = communicator;
    }

    /** Whether a reduction is one of these. */
    static boolean include(DType dtype, ReduceOp op) {
        return dtype.isFloating() && (op == ReduceOp.MAX || op == ReduceOp.MIN);
    }

    NcclWork allReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op) {
        NdArray bits = bitsOf(in);
        long at = context.backend().address(bits);
        return enqueue(
                record,
                in,
                bits,
                bits,
                out,
                op,
                () -> communicator.run(
                        record,
                        () -> JNccl.ncclAllReduce(
                                at, at, bits.elements(), type(bits), type(bits, op), communicator.comm(), handle())));
    }

    /** @param out null on ranks other than the root */
    NcclWork reduce(CallRecord record, NdArray in, @Nullable NdArray out, ReduceOp op, int root) {
        NdArray bits = bitsOf(in);
        long at = context.backend().address(bits);
        return enqueue(
                record,
                in,
                bits,
                bits,
                out,
                op,
                () -> communicator.run(
                        record,
                        () -> JNccl.ncclReduce(
                                at,
                                at,
                                bits.elements(),
                                type(bits),
                                type(bits, op),
                                root,
                                communicator.comm(),
                                handle())));
    }

    NcclWork reduceScatter(CallRecord record, NdArray in, NdArray out, long[] counts, int rank, ReduceOp op) {
        NdArray bits = bitsOf(in);
        NdArray own = bits.window(Arrays.stream(counts, 0, rank).sum(), Shape.of(counts[rank]));
        return enqueue(
                record,
                in,
                bits,
                own,
                out,
                op,
                () -> communicator.runGroup(record, () -> {
                    long at = context.backend().address(bits);
                    for (int to = 0; to < counts.length; to++) {
                        if (counts[to] > 0) {
                            JNccl.ncclReduce(
                                    at, at, counts[to], type(bits), type(bits, op), to, communicator.comm(), handle());
                        }
                        at += counts[to] * bits.dtype().bytes();
                    }
                }));
    }

    private NdArray bitsOf(NdArray in) {
        return context.allocate(CudaBackend.orderedBitsOf(in.dtype()), in.elements());
    }

    private static int type(NdArray bits) {
        return NcclTypes.of(bits.dtype());
    }

    private static int type(NdArray bits, ReduceOp op) {
        return NcclTypes.of(bits.dtype(), op);
    }

    private long handle() {
        return stream.stream().handle();
    }

    /** @param result the bits that become {@code out} */
    private NcclWork enqueue(
            CallRecord record,
            NdArray in,
            NdArray bits,
            NdArray result,
            @Nullable NdArray out,
            ReduceOp op,
            Runnable collective) {
        CudaBackend backend = context.backend();
        HeldMemory scratch = backend.hold(bits);
        synchronized (stream) {
            NcclWork work = stream.begin(record, communicator.worldRanks());
            try {
                stream.enqueue(
                        work,
                        () -> {
                            backend.toOrderedBits(in, bits, op == ReduceOp.MIN, stream.stream());
                            collective.run();
                            if (out != null && out.elements() > 0) {
                                backend.fromOrderedBits(result, out, stream.stream());
                            }
                        },
                        end -> {
                            scratch.usedOn(end);
                            backend.usedOn(in, end);
                            if (out != null && out != in) {
                                backend.usedOn(out, end);
                            }
                        });
                work.closeWhenDone(scratch);
            } catch (RuntimeException e) {
                scratch.close();
                throw e;
            } finally {
                bits.storage().release();
            }
            return work;
        }
    }
}
