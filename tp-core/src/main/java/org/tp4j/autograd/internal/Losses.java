package org.tp4j.autograd.internal;

import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.op.internal.CrossEntropyOp;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.CrossEntropyOptions.Reduction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.GradMode;
import org.tp4j.tensor.Tensor;

/** Losses composed of several operations. */
final class Losses {
    private Losses() {}

    /**
     * Cross entropy. The mean over sharded rows needs the number of labels that count on all ranks: one all-reduce of one
     * number per axis, the only communication here.
     */
    static Tensor crossEntropy(Tensor logits, Tensor labels, CrossEntropyOptions options) {
        Tensor rows = Dispatch.run(new CrossEntropyOp(options), logits, labels);
        if (options.reduction() == Reduction.NONE) {
            return rows;
        }
        Tensor sum = rows.sum();
        return options.reduction() == Reduction.SUM ? sum : sum.div(counted(rows, labels, options.ignoreIndex()));
    }

    private static Tensor counted(Tensor rows, Tensor labels, long ignoreIndex) {
        try (GradMode off = GradMode.noGrad()) {
            Tensor count = labels.ne(EagerTensor.number(labels, ignoreIndex))
                    .cast(DType.INT64)
                    .sum();
            if (count instanceof DTensor d) {
                Layout whole = d.layout();
                for (int axis = 0; axis < whole.placements().size(); axis++) {
                    if (whole.placement(axis) instanceof Placement.Partial) {
                        whole = whole.with(axis, Placement.replicate());
                    }
                }
                count = d.redistribute(whole);
            }
            return count.cast(rows.dtype());
        }
    }
}
