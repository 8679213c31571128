package org.tp4j.cpu.internal.vector;

import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;
import static jdk.incubator.vector.VectorOperators.XOR;
import static org.tp4j.cpu.internal.vector.VectorConstants.F;
import static org.tp4j.cpu.internal.vector.VectorConstants.LANES;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorSpecies;
import org.tp4j.cpu.internal.scalar.Philox;

/** Philox with one counter per 64-bit lane, and dropout. */
final class VectorRandom {
    private static final VectorSpecies<Long> L = VectorSpecies.of(long.class, F.vectorShape());
    private static final VectorSpecies<Integer> I = VectorSpecies.of(int.class, F.vectorShape());

    /** Counters done at a time. */
    static final int COUNTERS = L.length();

    private static final LongVector COUNTING = LongVector.zero(L).addIndex(1);
    private static final long LOW = 0xffffffffL;
    private static final int ROUNDS = 10;

    private VectorRandom() {}

    /** As {@link Philox#fill}, for a multiple of COUNTERS blocks. */
    static void philox(long key, long counterLow, long counterHigh, int[] out, int blocks) {
        long[] pairs = new long[2 * COUNTERS];
        for (int i = 0; i < blocks; i += COUNTERS) {
            LongVector counter = COUNTING.add(counterLow + i);
            LongVector c0 = counter.and(LOW);
            LongVector c1 = counter.lanewise(LSHR, 32);
            LongVector c2 = LongVector.broadcast(L, counterHigh & LOW);
            LongVector c3 = LongVector.broadcast(L, counterHigh >>> 32);
            int k0 = (int) key;
            int k1 = (int) (key >>> 32);
            for (int round = 0; round < ROUNDS; round++) {
                LongVector p0 = c0.mul(Philox.M0);
                LongVector p1 = c2.mul(Philox.M1);
                c0 = p1.lanewise(LSHR, 32).lanewise(XOR, c1).lanewise(XOR, k0 & LOW);
                c2 = p0.lanewise(LSHR, 32).lanewise(XOR, c3).lanewise(XOR, k1 & LOW);
                c1 = p1.and(LOW);
                c3 = p0.and(LOW);
                k0 += Philox.W0;
                k1 += Philox.W1;
            }
            c0.or(c1.lanewise(LSHL, 32)).intoArray(pairs, 0);
            c2.or(c3.lanewise(LSHL, 32)).intoArray(pairs, COUNTERS);
            for (int j = 0; j < COUNTERS; j++) {
                int at = 4 * (i + j);
                out[at] = (int) pairs[j];
                out[at + 1] = (int) (pairs[j] >>> 32);
                out[at + 2] = (int) pairs[COUNTERS + j];
                out[at + 3] = (int) (pairs[COUNTERS + j] >>> 32);
            }
        }
    }

    static void keep(
            int[] words, int wordAt, int threshold, float scale, float[] x, int xAt, float[] out, int outAt, int n) {
        FloatVector factor = FloatVector.broadcast(F, scale);
        for (int i = 0; i < n; i += LANES) {
            IntVector drawn = IntVector.fromArray(I, words, wordAt + i).lanewise(LSHR, 8);
            IntVector kept = drawn.sub(threshold).lanewise(ASHR, 31).not();
            IntVector scaled = FloatVector.fromArray(F, x, xAt + i).mul(factor).reinterpretAsInts();
            scaled.and(kept).reinterpretAsFloats().intoArray(out, outAt + i);
        }
    }
}
