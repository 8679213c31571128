package org.tp4j.tensor;

/**
 * Options of a cross entropy.
 *
 * @param reduction how the losses of the rows are combined
 * @param ignoreIndex a label to ignore: its loss and gradient are exactly 0
 * @param labelSmoothing share of the target spread evenly over <em>all</em> classes, 0 to below 1 (as PyTorch does)
 */
public record CrossEntropyOptions(Reduction reduction, long ignoreIndex, double labelSmoothing) {
    /** How the losses of the rows are combined. */
    public enum Reduction {
        /** Sum divided by the number of labels that are not ignored; 0 if all are. */
        MEAN,
        /** Sum. */
        SUM,
        /** One loss per row. */
        NONE
    }

    /** The label that is ignored by default. */
    public static final long DEFAULT_IGNORE_INDEX = -100;

    /** Mean, ignoring -100, no smoothing. */
    public static final CrossEntropyOptions DEFAULT =
            new CrossEntropyOptions(Reduction.MEAN, DEFAULT_IGNORE_INDEX, 0.0);

    /** Checks the smoothing. */
    public CrossEntropyOptions {
        if (!(labelSmoothing >= 0 && labelSmoothing < 1)) {
            throw new IllegalArgumentException("label smoothing must be at least 0 and below 1, was " + labelSmoothing);
        }
    }

    /** The same with another reduction. */
    public CrossEntropyOptions withReduction(Reduction other) {
        return new CrossEntropyOptions(other, ignoreIndex, labelSmoothing);
    }

    /** The same with another smoothing. */
    public CrossEntropyOptions withLabelSmoothing(double smoothing) {
        return new CrossEntropyOptions(reduction, ignoreIndex, smoothing);
    }
}
