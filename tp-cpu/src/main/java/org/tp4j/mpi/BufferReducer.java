package org.tp4j.mpi;

import java.nio.ByteBuffer;
import org.tp4j.comm.ReduceOp;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.reduce.Reducer;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;

/** Reduces values in native memory, in blocks that fit a cache, with the same {@link Reducer} as in-JVM ranks. */
final class BufferReducer {
    private static final int BLOCK = 4096;

    private BufferReducer() {}

    /**
     * A run of elements in native memory.
     *
     * @param buffer the memory
     * @param at first byte of the run
     */
    record Run(NativeBuffer buffer, int at) {}

    /** Whether an array can be read and written in place; others go through native memory. */
    static boolean isHost(NdArray array) {
        return array.storage() instanceof HostStorage;
    }

    /**
     * Reduces all ranks' elements, in rank order. This rank's are read from {@code own} if {@code own} and {@code out} are
     * in host memory, otherwise from its run, which then is overwritten by the result.
     *
     * @param runs all ranks' elements
     * @param me this rank
     */
    static void reduce(DType dtype, ReduceOp op, Run[] runs, int me, NdArray own, NdArray out) {
        int n = (int) out.elements();
        if (!isHost(own) || !isHost(out)) {
            reduce(dtype, op, runs, runs[me], n);
            out.backend().copyIn(runs[me].buffer().slice(runs[me].at(), n * dtype.bytes()), out);
            return;
        }
        Object mine = ((HostStorage) own.storage()).array();
        Object result = ((HostStorage) out.storage()).array();
        Object[] blocks = blocks(dtype, runs.length, Math.min(n, BLOCK));
        blocks[me] = mine;
        int[] at = new int[runs.length];
        for (int from = 0; from < n; from += BLOCK) {
            int m = Math.min(BLOCK, n - from);
            for (int r = 0; r < runs.length; r++) {
                if (r != me) {
                    get(dtype, runs[r], from, blocks[r], m);
                }
            }
            at[me] = (int) own.offset() + from;
            Reducer.reduce(dtype, op, blocks, at, result, (int) out.offset() + from, m);
        }
    }

    /** Reduces n elements of every run, in order, into native memory, which may be one of the runs. */
    private static void reduce(DType dtype, ReduceOp op, Run[] runs, Run out, int n) {
        int length = Math.min(n, BLOCK);
        Object[] blocks = blocks(dtype, runs.length, length);
        Object result = block(dtype, length);
        int[] zeros = new int[runs.length];
        for (int from = 0; from < n; from += BLOCK) {
            int m = Math.min(BLOCK, n - from);
            for (int r = 0; r < runs.length; r++) {
                get(dtype, runs[r], from, blocks[r], m);
            }
            Reducer.reduce(dtype, op, blocks, zeros, result, 0, m);
            put(dtype, result, out, from, m);
        }
    }

    private static void get(DType dtype, Run run, int from, Object block, int n) {
        int width = dtype.bytes();
        ByteBuffer bytes = run.buffer().slice(run.at() + from * width, n * width);
        switch (dtype) {
            case FLOAT32 -> bytes.asFloatBuffer().get((float[]) block, 0, n);
            case FLOAT64 -> bytes.asDoubleBuffer().get((double[]) block, 0, n);
            case BFLOAT16, FLOAT16 -> bytes.asShortBuffer().get((short[]) block, 0, n);
            case INT32 -> bytes.asIntBuffer().get((int[]) block, 0, n);
            case INT64 -> bytes.asLongBuffer().get((long[]) block, 0, n);
            case BOOL -> bytes.get((byte[]) block, 0, n);
        }
    }

    private static void put(DType dtype, Object block, Run run, int from, int n) {
        int width = dtype.bytes();
        ByteBuffer bytes = run.buffer().slice(run.at() + from * width, n * width);
        switch (dtype) {
            case FLOAT32 -> bytes.asFloatBuffer().put((float[]) block, 0, n);
            case FLOAT64 -> bytes.asDoubleBuffer().put((double[]) block, 0, n);
            case BFLOAT16, FLOAT16 -> bytes.asShortBuffer().put((short[]) block, 0, n);
            case INT32 -> bytes.asIntBuffer().put((int[]) block, 0, n);
            case INT64 -> bytes.asLongBuffer().put((long[]) block, 0, n);
            case BOOL -> bytes.put((byte[]) block, 0, n);
        }
    }

    private static Object[] blocks(DType dtype, int count, int length) {
        Object[] blocks = new Object[count];
        for (int i = 0; i < count; i++) {
            blocks[i] = block(dtype, length);
        }
        return blocks;
    }

    private static Object block(DType dtype, int length) {
        return switch (dtype) {
            case FLOAT32 -> new float[length];
            case FLOAT64 -> new double[length];
            case BFLOAT16, FLOAT16 -> new short[length];
            case INT32 -> new int[length];
            case INT64 -> new long[length];
            case BOOL -> new byte[length];
        };
    }
}
