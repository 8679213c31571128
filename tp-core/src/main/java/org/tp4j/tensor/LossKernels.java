package org.tp4j.tensor;

/** Embedding look-up and cross entropy; see {@link Backend} for the contract. Ids are INT32 or INT64. */
public interface LossKernels {
    /**
     * out[i, :] = table[ids[i] - firstRow, :], or zeros where that is not a row of the table (another rank's row, or
     * {@code paddingId} is irrelevant here). The caller has checked ids against the global table.
     */
    void gatherRows(NdArray table, NdArray ids, long firstRow, NdArray out);

    /**
     * dTable[ids[i] - firstRow, :] += dy[i, :] for rows this table has and ids other than {@code paddingId}; dTable is
     * added to in the order of i, so that the result is the same each time.
     *
     * @param paddingId an id whose row gets no gradient, or {@code Long.MIN_VALUE} for none
     */
    void scatterAddRows(NdArray dy, NdArray ids, long firstRow, long paddingId, NdArray dTable);

    /**
     * Index of the first id outside [low, high) and different from {@code except}, or -1 if there is none.
     */
    long firstOutside(NdArray ids, long low, long high, long except);

    /**
     * Cross entropy of each row of logits [rows, n] against its label, with label smoothing over all n classes:
     * loss = lse - (1 - s) z_label - s mean(z); 0 where the label is {@code ignoreIndex}. lse = log Σ e^z is kept for the
     * gradient. loss and lse are [rows], {@code FLOAT32} or, where logits are, {@code FLOAT64}.
     */
    void crossEntropy(NdArray logits, NdArray labels, long ignoreIndex, double smoothing, NdArray loss, NdArray lse);

    /**
     * dLogits = (softmax - (1 - s) · 1[label] - s/n) · dLoss[row]; exactly 0 where the label is {@code ignoreIndex}.
     */
    void crossEntropyGrad(
            NdArray logits,
            NdArray labels,
            long ignoreIndex,
            double smoothing,
            NdArray lse,
            NdArray dLoss,
            NdArray dLogits);
}
