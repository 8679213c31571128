package org.tp4j.cpu.internal.kernels;

import java.util.Arrays;
import org.tp4j.cpu.internal.memory.ArrayPool;
import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.cpu.internal.memory.FloatView;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.reference.ReferenceReduction;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.UnaryFunction;

/** Reductions and row-wise kernels of 32- and 16-bit floats; the other types use the reference. */
public final class CpuReduction implements ReductionKernels {
    private final FloatKernels floats;
    private final ArrayPool pool;
    private final ReferenceReduction reference = new ReferenceReduction();

    public CpuReduction(FloatKernels floats, ArrayPool pool) {
        this.floats = floats;
        this.pool = pool;
    }

    @Override
    public void reduce(Kind kind, NdArray x, boolean[] reduced, NdArray out) {
        if (!FloatView.suits(x.dtype()) || x.elements() == 0) {
            reference.reduce(kind, x, reduced, out);
            return;
        }
        // [outer, middle, inner] with outer and inner kept and middle reduced, if the dimensions group so
        Shape shape = x.shape();
        int d = 0;
        long outer = 1;
        for (; d < reduced.length && (!reduced[d] || shape.size(d) == 1); d++) {
            outer *= shape.size(d);
        }
        long middle = 1;
        for (; d < reduced.length && (reduced[d] || shape.size(d) == 1); d++) {
            middle *= shape.size(d);
        }
        long inner = 1;
        for (; d < reduced.length && (!reduced[d] || shape.size(d) == 1); d++) {
            inner *= shape.size(d);
        }
        boolean columns = inner > 1 && (kind == Kind.SUM || kind == Kind.MAX || kind == Kind.MIN);
        if (d < reduced.length || inner > 1 && !columns) {
            reference.reduce(kind, x, reduced, out);
        } else if (inner == 1) {
            rows(kind, x, (int) outer, (int) middle, out);
        } else {
            columns(kind, x, (int) outer, (int) middle, (int) inner, out);
        }
    }

    private void rows(Kind kind, NdArray x, int rows, int n, NdArray out) {
        FloatView from = new FloatView(floats, x);
        ElementAccess to = ElementAccess.of(out);
        float[] scratch = from.isDirect() ? NOTHING : pool.takeFloats(n);
        for (int row = 0; row < rows; row++) {
            float[] piece = from.read(row * n, n, scratch);
            to.set(row, row(kind, piece, from.at(row * n), n));
        }
        giveBack(scratch);
    }

    private double row(Kind kind, float[] x, int at, int n) {
        return switch (kind) {
            case SUM -> floats.sum(x, at, n);
            case SUM_SQUARES -> floats.sumSquares(x, at, 0, n);
            case MAX -> floats.max(x, at, n);
            case SUM_ABS -> {
                double sum = 0;
                for (int i = 0; i < n; i++) {
                    sum += Math.abs(x[at + i]);
                }
                yield sum;
            }
            case MIN -> {
                float min = Float.POSITIVE_INFINITY;
                for (int i = 0; i < n; i++) {
                    min = Math.min(min, x[at + i]);
                }
                yield min;
            }
            case MAX_ABS -> {
                float max = 0;
                for (int i = 0; i < n; i++) {
                    max = Math.max(max, Math.abs(x[at + i]));
                }
                yield max;
            }
        };
    }

    /** x [outer, rows, n] reduced over its rows: a bias's gradient. Sums: eight rows pairwise, then in doubles. */
    private void columns(Kind kind, NdArray x, int outer, int rows, int n, NdArray out) {
        FloatView from = new FloatView(floats, x);
        ElementAccess to = ElementAccess.of(out);
        float[] scratch = from.isDirect() ? NOTHING : pool.takeFloats(8L * n);
        float[] part = pool.takeFloats(n);
        double[] sums = pool.takeDoubles(n);
        for (int o = 0; o < outer; o++) {
            if (kind == Kind.SUM) {
                Arrays.fill(sums, 0, n, 0);
                for (int row = 0; row < rows; row += 8) {
                    int count = Math.min(8, rows - row);
                    int first = (o * rows + row) * n;
                    float[] piece = from.read(first, count * n, scratch);
                    floats.addRows(piece, from.at(first), n, count, part, 0, n);
                    for (int j = 0; j < n; j++) {
                        sums[j] += part[j];
                    }
                }
                for (int j = 0; j < n; j++) {
                    to.set((long) o * n + j, sums[j]);
                }
            } else {
                boolean max = kind == Kind.MAX;
                Arrays.fill(part, 0, n, max ? Float.NEGATIVE_INFINITY : Float.POSITIVE_INFINITY);
                for (int row = 0; row < rows; row++) {
                    int first = (o * rows + row) * n;
                    float[] piece = from.read(first, n, scratch);
                    BinaryFunction function = max ? BinaryFunction.MAXIMUM : BinaryFunction.MINIMUM;
                    floats.binary(function, part, 0, piece, from.at(first), part, 0, n);
                }
                for (int j = 0; j < n; j++) {
                    to.set((long) o * n + j, part[j]);
                }
            }
        }
        pool.giveDoubles(sums);
        pool.giveFloats(part);
        giveBack(scratch);
    }

