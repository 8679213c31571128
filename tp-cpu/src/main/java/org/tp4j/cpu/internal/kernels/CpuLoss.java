package org.tp4j.cpu.internal.kernels;

import java.util.Arrays;
import org.tp4j.cpu.internal.memory.ArrayPool;
import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.cpu.internal.memory.FloatView;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.reference.ReferenceLoss;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.LossKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.UnaryFunction;

/** Embedding look-up of every type and cross entropy of 32- and 16-bit floats; the rest uses the reference. */
public final class CpuLoss implements LossKernels {
    private final FloatKernels floats;
    private final ArrayPool pool;
    private final ReferenceLoss reference = new ReferenceLoss();

    public CpuLoss(FloatKernels floats, ArrayPool pool) {
        this.floats = floats;
        this.pool = pool;
    }

    @Override
    public void gatherRows(NdArray table, NdArray ids, long firstRow, NdArray out) {
        int n = (int) table.shape().size(-1);
        long rows = table.shape().size(0);
        Object from = ((HostStorage) table.storage()).array();
        Object to = ((HostStorage) out.storage()).array();
        ElementAccess index = ElementAccess.of(ids);
        int count = (int) ids.elements();
        for (int i = 0; i < count; i++) {
            long row = index.getLong(i) - firstRow;
            int at = (int) out.offset() + i * n;
            if (row >= 0 && row < rows) {
                System.arraycopy(from, (int) (table.offset() + row * n), to, at, n);
            } else {
                clear(to, at, n);
            }
        }
    }

    private static void clear(Object array, int at, int n) {
        if (array instanceof float[] data) {
            Arrays.fill(data, at, at + n, 0);
        } else if (array instanceof short[] data) {
            Arrays.fill(data, at, at + n, (short) 0);
        } else if (array instanceof double[] data) {
            Arrays.fill(data, at, at + n, 0);
        } else if (array instanceof int[] data) {
            Arrays.fill(data, at, at + n, 0);
        } else if (array instanceof long[] data) {
            Arrays.fill(data, at, at + n, 0);
        } else {
            Arrays.fill((byte[]) array, at, at + n, (byte) 0);
        }
    }

    @Override
    public void scatterAddRows(NdArray dy, NdArray ids, long firstRow, long paddingId, NdArray dTable) {
        if (!FloatView.suits(dy.dtype()) || !FloatView.suits(dTable.dtype())) {
            reference.scatterAddRows(dy, ids, firstRow, paddingId, dTable);
            return;
        }
        int n = (int) dTable.shape().size(-1);
        long rows = dTable.shape().size(0);
        FloatView from = new FloatView(floats, dy);
        FloatView to = new FloatView(floats, dTable);
        ElementAccess index = ElementAccess.of(ids);
        float[] scratch = pool.takeFloats(n);
        float[] other = pool.takeFloats(n);
        long[] named = byRow(index, (int) ids.elements(), firstRow, rows, paddingId);
        for (int k = 0; k < named.length; ) {
            int row = (int) (named[k] >> Integer.SIZE);
            int first = row * n;
            float[] sum = to.read(first, n, scratch); // of 16-bit rows in 32 bits, rounded once
            for (; k < named.length && (int) (named[k] >> Integer.SIZE) == row; k++) {
                int i = (int) named[k];
                floats.addScaled(1, from.read(i * n, n, other), from.at(i * n), sum, to.at(first), n);
            }
            to.write(first, n, sum);
        }
        pool.giveFloats(other);
        pool.giveFloats(scratch);
    }

    /** The ids that name a row of the table: the row in the upper half, the id's position in the lower, in that order. */
    private static long[] byRow(ElementAccess ids, int count, long firstRow, long rows, long paddingId) {
        long[] named = new long[count];
        int n = 0;
        for (int i = 0; i < count; i++) {
            long id = ids.getLong(i);
            long row = id - firstRow;
            if (id != paddingId && row >= 0 && row < rows) {
                named[n++] = row << Integer.SIZE | i;
            }
        }
        long[] sorted = Arrays.copyOf(named, n);
        Arrays.sort(sorted);
        return sorted;
    }

