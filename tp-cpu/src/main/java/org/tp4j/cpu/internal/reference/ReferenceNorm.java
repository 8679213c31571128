package org.tp4j.cpu.internal.reference;

import org.jspecify.annotations.Nullable;
import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.NormKernels;

/** Layer norm and RMS norm as their definitions read, for every floating type. */
public final class ReferenceNorm implements NormKernels {
    @Override
    public void layerNorm(
            NdArray x,
            @Nullable NdArray weight,
            @Nullable NdArray bias,
            double eps,
            NdArray out,
            NdArray mean,
            NdArray rstd) {
        ElementAccess from = ElementAccess.of(x);
        ElementAccess to = ElementAccess.of(out);
        ElementAccess means = ElementAccess.of(mean);
        ElementAccess rstds = ElementAccess.of(rstd);
        ElementAccess scale = weight == null ? null : ElementAccess.of(weight);
        ElementAccess shift = bias == null ? null : ElementAccess.of(bias);
        long n = ReferenceReduction.rowLength(x.shape());
        for (long row = 0; row < mean.elements(); row++) {
            double sum = 0;
            for (long j = 0; j < n; j++) {
                sum += from.get(row * n + j);
            }
            double mu = sum / n;
            double squares = 0;
            for (long j = 0; j < n; j++) {
                double d = from.get(row * n + j) - mu;
                squares += d * d;
            }
            double r = 1 / Math.sqrt(squares / n + eps);
            means.set(row, mu);
            rstds.set(row, r);
            for (long j = 0; j < n; j++) {
                double normal = (from.get(row * n + j) - mu) * r;
                double scaled = scale == null ? normal : normal * scale.get(j);
                to.set(row * n + j, shift == null ? scaled : scaled + shift.get(j));
            }
        }
    }

    @Override
    public void layerNormGrad(
            NdArray x,
            @Nullable NdArray weight,
            NdArray mean,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dx,
            @Nullable NdArray dWeight,
            @Nullable NdArray dBias) {
        grad(x, weight, ElementAccess.of(mean), rstd, dy, dx, dWeight, dBias);
    }

    @Override
    public void rmsNorm(NdArray x, @Nullable NdArray weight, double eps, NdArray out, NdArray rstd) {
        ElementAccess from = ElementAccess.of(x);
        ElementAccess to = ElementAccess.of(out);
        ElementAccess rstds = ElementAccess.of(rstd);
        ElementAccess scale = weight == null ? null : ElementAccess.of(weight);
        long n = ReferenceReduction.rowLength(x.shape());
        for (long row = 0; row < rstd.elements(); row++) {
            double squares = 0;
            for (long j = 0; j < n; j++) {
                double value = from.get(row * n + j);
                squares += value * value;
            }
            double r = 1 / Math.sqrt(squares / n + eps);
            rstds.set(row, r);
            for (long j = 0; j < n; j++) {
                double normal = from.get(row * n + j) * r;
                to.set(row * n + j, scale == null ? normal : normal * scale.get(j));
            }
        }
    }

    @Override
    public void rmsNormGrad(
            NdArray x,
            @Nullable NdArray weight,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dx,
            @Nullable NdArray dWeight) {
        grad(x, weight, null, rstd, dy, dx, dWeight, null);
    }

    /**
     * With x̂ = (x - mean) rstd and g = dy · weight: dx = rstd (g - mean(g) - x̂ mean(g x̂)), where RMS norm has no mean
     * and so no mean(g); dWeight = Σ dy x̂ and dBias = Σ dy over the rows.
     */
    private static void grad(
            NdArray x,
            @Nullable NdArray weight,
            @Nullable ElementAccess means,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dx,
            @Nullable NdArray dWeight,
            @Nullable NdArray dBias) {
        ElementAccess from = ElementAccess.of(x);
        ElementAccess upstream = ElementAccess.of(dy);
        ElementAccess rstds = ElementAccess.of(rstd);
        ElementAccess scale = weight == null ? null : ElementAccess.of(weight);
        ElementAccess to = dx == null ? null : ElementAccess.of(dx);
        int n = (int) ReferenceReduction.rowLength(x.shape());
        double[] weightSums = new double[n];
        double[] biasSums = new double[n];
        for (long row = 0; row < rstd.elements(); row++) {
            double mu = means == null ? 0 : means.get(row);
            double r = rstds.get(row);
            double sumG = 0;
            double sumGx = 0;
            for (int j = 0; j < n; j++) {
                double normal = (from.get(row * n + j) - mu) * r;
                double d = upstream.get(row * n + j);
                double g = scale == null ? d : d * scale.get(j);
                sumG += g;
                sumGx += g * normal;
                weightSums[j] += d * normal;
                biasSums[j] += d;
            }
            if (to != null) {
                for (int j = 0; j < n; j++) {
                    double normal = (from.get(row * n + j) - mu) * r;
                    double d = upstream.get(row * n + j);
                    double g = scale == null ? d : d * scale.get(j);
                    double centre = means == null ? g : g - sumG / n;
                    to.set(row * n + j, r * (centre - normal * sumGx / n));
                }
            }
        }
        store(weightSums, dWeight);
        store(biasSums, dBias);
    }

    private static void store(double[] sums, @Nullable NdArray out) {
        if (out != null) {
            ElementAccess to = ElementAccess.of(out);
            for (int j = 0; j < sums.length; j++) {
                to.set(j, sums[j]);
            }
        }
    }
}
