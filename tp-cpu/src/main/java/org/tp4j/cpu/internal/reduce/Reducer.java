package org.tp4j.cpu.internal.reduce;

import java.lang.reflect.Array;
import org.tp4j.comm.ReduceOp;
import org.tp4j.tensor.DType;

/**
 * Reduces the ranks' values in rank order, so that every engine that uses it gets the same bits.
 *
 * <p>Integer sums and products wrap. Of BOOL values, SUM and MAX are "any", PRODUCT and MIN "all". MAX and MIN of floats give
 * NaN if any value is NaN. 16-bit floats are reduced in 32 bits and rounded once.
 */
public final class Reducer {
    private static final int BLOCK = 2048; // scratch that stays in the first-level cache

    private Reducer() {}

    /** out[outAt + i] = reduction over r of ins[r][at[r] + i]; {@code out} may be the same elements as any one input. */
    public static void reduce(DType dtype, ReduceOp op, Object[] ins, int[] at, Object out, int outAt, int n) {
        if (dtype.isHalf()) {
            HalfReducer.reduce(dtype, op, ins, at, (short[]) out, outAt, n);
        } else if (ins.length == 1) {
            copy(ins[0], at[0], out, outAt, n);
        } else if (ins.length == 2) {
            combine(dtype, op, ins[0], at[0], ins[1], at[1], out, outAt, n);
        } else {
            Object scratch = Array.newInstance(out.getClass().getComponentType(), Math.min(n, BLOCK));
            for (int from = 0; from < n; from += BLOCK) {
                block(dtype, op, ins, at, from, scratch, out, outAt + from, Math.min(BLOCK, n - from));
            }
        }
        if (op == ReduceOp.AVG && !dtype.isHalf() && ins.length > 1) {
            divide(out, outAt, n, ins.length);
        }
    }

    /** Copies elements between arrays of the same type, unless they are the same elements. */
    public static void copy(Object from, int fromAt, Object to, int toAt, int length) {
        if (from != to || fromAt != toAt) {
            System.arraycopy(from, fromAt, to, toAt, length);
        }
    }

    /** Reduces more than two inputs in scratch memory, since the output may be an input that is read later. */
    private static void block(
            DType dtype, ReduceOp op, Object[] ins, int[] at, int from, Object scratch, Object out, int outAt, int n) {
        combine(dtype, op, ins[0], at[0] + from, ins[1], at[1] + from, scratch, 0, n);
        int last = ins.length - 1;
        for (int r = 2; r < last; r++) {
            combine(dtype, op, scratch, 0, ins[r], at[r] + from, scratch, 0, n);
        }
        combine(dtype, op, scratch, 0, ins[last], at[last] + from, out, outAt, n);
    }

    private static void combine(
            DType dtype, ReduceOp op, Object a, int aAt, Object b, int bAt, Object out, int outAt, int n) {
        switch (dtype) {
            case FLOAT32 -> floats(op, (float[]) a, aAt, (float[]) b, bAt, (float[]) out, outAt, n);
            case FLOAT64 -> doubles(op, (double[]) a, aAt, (double[]) b, bAt, (double[]) out, outAt, n);
            case INT32 -> ints(op, (int[]) a, aAt, (int[]) b, bAt, (int[]) out, outAt, n);
            case INT64 -> longs(op, (long[]) a, aAt, (long[]) b, bAt, (long[]) out, outAt, n);
            case BOOL -> bools(op, (byte[]) a, aAt, (byte[]) b, bAt, (byte[]) out, outAt, n);
            case BFLOAT16, FLOAT16 -> throw new IllegalStateException("16-bit floats are reduced by HalfReducer");
        }
    }

    static void floats(ReduceOp op, float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        switch (op) {
            case SUM, AVG -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = a[aAt + i] + b[bAt + i];
                }
            }
            case PRODUCT -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = a[aAt + i] * b[bAt + i];
                }
            }
            case MAX -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = Math.max(a[aAt + i], b[bAt + i]);
                }
            }
            case MIN -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = Math.min(a[aAt + i], b[bAt + i]);
                }
            }
        }
    }

    private static void doubles(ReduceOp op, double[] a, int aAt, double[] b, int bAt, double[] out, int outAt, int n) {
        switch (op) {
            case SUM, AVG -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = a[aAt + i] + b[bAt + i];
                }
            }
            case PRODUCT -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = a[aAt + i] * b[bAt + i];
                }
            }
            case MAX -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = Math.max(a[aAt + i], b[bAt + i]);
                }
            }
            case MIN -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = Math.min(a[aAt + i], b[bAt + i]);
                }
            }
        }
    }

    private static void ints(ReduceOp op, int[] a, int aAt, int[] b, int bAt, int[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            int x = a[aAt + i];
            int y = b[bAt + i];
            out[outAt + i] = switch (op) {
                case SUM, AVG -> x + y;
                case PRODUCT -> x * y;
                case MAX -> Math.max(x, y);
                case MIN -> Math.min(x, y);
            };
        }
    }

    private static void longs(ReduceOp op, long[] a, int aAt, long[] b, int bAt, long[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            long x = a[aAt + i];
            long y = b[bAt + i];
            out[outAt + i] = switch (op) {
                case SUM, AVG -> x + y;
                case PRODUCT -> x * y;
                case MAX -> Math.max(x, y);
                case MIN -> Math.min(x, y);
            };
        }
    }

    private static void bools(ReduceOp op, byte[] a, int aAt, byte[] b, int bAt, byte[] out, int outAt, int n) {
        boolean any = op == ReduceOp.SUM || op == ReduceOp.MAX;
        for (int i = 0; i < n; i++) {
            byte x = a[aAt + i];
            byte y = b[bAt + i];
            out[outAt + i] = (byte) (any ? x | y : x & y);
        }
    }

    private static void divide(Object array, int at, int n, int by) {
        if (array instanceof float[] floats) {
            for (int i = at; i < at + n; i++) {
                floats[i] /= by;
            }
        } else {
            double[] doubles = (double[]) array;
            for (int i = at; i < at + n; i++) {
                doubles[i] /= by;
            }
        }
    }
}