    @Override
    public long firstOutside(NdArray ids, long low, long high, long except) {
        return reference.firstOutside(ids, low, high, except);
    }

    @Override
    public void crossEntropy(
            NdArray logits, NdArray labels, CrossEntropyOptions options, NdArray loss, NdArray max, NdArray sum) {
        if (!FloatView.suits(logits.dtype())) {
            reference.crossEntropy(logits, labels, options, loss, max, sum);
            return;
        }
        double smoothing = options.labelSmoothing();
        int n = (int) logits.shape().size(-1);
        FloatView from = new FloatView(floats, logits);
        ElementAccess index = ElementAccess.of(labels);
        ElementAccess toLoss = ElementAccess.of(loss);
        ElementAccess toMax = ElementAccess.of(max);
        ElementAccess toSum = ElementAccess.of(sum);
        float[] scratch = pool.takeFloats(n);
        float[] work = pool.takeFloats(n);
        int rows = (int) labels.elements();
        for (int row = 0; row < rows; row++) {
            float[] z = from.read(row * n, n, scratch);
            int at = from.at(row * n);
            float top = floats.max(z, at, n);
            double total = floats.expSum(z, at, top, work, 0, n);
            toMax.set(row, top);
            toSum.set(row, total);
            long label = index.getLong(row);
            if (label == options.ignoreIndex()) {
                toLoss.set(row, 0);
            } else {
                double smooth = smoothing == 0 ? 0 : smoothing * (floats.sum(z, at, n) / n - top);
                double logSum = Math.log(total);
                double square = options.zLoss() == 0 ? 0 : options.zLoss() * (top + logSum) * (top + logSum);
                double hot = (double) z[at + (int) label] - top;
                toLoss.set(row, logSum - (1 - smoothing) * hot - smooth + square);
            }
        }
        pool.giveFloats(work);
        pool.giveFloats(scratch);
    }

    @Override
    public void crossEntropyGrad(
            NdArray logits,
            NdArray labels,
            CrossEntropyOptions options,
            NdArray max,
            NdArray sum,
            NdArray dLoss,
            NdArray dLogits) {
        if (!FloatView.suits(logits.dtype())) {
            reference.crossEntropyGrad(logits, labels, options, max, sum, dLoss, dLogits);
            return;
        }
        double smoothing = options.labelSmoothing();
        int n = (int) logits.shape().size(-1);
        FloatView from = new FloatView(floats, logits);
        FloatView to = new FloatView(floats, dLogits);
        ElementAccess index = ElementAccess.of(labels);
        ElementAccess tops = ElementAccess.of(max);
        ElementAccess sums = ElementAccess.of(sum);
        ElementAccess upstream = ElementAccess.of(dLoss);
        float[] scratch = pool.takeFloats(n);
        int rows = (int) labels.elements();
        for (int row = 0; row < rows; row++) {
            long label = index.getLong(row);
            float[] target = to.target(scratch);
            int targetAt = to.at(row * n);
            if (label == options.ignoreIndex()) {
                Arrays.fill(target, targetAt, targetAt + n, 0);
            } else {
                double d = upstream.get(row);
                float[] z = from.read(row * n, n, scratch);
                double top = tops.get(row);
                double total = sums.get(row);
                floats.expSum(z, from.at(row * n), (float) top, target, targetAt, n);
                double p = (1 + 2 * options.zLoss() * (options.zLoss() == 0 ? 0 : top + Math.log(total))) / total;
                double hot = target[targetAt + (int) label] * p - (1 - smoothing) - smoothing / n;
                floats.unary(UnaryFunction.SCALE, target, targetAt, target, targetAt, n, (float) (p * d), 0);
                if (smoothing != 0) {
                    float share = (float) (-smoothing / n * d);
                    floats.unary(UnaryFunction.SHIFT, target, targetAt, target, targetAt, n, share, 0);
                }
                target[targetAt + (int) label] = (float) (hot * d);
            }
            to.write(row * n, n, target);
        }
        pool.giveFloats(scratch);
    }
}
