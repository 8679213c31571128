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
     * Cross entropy of each row of logits z [rows, n] against its label, with label smoothing s over all n classes and z-loss
     * of weight w. With m = max z and S = Σ e^(z - m): loss = log S - (1 - s) (z_label - m) - s (mean(z) - m) + w (m + log
     * S)²; 0 where the label is ignored. m and S are kept apart for the gradient, since their sum, rounded, would be wrong by
     * an ulp of m. loss, max and sum are [rows], {@code FLOAT32} or, where logits are, {@code FLOAT64}.
     *
     * @param options all but its reduction
     */
    void crossEntropy(
            NdArray logits, NdArray labels, CrossEntropyOptions options, NdArray loss, NdArray max, NdArray sum);

    /**
     * dLogits = (e^(z - m) / S · (1 + 2 w (m + log S)) - (1 - s) · 1[label] - s/n) · dLoss[row]; exactly 0 where the label is
     * ignored.
     */
    void crossEntropyGrad(
            NdArray logits,
            NdArray labels,
            CrossEntropyOptions options,
            NdArray max,
            NdArray sum,
            NdArray dLoss,
            NdArray dLogits);
}
