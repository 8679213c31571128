package org.tp4j.cpu.internal.kernels;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.tp4j.cpu.internal.memory.ArrayPool;
import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.cpu.internal.memory.FloatView;
import org.tp4j.cpu.internal.reference.ReferenceNorm;
import org.tp4j.cpu.internal.reference.ReferenceReduction;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.NormKernels;

/** Layer norm and RMS norm of 32- and 16-bit floats, a row at a time; 64-bit floats use the reference. */
public final class CpuNorm implements NormKernels {
    /** Rows whose weight gradients are summed in floats before they are added in doubles. */
    private static final int ROW_BLOCK = 8;

    private final FloatKernels floats;
    private final ArrayPool pool;
    private final ReferenceNorm reference = new ReferenceNorm();

    public CpuNorm(FloatKernels floats, ArrayPool pool) {
        this.floats = floats;
        this.pool = pool;
    }

    @Override
    public void layerNorm(
            NdArray x,
            @Nullable NdArray weight,
            @Nullable NdArray bias,
            double eps,
            NdArray out,
            NdArray mean,
            NdArray rstd) {
        if (FloatView.suits(x.dtype())) {
            forward(x, weight, bias, eps, out, mean, rstd);
        } else {
            reference.layerNorm(x, weight, bias, eps, out, mean, rstd);
        }
    }

    @Override
    public void rmsNorm(NdArray x, @Nullable NdArray weight, double eps, NdArray out, NdArray rstd) {
        if (FloatView.suits(x.dtype())) {
            forward(x, weight, null, eps, out, null, rstd);
        } else {
            reference.rmsNorm(x, weight, eps, out, rstd);
        }
    }

