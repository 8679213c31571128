package org.tp4j.cpu.internal.reference;

import org.tp4j.cpu.internal.memory.ElementAccess;
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
            NdArray logits, NdArray labels, long ignoreIndex, double smoothing, NdArray loss, NdArray lse) {
        long n = logits.shape().size(-1);
        ElementAccess z = ElementAccess.of(logits);
        ElementAccess label = ElementAccess.of(labels);
        ElementAccess toLoss = ElementAccess.of(loss);
        ElementAccess toLse = ElementAccess.of(lse);
        for (long row = 0; row < labels.elements(); row++) {
            double max = Double.NEGATIVE_INFINITY;
            double total = 0;
            for (long j = 0; j < n; j++) {
                max = Math.max(max, z.get(row * n + j));
                total += z.get(row * n + j);
            }
            double sum = 0;
            for (long j = 0; j < n; j++) {
                sum += Math.exp(z.get(row * n + j) - max);
            }
            double logSum = max + Math.log(sum);
            toLse.set(row, logSum);
            long target = label.getLong(row);
            if (target == ignoreIndex) {
                toLoss.set(row, 0);
            } else {
                double smooth = smoothing == 0 ? 0 : smoothing * (total / n);
                toLoss.set(row, logSum - (1 - smoothing) * z.get(row * n + target) - smooth);
            }
        }
    }

    @Override
    public void crossEntropyGrad(
            NdArray logits,
            NdArray labels,
            long ignoreIndex,
            double smoothing,
            NdArray lse,
            NdArray dLoss,
            NdArray dLogits) {
        long n = logits.shape().size(-1);
        ElementAccess z = ElementAccess.of(logits);
        ElementAccess label = ElementAccess.of(labels);
        ElementAccess logSums = ElementAccess.of(lse);
        ElementAccess upstream = ElementAccess.of(dLoss);
        ElementAccess to = ElementAccess.of(dLogits);
        for (long row = 0; row < labels.elements(); row++) {
            long target = label.getLong(row);
            for (long j = 0; j < n; j++) {
                if (target == ignoreIndex) {
                    to.set(row * n + j, 0);
                } else {
                    double hot = j == target ? 1 - smoothing : 0;
                    double p = Math.exp(z.get(row * n + j) - logSums.get(row));
                    to.set(row * n + j, (p - hot - smoothing / n) * upstream.get(row));
                }
            }
        }
    }
}
