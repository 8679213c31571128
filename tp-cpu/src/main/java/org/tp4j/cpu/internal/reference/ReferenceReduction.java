package org.tp4j.cpu.internal.reference;

import java.util.Arrays;
import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.cpu.internal.memory.Odometer;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Shape;

/** Reductions as their definitions read, for every type. Sums of floats are taken in 64 bits, in order. */
public final class ReferenceReduction implements ReductionKernels {
    @Override
    public void reduce(Kind kind, NdArray x, boolean[] reduced, NdArray out) {
        Shape shape = x.shape();
        long[] sizes = shape.toArray();
        long[] outStrides = new long[sizes.length];
        long stride = 1;
        for (int d = sizes.length - 1; d >= 0; d--) {
            outStrides[d] = reduced[d] ? 0 : stride;
            stride *= reduced[d] ? 1 : sizes[d];
        }
        if (x.dtype().isFloating()) {
            reduceFloating(kind, x, new Odometer(sizes, outStrides), out);
        } else {
            reduceInteger(kind, x, new Odometer(sizes, outStrides), out);
        }
    }

    private static void reduceFloating(Kind kind, NdArray x, Odometer at, NdArray out) {
        double[] result = new double[(int) out.elements()];
        Arrays.fill(
                result,
                switch (kind) {
                    case SUM, SUM_SQUARES, SUM_ABS, MAX_ABS -> 0;
                    case MAX -> Double.NEGATIVE_INFINITY;
                    case MIN -> Double.POSITIVE_INFINITY;
                });
        ElementAccess from = ElementAccess.of(x);
        for (long i = 0; i < x.elements(); i++, at.next()) {
            int o = (int) at.offset(0);
            double value = from.get(i);
            result[o] = switch (kind) {
                case SUM -> result[o] + value;
                case SUM_SQUARES -> result[o] + value * value;
                case SUM_ABS -> result[o] + Math.abs(value);
                case MAX -> Math.max(result[o], value);
                case MIN -> Math.min(result[o], value);
                case MAX_ABS -> Math.max(result[o], Math.abs(value));
            };
        }
        ElementAccess to = ElementAccess.of(out);
        for (int o = 0; o < result.length; o++) {
            to.set(o, result[o]);
        }
    }

    private static void reduceInteger(Kind kind, NdArray x, Odometer at, NdArray out) {
        long[] result = new long[(int) out.elements()];
        boolean wide = x.dtype() == DType.INT64;
        Arrays.fill(
                result,
                switch (kind) {
                    case SUM, SUM_SQUARES, SUM_ABS, MAX_ABS -> 0;
                    case MAX -> wide ? Long.MIN_VALUE : x.dtype() == DType.BOOL ? 0 : Integer.MIN_VALUE;
                    case MIN -> wide ? Long.MAX_VALUE : x.dtype() == DType.BOOL ? 1 : Integer.MAX_VALUE;
                });
        ElementAccess from = ElementAccess.of(x);
        for (long i = 0; i < x.elements(); i++, at.next()) {
            int o = (int) at.offset(0);
            long value = from.getLong(i);
            result[o] = switch (kind) {
                case SUM -> result[o] + value;
                case SUM_SQUARES -> result[o] + value * value;
                case SUM_ABS -> result[o] + Math.abs(value);
                case MAX -> Math.max(result[o], value);
                case MIN -> Math.min(result[o], value);
                case MAX_ABS -> Math.max(result[o], Math.abs(value));
            };
        }
        ElementAccess to = ElementAccess.of(out);
        for (int o = 0; o < result.length; o++) {
            to.setLong(o, result[o]);
        }
    }

    /** Size of the last dimension; a scalar counts as a row of one. */
    public static long rowLength(Shape shape) {
        return shape.dims() == 0 ? 1 : shape.size(-1);
    }

    @Override
    public void argmax(NdArray x, NdArray out) {
        long n = rowLength(x.shape());
        ElementAccess from = ElementAccess.of(x);
        ElementAccess to = ElementAccess.of(out);
        for (long row = 0; row < out.elements(); row++) {
            long best = 0;
            for (long j = 1; j < n; j++) {
                if (isGreater(x.dtype(), from, row * n + j, row * n + best)) {
                    best = j;
                }
            }
            to.setLong(row, best);
        }
    }

    /** Whether element i comes before element j as a maximum: NaN counts as the greatest, as in MAX. */
    private static boolean isGreater(DType dtype, ElementAccess cells, long i, long j) {
        if (!dtype.isFloating()) {
            return cells.getLong(i) > cells.getLong(j);
        }
        double a = cells.get(i);
        double b = cells.get(j);
        return a > b || Double.isNaN(a) && !Double.isNaN(b);
    }

    @Override
    public void softmax(NdArray x, boolean logarithm, NdArray out) {
        long n = rowLength(x.shape());
        ElementAccess from = ElementAccess.of(x);
        ElementAccess to = ElementAccess.of(out);
        for (long at = 0; at < x.elements(); at += n) {
            double max = Double.NEGATIVE_INFINITY;
            for (long j = 0; j < n; j++) {
                max = Math.max(max, from.get(at + j));
            }
            double sum = 0;
            for (long j = 0; j < n; j++) {
                sum += Math.exp(from.get(at + j) - max);
            }
            for (long j = 0; j < n; j++) {
                double shifted = from.get(at + j) - max;
                to.set(at + j, logarithm ? shifted - Math.log(sum) : Math.exp(shifted) / sum);
            }
        }
    }

    @Override
    public void softmaxGrad(NdArray y, NdArray dy, boolean logarithm, NdArray dx) {
        long n = rowLength(y.shape());
        ElementAccess result = ElementAccess.of(y);
        ElementAccess upstream = ElementAccess.of(dy);
        ElementAccess to = ElementAccess.of(dx);
        for (long at = 0; at < y.elements(); at += n) {
            double sum = 0;
            for (long j = 0; j < n; j++) {
                sum += logarithm ? upstream.get(at + j) : result.get(at + j) * upstream.get(at + j);
            }
            for (long j = 0; j < n; j++) {
                double d = upstream.get(at + j);
                double value = result.get(at + j);
                to.set(at + j, logarithm ? d - Math.exp(value) * sum : value * (d - sum));
            }
        }
    }
}