    private void forward(
            NdArray x,
            @Nullable NdArray weight,
            @Nullable NdArray bias,
            double eps,
            NdArray out,
            @Nullable NdArray mean,
            NdArray rstd) {
        int n = (int) ReferenceReduction.rowLength(x.shape());
        int rows = (int) rstd.elements();
        FloatView from = new FloatView(floats, x);
        FloatView to = new FloatView(floats, out);
        Vector scale = new Vector(weight, n);
        Vector shift = new Vector(bias, n);
        Vector means = new Vector(mean, rows);
        Vector rstds = new Vector(rstd, rows);
        float[] scratch = pool.takeFloats(n);
        for (int row = 0; row < rows; row++) {
            float[] data = from.read(row * n, n, scratch);
            int at = from.at(row * n);
            float mu = 0;
            if (means.array != null) {
                mu = (float) (floats.sum(data, at, n) / n);
                means.array[means.at + row] = mu;
            }
            float r = (float) (1 / Math.sqrt(floats.sumSquares(data, at, mu, n) / n + eps));
            rstds.get()[rstds.at + row] = r;
            float[] target = to.target(scratch);
            floats.affine(data, at, mu, r, scale.array, scale.at, shift.array, shift.at, target, to.at(row * n), n);
            to.write(row * n, n, target);
        }
        pool.giveFloats(scratch);
        scale.close();
        shift.close();
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
        if (FloatView.suits(x.dtype())) {
            backward(x, weight, mean, rstd, dy, dx, dWeight, dBias);
        } else {
            reference.layerNormGrad(x, weight, mean, rstd, dy, dx, dWeight, dBias);
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
        if (FloatView.suits(x.dtype())) {
            backward(x, weight, null, rstd, dy, dx, dWeight, null);
        } else {
            reference.rmsNormGrad(x, weight, rstd, dy, dx, dWeight);
        }
    }

    /** The formulas are at {@link ReferenceNorm}. */
    private void backward(
            NdArray x,
            @Nullable NdArray weight,
            @Nullable NdArray mean,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dx,
            @Nullable NdArray dWeight,
            @Nullable NdArray dBias) {
        int n = (int) ReferenceReduction.rowLength(x.shape());
        int rows = (int) rstd.elements();
        FloatView from = new FloatView(floats, x);
        FloatView upstream = new FloatView(floats, dy);
        FloatView to = dx == null ? null : new FloatView(floats, dx);
        Vector scale = new Vector(weight, n);
        Vector means = new Vector(mean, rows);
        Vector rstds = new Vector(rstd, rows);
        ColumnSums weights = new ColumnSums(dWeight, n);
        ColumnSums biases = new ColumnSums(dBias, n);
        float[] normal = pool.takeFloats(n);
        float[] d = pool.takeFloats(n);
        float[] g = pool.takeFloats(n);
        for (int row = 0; row < rows; row++) {
            float mu = means.array == null ? 0 : means.array[means.at + row];
            float r = rstds.get()[rstds.at + row];
            float[] data = from.read(row * n, n, normal);
            floats.affine(data, from.at(row * n), mu, r, null, 0, null, 0, normal, 0, n);
            float[] dRow = upstream.read(row * n, n, d);
            int dAt = upstream.at(row * n);
            if (weights.block != null) {
                floats.addProduct(dRow, dAt, normal, 0, weights.block, 0, n);
            }
            if (biases.block != null) {
                floats.addScaled(1, dRow, dAt, biases.block, 0, n);
            }
            if (to != null) {
                float[] gRow = dRow;
                int gAt = dAt;
                if (scale.array != null) {
                    floats.binary(BinaryFunction.MUL, dRow, dAt, scale.array, scale.at, g, 0, n);
                    gRow = g;
                    gAt = 0;
                }
                float centre = mean == null ? 0 : (float) (floats.sum(gRow, gAt, n) / n);
                float along = (float) (floats.dot(gRow, gAt, normal, 0, n) / n);
                float[] target = to.target(d);
                floats.project(gRow, gAt, normal, 0, centre, along, r, target, to.at(row * n), n);
                to.write(row * n, n, target);
            }
            if (row % ROW_BLOCK == ROW_BLOCK - 1 || row == rows - 1) {
                weights.flush();
                biases.flush();
            }
        }
        weights.store();
        biases.store();
        pool.giveFloats(g);
        pool.giveFloats(d);
        pool.giveFloats(normal);
        scale.close();
    }

    /** A whole array as floats, or none. */
    private final class Vector {
        final float @Nullable [] array;
        final int at;
        private final boolean pooled;

        Vector(@Nullable NdArray source, int n) {
            if (source == null) {
                array = null;
                at = 0;
                pooled = false;
                return;
            }
            FloatView view = new FloatView(floats, source);
            pooled = !view.isDirect();
            array = pooled ? view.read(0, n, pool.takeFloats(n)) : view.target(NOTHING);
            at = view.at(0);
        }

        float[] get() {
            if (array == null) {
                throw new IllegalStateException("no array");
            }
            return array;
        }

        void close() {
            if (pooled) {
                pool.giveFloats(get());
            }
        }
    }

    private static final float[] NOTHING = {};

    /** Sums over rows, one number per column: a few rows in floats, then in doubles. */
    private final class ColumnSums {
        private final @Nullable NdArray out;
        private final int n;
        final float @Nullable [] block;
        private final double @Nullable [] sums;

        ColumnSums(@Nullable NdArray out, int n) {
            this.out = out;
            this.n = n;
            this.block = out == null ? null : pool.takeFloats(n);
            this.sums = out == null ? null : pool.takeDoubles(n);
            if (block != null && sums != null) {
                Arrays.fill(block, 0, n, 0);
                Arrays.fill(sums, 0, n, 0);
            }
        }

        void flush() {
            if (block != null && sums != null) {
                for (int j = 0; j < n; j++) {
                    sums[j] += block[j];
                }
                Arrays.fill(block, 0, n, 0);
            }
        }

        void store() {
            if (out != null && block != null && sums != null) {
                ElementAccess to = ElementAccess.of(out);
                for (int j = 0; j < n; j++) {
                    to.set(j, sums[j]);
                }
                pool.giveDoubles(sums);
                pool.giveFloats(block);
            }
        }
    }
}
