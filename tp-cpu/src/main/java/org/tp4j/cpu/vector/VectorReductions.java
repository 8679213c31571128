package org.tp4j.cpu.vector;

import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.F2D;
import static jdk.incubator.vector.VectorOperators.GT;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LT;
import static jdk.incubator.vector.VectorOperators.MAX;
import static org.tp4j.cpu.vector.VectorConstants.E2;
import static org.tp4j.cpu.vector.VectorConstants.E3;
import static org.tp4j.cpu.vector.VectorConstants.E4;
import static org.tp4j.cpu.vector.VectorConstants.E5;
import static org.tp4j.cpu.vector.VectorConstants.E6;
import static org.tp4j.cpu.vector.VectorConstants.F;
import static org.tp4j.cpu.vector.VectorConstants.LANES;
import static org.tp4j.cpu.vector.VectorConstants.LN2_HIGH;
import static org.tp4j.cpu.vector.VectorConstants.LN2_LOW;
import static org.tp4j.cpu.vector.VectorConstants.LOG2_E;
import static org.tp4j.cpu.vector.VectorConstants.ONE;
import static org.tp4j.cpu.vector.VectorConstants.ONE_BITS;
import static org.tp4j.cpu.vector.VectorConstants.ROUNDER;
import static org.tp4j.cpu.vector.VectorConstants.ROUNDER_BITS;

import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums over a multiple of {@link #BLOCK} elements: in a block eight vectors are added pairwise in floats, then the lanes
 * in doubles.
 */
final class VectorReductions {
    /** Elements added up before they go over to doubles. */
    static final int BLOCK = 8 * LANES;

    private static final VectorSpecies<Double> D = DoubleVector.SPECIES_PREFERRED;

    private VectorReductions() {}

    static double sum(float[] x, int at, int n) {
        DoubleVector s0 = DoubleVector.zero(D);
        DoubleVector s1 = DoubleVector.zero(D);
        for (int i = at; i < at + n; i += BLOCK) {
            FloatVector v01 = FloatVector.fromArray(F, x, i).add(FloatVector.fromArray(F, x, i + LANES));
            FloatVector v23 =
                    FloatVector.fromArray(F, x, i + 2 * LANES).add(FloatVector.fromArray(F, x, i + 3 * LANES));
            FloatVector v45 =
                    FloatVector.fromArray(F, x, i + 4 * LANES).add(FloatVector.fromArray(F, x, i + 5 * LANES));
            FloatVector v67 =
                    FloatVector.fromArray(F, x, i + 6 * LANES).add(FloatVector.fromArray(F, x, i + 7 * LANES));
            FloatVector v = v01.add(v23).add(v45.add(v67));
            s0 = s0.add((DoubleVector) v.convertShape(F2D, D, 0));
            s1 = s1.add((DoubleVector) v.convertShape(F2D, D, 1));
        }
        return s0.add(s1).reduceLanes(ADD);
    }

    static double sumSquares(float[] x, int at, float shift, int n) {
        DoubleVector s0 = DoubleVector.zero(D);
        DoubleVector s1 = DoubleVector.zero(D);
        FloatVector origin = FloatVector.broadcast(F, shift);
        for (int i = at; i < at + n; i += BLOCK) {
            FloatVector v0 = FloatVector.fromArray(F, x, i).sub(origin);
            FloatVector v1 = FloatVector.fromArray(F, x, i + LANES).sub(origin);
            FloatVector v2 = FloatVector.fromArray(F, x, i + 2 * LANES).sub(origin);
            FloatVector v3 = FloatVector.fromArray(F, x, i + 3 * LANES).sub(origin);
            FloatVector v4 = FloatVector.fromArray(F, x, i + 4 * LANES).sub(origin);
            FloatVector v5 = FloatVector.fromArray(F, x, i + 5 * LANES).sub(origin);
            FloatVector v6 = FloatVector.fromArray(F, x, i + 6 * LANES).sub(origin);
            FloatVector v7 = FloatVector.fromArray(F, x, i + 7 * LANES).sub(origin);
            FloatVector a = v0.fma(v0, v1.mul(v1)).add(v2.fma(v2, v3.mul(v3)));
            FloatVector b = v4.fma(v4, v5.mul(v5)).add(v6.fma(v6, v7.mul(v7)));
            FloatVector v = a.add(b);
            s0 = s0.add((DoubleVector) v.convertShape(F2D, D, 0));
            s1 = s1.add((DoubleVector) v.convertShape(F2D, D, 1));
        }
        return s0.add(s1).reduceLanes(ADD);
    }

    static double dot(float[] x, int xAt, float[] y, int yAt, int n) {
        DoubleVector s0 = DoubleVector.zero(D);
        DoubleVector s1 = DoubleVector.zero(D);
        for (int i = 0; i < n; i += BLOCK) {
            int xi = xAt + i;
            int yi = yAt + i;
            FloatVector p1 = FloatVector.fromArray(F, x, xi + LANES).mul(FloatVector.fromArray(F, y, yi + LANES));
            FloatVector p3 =
                    FloatVector.fromArray(F, x, xi + 3 * LANES).mul(FloatVector.fromArray(F, y, yi + 3 * LANES));
            FloatVector p5 =
                    FloatVector.fromArray(F, x, xi + 5 * LANES).mul(FloatVector.fromArray(F, y, yi + 5 * LANES));
            FloatVector p7 =
                    FloatVector.fromArray(F, x, xi + 7 * LANES).mul(FloatVector.fromArray(F, y, yi + 7 * LANES));
            FloatVector p0 = FloatVector.fromArray(F, x, xi).fma(FloatVector.fromArray(F, y, yi), p1);
            FloatVector p2 =
                    FloatVector.fromArray(F, x, xi + 2 * LANES).fma(FloatVector.fromArray(F, y, yi + 2 * LANES), p3);
            FloatVector p4 =
                    FloatVector.fromArray(F, x, xi + 4 * LANES).fma(FloatVector.fromArray(F, y, yi + 4 * LANES), p5);
            FloatVector p6 =
                    FloatVector.fromArray(F, x, xi + 6 * LANES).fma(FloatVector.fromArray(F, y, yi + 6 * LANES), p7);
            FloatVector v = p0.add(p2).add(p4.add(p6));
            s0 = s0.add((DoubleVector) v.convertShape(F2D, D, 0));
            s1 = s1.add((DoubleVector) v.convertShape(F2D, D, 1));
        }
        return s0.add(s1).reduceLanes(ADD);
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
     * out = e^(x - shift) and its sum, over a multiple of LANES elements, with overflow to infinity and gradual
     * underflow: the power of two is multiplied in as two factors, since it may lie beyond the exponents of floats.
     */
    static double expSum(float[] x, int xAt, float shift, float[] out, int outAt, int n) {
        DoubleVector s0 = DoubleVector.zero(D);
        DoubleVector s1 = DoubleVector.zero(D);
        FloatVector origin = FloatVector.broadcast(F, shift);
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i).sub(origin);
            FloatVector low = v.blend(-110f, v.compare(LT, -110f));
            FloatVector z = low.blend(100f, low.compare(GT, 100f));
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
            s0 = s0.add((DoubleVector) e.convertShape(F2D, D, 0));
            s1 = s1.add((DoubleVector) e.convertShape(F2D, D, 1));
        }
        return s0.add(s1).reduceLanes(ADD);
    }
}