    private static final float[] NOTHING = {};

    private void giveBack(float[] scratch) {
        if (scratch != NOTHING) {
            pool.giveFloats(scratch);
        }
    }

    @Override
    public void argmax(NdArray x, NdArray out) {
        if (x.dtype() != DType.FLOAT32) {
            reference.argmax(x, out);
            return;
        }
        int n = (int) ReferenceReduction.rowLength(x.shape());
        float[] data = ((HostStorage) x.storage()).floats();
        long[] to = ((HostStorage) out.storage()).longs();
        int rows = (int) out.elements();
        for (int row = 0; row < rows; row++) {
            int at = (int) x.offset() + row * n;
            float max = floats.max(data, at, n);
            int best = 0;
            while (best < n && !(data[at + best] == max || Float.isNaN(max) && Float.isNaN(data[at + best]))) {
                best++;
            }
            to[(int) out.offset() + row] = best;
        }
    }

    @Override
    public void softmax(NdArray x, boolean logarithm, NdArray out) {
        if (!FloatView.suits(x.dtype())) {
            reference.softmax(x, logarithm, out);
            return;
        }
        int n = (int) ReferenceReduction.rowLength(x.shape());
        int total = (int) x.elements();
        FloatView from = new FloatView(floats, x);
        FloatView to = new FloatView(floats, out);
        float[] scratch = pool.takeFloats(n);
        for (int i = 0; i < total; i += n) {
            float[] row = from.read(i, n, scratch);
            int at = from.at(i);
            float[] target = to.target(scratch);
            int targetAt = to.at(i);
            float max = floats.max(row, at, n);
            if (logarithm) {
                // the exponentials themselves are not needed: where they go is overwritten next, or is scratch
                float[] exponentials = from.isDirect() ? scratch : pool.takeFloats(n);
                double sum = floats.expSum(row, at, max, exponentials, 0, n);
                floats.affine(row, at, max, 1, null, 0, null, 0, target, targetAt, n);
                floats.unary(UnaryFunction.SHIFT, target, targetAt, target, targetAt, n, (float) -Math.log(sum), 0);
                if (!from.isDirect()) {
                    pool.giveFloats(exponentials);
                }
            } else {
                double sum = floats.expSum(row, at, max, target, targetAt, n);
                floats.unary(UnaryFunction.SCALE, target, targetAt, target, targetAt, n, (float) (1 / sum), 0);
            }
            to.write(i, n, target);
        }
        pool.giveFloats(scratch);
    }

    @Override
    public void softmaxGrad(NdArray y, NdArray dy, boolean logarithm, NdArray dx) {
        if (!FloatView.suits(y.dtype())) {
            reference.softmaxGrad(y, dy, logarithm, dx);
            return;
        }
        int n = (int) ReferenceReduction.rowLength(y.shape());
        int total = (int) y.elements();
        FloatView result = new FloatView(floats, y);
        FloatView upstream = new FloatView(floats, dy);
        FloatView to = new FloatView(floats, dx);
        float[] scratch = pool.takeFloats(n);
        float[] other = pool.takeFloats(n);
        float[] work = pool.takeFloats(n);
        for (int i = 0; i < total; i += n) {
            float[] value = result.read(i, n, scratch);
            float[] d = upstream.read(i, n, other);
            int valueAt = result.at(i);
            int dAt = upstream.at(i);
            float[] target = to.target(other);
            if (logarithm) {
                double sum = floats.sum(d, dAt, n);
                floats.expSum(value, valueAt, 0, work, 0, n);
                floats.project(d, dAt, work, 0, 0, (float) sum, 1, target, to.at(i), n);
            } else {
                double sum = floats.dot(value, valueAt, d, dAt, n);
                floats.unary(UnaryFunction.SHIFT, d, dAt, work, 0, n, (float) -sum, 0);
                floats.binary(BinaryFunction.MUL, value, valueAt, work, 0, target, to.at(i), n);
            }
            to.write(i, n, target);
        }
        pool.giveFloats(work);
        pool.giveFloats(other);
        pool.giveFloats(scratch);
    }
}
