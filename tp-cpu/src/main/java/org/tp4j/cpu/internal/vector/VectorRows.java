package org.tp4j.cpu.internal.vector;

import static org.tp4j.cpu.internal.vector.VectorConstants.F;
import static org.tp4j.cpu.internal.vector.VectorConstants.LANES;

import jdk.incubator.vector.FloatVector;
import org.jspecify.annotations.Nullable;
import org.tp4j.cpu.internal.scalar.AdamStep;

/** Loops of norms, sums over rows and optimizers, over a multiple of {@link VectorConstants#LANES} elements. */
final class VectorRows {
    private VectorRows() {}

    /** Eight rows, pairwise. */
    static void addRows(float[] x, int at, int stride, float[] out, int outAt, int n) {
        for (int j = 0; j < n; j += LANES) {
            int i = at + j;
            FloatVector s01 = FloatVector.fromArray(F, x, i).add(FloatVector.fromArray(F, x, i + stride));
            FloatVector s23 =
                    FloatVector.fromArray(F, x, i + 2 * stride).add(FloatVector.fromArray(F, x, i + 3 * stride));
            FloatVector s45 =
                    FloatVector.fromArray(F, x, i + 4 * stride).add(FloatVector.fromArray(F, x, i + 5 * stride));
            FloatVector s67 =
                    FloatVector.fromArray(F, x, i + 6 * stride).add(FloatVector.fromArray(F, x, i + 7 * stride));
            s01.add(s23).add(s45.add(s67)).intoArray(out, outAt + j);
        }
    }

    static void affine(
            float[] x,
            int xAt,
            float shift,
            float scale,
            float @Nullable [] weight,
            int weightAt,
            float @Nullable [] bias,
            int biasAt,
            float[] out,
            int outAt,
            int n) {
        FloatVector centre = FloatVector.broadcast(F, shift);
        FloatVector factor = FloatVector.broadcast(F, scale);
        if (weight == null) {
            for (int i = 0; i < n; i += LANES) {
                FloatVector.fromArray(F, x, xAt + i).sub(centre).mul(factor).intoArray(out, outAt + i);
            }
        } else if (bias == null) {
            for (int i = 0; i < n; i += LANES) {
                FloatVector normal =
                        FloatVector.fromArray(F, x, xAt + i).sub(centre).mul(factor);
                normal.mul(FloatVector.fromArray(F, weight, weightAt + i)).intoArray(out, outAt + i);
            }
        } else {
            for (int i = 0; i < n; i += LANES) {
                FloatVector normal =
                        FloatVector.fromArray(F, x, xAt + i).sub(centre).mul(factor);
                normal.mul(FloatVector.fromArray(F, weight, weightAt + i))
                        .add(FloatVector.fromArray(F, bias, biasAt + i))
                        .intoArray(out, outAt + i);
            }
        }
    }

    static void project(
            float[] g,
            int gAt,
            float[] x,
            int xAt,
            float shift,
            float slope,
            float scale,
            float[] out,
            int outAt,
            int n) {
        FloatVector centre = FloatVector.broadcast(F, shift);
        FloatVector along = FloatVector.broadcast(F, slope);
        FloatVector factor = FloatVector.broadcast(F, scale);
        for (int i = 0; i < n; i += LANES) {
            FloatVector rest = FloatVector.fromArray(F, g, gAt + i)
                    .sub(centre)
                    .sub(along.mul(FloatVector.fromArray(F, x, xAt + i)));
            rest.mul(factor).intoArray(out, outAt + i);
        }
    }

    static void adam(
            AdamStep step, float[] w, int wAt, float[] g, int gAt, float[] m, int mAt, float[] v, int vAt, int n) {
        FloatVector gradScale = FloatVector.broadcast(F, step.gradScale());
        FloatVector decay = FloatVector.broadcast(F, step.coupledDecay());
        FloatVector beta1 = FloatVector.broadcast(F, step.beta1());
        FloatVector rest1 = FloatVector.broadcast(F, step.rest1());
        FloatVector beta2 = FloatVector.broadcast(F, step.beta2());
        FloatVector rest2 = FloatVector.broadcast(F, step.rest2());
        FloatVector keep = FloatVector.broadcast(F, step.keep());
        FloatVector rate = FloatVector.broadcast(F, step.rate());
        FloatVector root = FloatVector.broadcast(F, step.root());
        FloatVector eps = FloatVector.broadcast(F, step.eps());
        for (int i = 0; i < n; i += LANES) {
            FloatVector weight = FloatVector.fromArray(F, w, wAt + i);
            FloatVector gradient =
                    gradScale.mul(FloatVector.fromArray(F, g, gAt + i)).add(decay.mul(weight));
            FloatVector nextM = beta1.mul(FloatVector.fromArray(F, m, mAt + i)).add(rest1.mul(gradient));
            FloatVector nextV = beta2.mul(FloatVector.fromArray(F, v, vAt + i))
                    .add(rest2.mul(gradient).mul(gradient));
            nextM.intoArray(m, mAt + i);
            nextV.intoArray(v, vAt + i);
            FloatVector change = rate.mul(nextM).div(nextV.sqrt().mul(root).add(eps));
            keep.mul(weight).sub(change).intoArray(w, wAt + i);
        }
    }
}
