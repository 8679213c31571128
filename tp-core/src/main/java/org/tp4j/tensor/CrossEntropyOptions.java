package org.tp4j.tensor;

/**
 * Options of a cross entropy.
 *
 * @param reduction how the losses of the rows are combined
 * @param ignoreIndex a label to ignore: its loss and gradient are exactly 0
 * @param labelSmoothing share of the target spread evenly over <em>all</em> classes, 0 to below 1 (as PyTorch does)
 * @param zLoss weight of the square of the log-sum-exp, which is added to each row's loss and keeps logits from drifting
 *     (PaLM, arXiv 2204.02311, section 5); 0 for none
 */
public record CrossEntropyOptions(Reduction reduction, long ignoreIndex, double labelSmoothing, double zLoss) {
    /** How the losses of the rows are combined. */
    public enum Reduction {
        /** Sum divided by the number of labels that are not ignored; NaN, with gradient 0, if all are (as PyTorch). */
        MEAN,
        /** Sum. */
        SUM,
        /** One loss per row. */
        NONE
    }

    /** The label that is ignored by default. */
    public static final long DEFAULT_IGNORE_INDEX = -100;

    /** Mean, ignoring -100, no smoothing, no z-loss. */
    public static final CrossEntropyOptions DEFAULT =
            new CrossEntropyOptions(Reduction.MEAN, DEFAULT_IGNORE_INDEX, 0, 0);

    /** Checks smoothing and weight. */
    public CrossEntropyOptions {
        if (!(zLoss >= 0) || Double.isInfinite(zLoss)) {
            throw new IllegalArgumentException("the weight of the z-loss must be at least 0 and finite, was " + zLoss);
        }
        if (!(labelSmoothing >= 0 && labelSmoothing < 1)) {
            throw new IllegalArgumentException("label smoothing must be at least 0 and below 1, was " + labelSmoothing);
        }
    }

    /** The same with another reduction. */
    public CrossEntropyOptions withReduction(Reduction other) {
        return new CrossEntropyOptions(other, ignoreIndex, labelSmoothing, zLoss);
    }

    /** The same with another smoothing. */
    public CrossEntropyOptions withLabelSmoothing(double smoothing) {
        return new CrossEntropyOptions(reduction, ignoreIndex, smoothing, zLoss);
    }

    /** The same ignoring another label. */
    public CrossEntropyOptions withIgnoreIndex(long label) {
        return new CrossEntropyOptions(reduction, label, labelSmoothing, zLoss);
    }

    /** The same with another weight of the z-loss. */
    public CrossEntropyOptions withZLoss(double weight) {
        return new CrossEntropyOptions(reduction, ignoreIndex, labelSmoothing, weight);
    }
}
