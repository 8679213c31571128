package org.tp4j.cpu.internal.reduce;

import org.tp4j.comm.ReduceOp;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.internal.HalfFloats;

/** {@link Reducer} for 16-bit floats: widened, reduced in 32 bits, rounded once. */
final class HalfReducer {
    private static final int BLOCK = 2048; // scratch that stays in the first-level cache

    private static final ThreadLocal<float[]> SUM = ThreadLocal.withInitial(() -> new float[BLOCK]);
    private static final ThreadLocal<float[]> TERM = ThreadLocal.withInitial(() -> new float[BLOCK]);

    private HalfReducer() {}

    static void reduce(DType dtype, ReduceOp op, Object[] ins, int[] at, short[] out, int outAt, int n) {
        for (int from = 0; from < n; from += BLOCK) {
            chunk(dtype, op, ins, at, out, outAt, from, Math.min(BLOCK, n - from));
        }
    }

    private static void chunk(
            DType dtype, ReduceOp op, Object[] ins, int[] at, short[] out, int outAt, int from, int n) {
        float[] sum = SUM.get();
        float[] term = TERM.get();
        widen(dtype, (short[]) ins[0], at[0] + from, sum, n);
        for (int r = 1; r < ins.length; r++) {
            widen(dtype, (short[]) ins[r], at[r] + from, term, n);
            Reducer.floats(op, sum, 0, term, 0, sum, 0, n);
        }
        if (op == ReduceOp.AVG) {
            for (int i = 0; i < n; i++) {
                sum[i] /= ins.length;
            }
        }
        round(dtype, sum, out, outAt + from, n);
    }

    private static void widen(DType dtype, short[] from, int at, float[] to, int n) {
        if (dtype == DType.BFLOAT16) {
            for (int i = 0; i < n; i++) {
                to[i] = HalfFloats.bfloat16ToFloat(from[at + i]);
            }
        } else {
            for (int i = 0; i < n; i++) {
                to[i] = HalfFloats.float16ToFloat(from[at + i]);
            }
        }
    }

    private static void round(DType dtype, float[] from, short[] to, int at, int n) {
        if (dtype == DType.BFLOAT16) {
            for (int i = 0; i < n; i++) {
                to[at + i] = HalfFloats.floatToBfloat16(from[i]);
            }
        } else {
            for (int i = 0; i < n; i++) {
                to[at + i] = HalfFloats.floatToFloat16(from[i]);
            }
        }
    }
}
