package org.tp4j.cpu.internal.reference;

import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.LossKernels;
import org.tp4j.tensor.NdArray;

/** Embedding look-up and cross entropy as their definitions read, for every floating type. */
public final class ReferenceLoss implements LossKernels {
    @Override
    public void gatherRows(NdArray table, NdArray ids, long firstRow, NdArray out) {
        long n = table.shape().size(-1);
        long rows = table.shape().size(0);
        ElementAccess from = ElementAccess.of(table);
        ElementAccess index = ElementAccess.of(ids);
        ElementAccess to = ElementAccess.of(out);
        for (long i = 0; i < ids.elements(); i++) {
            long row = index.getLong(i) - firstRow;
            boolean here = row >= 0 && row < rows;
            for (long j = 0; j < n; j++) {
                to.set(i * n + j, here ? from.get(row * n + j) : 0);
            }
        }
    }

    @Override
    public void scatterAddRows(NdArray dy, NdArray ids, long firstRow, long paddingId, NdArray dTable) {
        long n = dTable.shape().size(-1);
        long rows = dTable.shape().size(0);
        ElementAccess upstream = ElementAccess.of(dy);
        ElementAccess index = ElementAccess.of(ids);
        ElementAccess to = ElementAccess.of(dTable);
        if (dTable.dtype().isHalf()) {
            scatterAddHalves(upstream, index, ids.elements(), firstRow, paddingId, to, rows, n);
            return;
        }
        for (long i = 0; i < ids.elements(); i++) {
            long id = index.getLong(i);
            long row = id - firstRow;
            if (id != paddingId && row >= 0 && row < rows) {
                for (long j = 0; j < n; j++) {
                    to.set(row * n + j, to.get(row * n + j) + upstream.get(i * n + j));
                }
            }
        }
    }

    /** Each sum in 32 bits, rounded once. */
    private static void scatterAddHalves(
            ElementAccess upstream,
            ElementAccess ids,
            long count,
            long firstRow,
            long paddingId,
            ElementAccess to,
            long rows,
            long n) {
        for (long at = 0; at < rows * n; at++) {
            float sum = (float) to.get(at);
            for (long i = 0; i < count; i++) {
                long id = ids.getLong(i);
                if (id != paddingId && id - firstRow == at / n) {
                    sum += (float) upstream.get(i * n + at % n);
                }
            }
            to.set(at, sum);
        }
    }

    @Override
    public long firstOutside(NdArray ids, long low, long high, long except) {
        ElementAccess index = ElementAccess.of(ids);
        for (long i = 0; i < ids.elements(); i++) {
            long id = index.getLong(i);
            if ((id < low || id >= high) && id != except) {
                return i;
            }
        }
        return -1;
    }

    @Override
    public void crossEntropy(
            NdArray logits, NdArray labels, CrossEntropyOptions options, NdArray loss, NdArray max, NdArray sum) {
        long n = logits.shape().size(-1);
        double smoothing = options.labelSmoothing();
        ElementAccess z = ElementAccess.of(logits);
        ElementAccess label = ElementAccess.of(labels);
        ElementAccess toLoss = ElementAccess.of(loss);
        ElementAccess toMax = ElementAccess.of(max);
        ElementAccess toSum = ElementAccess.of(sum);
        for (long row = 0; row < labels.elements(); row++) {
            double top = Double.NEGATIVE_INFINITY;
            for (long j = 0; j < n; j++) {
                top = Math.max(top, z.get(row * n + j));
            }
            double total = 0;
            double lost = 0; // by rounding, so that many classes cost no accuracy
            double below = 0;
            for (long j = 0; j < n; j++) {
                double d = z.get(row * n + j) - top;
                double e = Math.exp(d);
                double next = total + e;
                lost += total >= e ? total - next + e : e - next + total;
                total = next;
                below += d;
            }
            total += lost;
            toMax.set(row, top);
            toSum.set(row, total);
            long target = label.getLong(row);
            if (target == options.ignoreIndex()) {
                toLoss.set(row, 0);
            } else {
                double smooth = smoothing == 0 ? 0 : smoothing * (below / n);
                double logSum = Math.log(total);
                double square = options.zLoss() == 0 ? 0 : options.zLoss() * (top + logSum) * (top + logSum);
                double hot = z.get(row * n + target) - top;
                toLoss.set(row, logSum - (1 - smoothing) * hot - smooth + square);
            }
        }
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
        long n = logits.shape().size(-1);
        double smoothing = options.labelSmoothing();
        ElementAccess z = ElementAccess.of(logits);
        ElementAccess label = ElementAccess.of(labels);
        ElementAccess tops = ElementAccess.of(max);
        ElementAccess sums = ElementAccess.of(sum);
        ElementAccess upstream = ElementAccess.of(dLoss);
        ElementAccess to = ElementAccess.of(dLogits);
        for (long row = 0; row < labels.elements(); row++) {
            long target = label.getLong(row);
            double top = tops.get(row);
            double total = sums.get(row);
            double scale = 1 + 2 * options.zLoss() * (options.zLoss() == 0 ? 0 : top + Math.log(total));
            for (long j = 0; j < n; j++) {
                if (target == options.ignoreIndex()) {
                    to.set(row * n + j, 0);
                } else {
                    double hot = j == target ? 1 - smoothing : 0;
                    double p = Math.exp(z.get(row * n + j) - top) / total;
                    to.set(row * n + j, (p * scale - hot - smoothing / n) * upstream.get(row));
                }
            }
        }
    }
}
