package org.tp4j.cpu.internal.vector;

import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.F2D;
import static jdk.incubator.vector.VectorOperators.GT;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LT;
import static jdk.incubator.vector.VectorOperators.MAX;
import static org.tp4j.cpu.internal.scalar.ScalarMath.EXP_HIGH;
import static org.tp4j.cpu.internal.scalar.ScalarMath.EXP_LOW;
import static org.tp4j.cpu.internal.scalar.ScalarMath.ONE_BITS;
import static org.tp4j.cpu.internal.scalar.ScalarMath.ROUNDER_BITS;
import static org.tp4j.cpu.internal.scalar.Sums.BLOCK;
import static org.tp4j.cpu.internal.scalar.Sums.COLUMNS;
import static org.tp4j.cpu.internal.vector.VectorConstants.E2;
import static org.tp4j.cpu.internal.vector.VectorConstants.E3;
import static org.tp4j.cpu.internal.vector.VectorConstants.E4;
import static org.tp4j.cpu.internal.vector.VectorConstants.E5;
import static org.tp4j.cpu.internal.vector.VectorConstants.E6;
import static org.tp4j.cpu.internal.vector.VectorConstants.F;
import static org.tp4j.cpu.internal.vector.VectorConstants.LANES;
import static org.tp4j.cpu.internal.vector.VectorConstants.LN2_HIGH;
import static org.tp4j.cpu.internal.vector.VectorConstants.LN2_LOW;
import static org.tp4j.cpu.internal.vector.VectorConstants.LOG2_E;
import static org.tp4j.cpu.internal.vector.VectorConstants.ONE;
import static org.tp4j.cpu.internal.vector.VectorConstants.ROUNDER;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums over whole blocks in the order of {@link org.tp4j.cpu.internal.scalar.Sums}; a vector is part of a row of columns.
 */
final class VectorReductions {
    private static final VectorSpecies<Double> D = VectorSpecies.of(double.class, F.vectorShape());
    private static final int HALF = LANES / 2;

    private VectorReductions() {}

    static void sum(float[] x, int at, int n, double[] columns) {
        for (int i = at; i < at + n; i += BLOCK) {
            for (int j = 0; j < COLUMNS; j += LANES) {
                int k = i + j;
                FloatVector v0 = FloatVector.fromArray(F, x, k).add(FloatVector.fromArray(F, x, k + COLUMNS));
                FloatVector v2 =
                        FloatVector.fromArray(F, x, k + 2 * COLUMNS).add(FloatVector.fromArray(F, x, k + 3 * COLUMNS));
                FloatVector v4 =
                        FloatVector.fromArray(F, x, k + 4 * COLUMNS).add(FloatVector.fromArray(F, x, k + 5 * COLUMNS));
                FloatVector v6 =
                        FloatVector.fromArray(F, x, k + 6 * COLUMNS).add(FloatVector.fromArray(F, x, k + 7 * COLUMNS));
                FloatVector v = v0.add(v2).add(v4.add(v6));
                DoubleVector low = (DoubleVector) v.convertShape(F2D, D, 0);
                DoubleVector high = (DoubleVector) v.convertShape(F2D, D, 1);
                DoubleVector.fromArray(D, columns, j).add(low).intoArray(columns, j);
                DoubleVector.fromArray(D, columns, j + HALF).add(high).intoArray(columns, j + HALF);
            }
        }
    }

    static void sumSquares(float[] x, int at, float shift, int n, double[] columns) {
        FloatVector origin = FloatVector.broadcast(F, shift);
        for (int i = at; i < at + n; i += BLOCK) {
            for (int j = 0; j < COLUMNS; j += LANES) {
                int k = i + j;
                FloatVector v0 = FloatVector.fromArray(F, x, k).sub(origin);
                FloatVector v1 = FloatVector.fromArray(F, x, k + COLUMNS).sub(origin);
                FloatVector v2 = FloatVector.fromArray(F, x, k + 2 * COLUMNS).sub(origin);
                FloatVector v3 = FloatVector.fromArray(F, x, k + 3 * COLUMNS).sub(origin);
                FloatVector v4 = FloatVector.fromArray(F, x, k + 4 * COLUMNS).sub(origin);
                FloatVector v5 = FloatVector.fromArray(F, x, k + 5 * COLUMNS).sub(origin);
                FloatVector v6 = FloatVector.fromArray(F, x, k + 6 * COLUMNS).sub(origin);
                FloatVector v7 = FloatVector.fromArray(F, x, k + 7 * COLUMNS).sub(origin);
                FloatVector a = v0.mul(v0).add(v1.mul(v1)).add(v2.mul(v2).add(v3.mul(v3)));
                FloatVector b = v4.mul(v4).add(v5.mul(v5)).add(v6.mul(v6).add(v7.mul(v7)));
                FloatVector v = a.add(b);
                DoubleVector low = (DoubleVector) v.convertShape(F2D, D, 0);
                DoubleVector high = (DoubleVector) v.convertShape(F2D, D, 1);
                DoubleVector.fromArray(D, columns, j).add(low).intoArray(columns, j);
                DoubleVector.fromArray(D, columns, j + HALF).add(high).intoArray(columns, j + HALF);
            }
        }
    }

    static void dot(float[] x, int xAt, float[] y, int yAt, int n, double[] columns) {
        for (int i = 0; i < n; i += BLOCK) {
            for (int j = 0; j < COLUMNS; j += LANES) {
                int a = xAt + i + j;
                int b = yAt + i + j;
                FloatVector p0 = FloatVector.fromArray(F, x, a).mul(FloatVector.fromArray(F, y, b));
                FloatVector p1 = FloatVector.fromArray(F, x, a + COLUMNS).mul(FloatVector.fromArray(F, y, b + COLUMNS));
                FloatVector p2 =
                        FloatVector.fromArray(F, x, a + 2 * COLUMNS).mul(FloatVector.fromArray(F, y, b + 2 * COLUMNS));
                FloatVector p3 =
                        FloatVector.fromArray(F, x, a + 3 * COLUMNS).mul(FloatVector.fromArray(F, y, b + 3 * COLUMNS));
                FloatVector p4 =
                        FloatVector.fromArray(F, x, a + 4 * COLUMNS).mul(FloatVector.fromArray(F, y, b + 4 * COLUMNS));
                FloatVector p5 =
                        FloatVector.fromArray(F, x, a + 5 * COLUMNS).mul(FloatVector.fromArray(F, y, b + 5 * COLUMNS));
                FloatVector p6 =
                        FloatVector.fromArray(F, x, a + 6 * COLUMNS).mul(FloatVector.fromArray(F, y, b + 6 * COLUMNS));
                FloatVector p7 =
                        FloatVector.fromArray(F, x, a + 7 * COLUMNS).mul(FloatVector.fromArray(F, y, b + 7 * COLUMNS));
                FloatVector v = p0.add(p1).add(p2.add(p3)).add(p4.add(p5).add(p6.add(p7)));
                DoubleVector low = (DoubleVector) v.convertShape(F2D, D, 0);
                DoubleVector high = (DoubleVector) v.convertShape(F2D, D, 1);
                DoubleVector.fromArray(D, columns, j).add(low).intoArray(columns, j);
                DoubleVector.fromArray(D, columns, j + HALF).add(high).intoArray(columns, j + HALF);
            }
        }
    }

    /** Over a multiple of LANES elements. */
    static float max(float[] x, int at, int n) {
        FloatVector max = FloatVector.broadcast(F, Float.NEGATIVE_INFINITY);
        for (int i = at; i < at + n; i += LANES) {
            max = max.max(FloatVector.fromArray(F, x, i));
        }
        return max.reduceLanes(MAX);
    }

    /**
     * out = e^(x - shift), added to the columns, over a multiple of COLUMNS elements: overflows to infinity, underflows
     * gradually. The power of two is multiplied in as two factors, since it may lie beyond the exponents of floats.
     */
    static void exp(float[] x, int xAt, float shift, float[] out, int outAt, int n, double[] columns) {
        FloatVector origin = FloatVector.broadcast(F, shift);
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i).sub(origin);
            FloatVector above = v.blend(EXP_LOW, v.compare(LT, EXP_LOW));
            FloatVector z = above.blend(EXP_HIGH, above.compare(GT, EXP_HIGH));
            FloatVector rounded = z.fma(LOG2_E, ROUNDER);
            FloatVector k = rounded.sub(ROUNDER);
            FloatVector r = k.fma(LN2_LOW, k.fma(LN2_HIGH, z));
            FloatVector p = r.fma(E6, E5)
                    .fma(r, E4)
                    .fma(r, E3)
                    .fma(r, E2)
                    .mul(r)
                    .fma(r, r)
                    .add(ONE);
            IntVector bits = rounded.reinterpretAsInts().sub(ROUNDER_BITS);
            IntVector half = bits.lanewise(ASHR, 1);
            FloatVector first = half.lanewise(LSHL, 23).add(ONE_BITS).reinterpretAsFloats();
            FloatVector second = bits.sub(half).lanewise(LSHL, 23).add(ONE_BITS).reinterpretAsFloats();
            FloatVector e = p.mul(first).mul(second);
            e.intoArray(out, outAt + i);
            DoubleVector low = (DoubleVector) e.convertShape(F2D, D, 0);
            DoubleVector high = (DoubleVector) e.convertShape(F2D, D, 1);
            int j = i & COLUMNS - 1;
            DoubleVector.fromArray(D, columns, j).add(low).intoArray(columns, j);
            DoubleVector.fromArray(D, columns, j + HALF).add(high).intoArray(columns, j + HALF);
        }
    }
}
