package org.tp4j.op;

import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;

/**
 * How an operation's results are placed along one mesh axis, given how its operands are. Each axis is decided by itself;
 * the results' layouts are the product.
 */
public interface ShardingRule {
    /**
     * An operand as one axis sees it.
     *
     * @param layout its layout on the whole mesh
     * @param placement its placement on the axis
     * @param needsGradient whether its gradient will be needed; a value that needs none counts as Invariant or
     *     Replicate, whichever fits
     * @param parameter whether it is a model parameter, which is promoted from Invariant to Replicate where needed
     */
    record Operand(Layout layout, Placement placement, boolean needsGradient, boolean parameter) {
        /** Whether it may count as Replicate: it is, needs no gradient, or is a parameter. */
        boolean replicable() {
            return placement == Placement.Replicate.INSTANCE
                    || placement == Placement.Invariant.INSTANCE && (!needsGradient || parameter);
        }

        /** Whether it may count as Invariant: it is, or is whole and needs no gradient. */
        boolean invariable() {
            return placement == Placement.Invariant.INSTANCE
                    || placement == Placement.Replicate.INSTANCE && !needsGradient;
        }
    }

    /**
     * What was decided for one axis.
     *
     * @param inputs placements the operands must have; a difference to what they have is a step without communication
     * @param outputs placements of the results
     */
    record Decision(Placement[] inputs, Placement[] outputs) {}

    /** Why operands do not go together, and the remedy; becomes a {@code LayoutException}. */
    final class Refusal extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final int operand;
        private final transient @Nullable Placement remedy;

        /**
         * @param reason what does not fit
         * @param operand number of the operand to redistribute, or -1
         * @param remedy the placement it would need, or null
         */
        public Refusal(String reason, int operand, @Nullable Placement remedy) {
            super(reason, null, false, false);
            this.operand = operand;
            this.remedy = remedy;
        }

        /** Number of the operand to redistribute, or -1. */
        public int operand() {
            return operand;
        }

        /** The placement it would need, or null. */
        public @Nullable Placement remedy() {
            return remedy;
        }
    }

    /**
     * Decides one axis.
     *
     * @param axis number of the axis in the layouts of the operands
     * @throws Refusal if the operands do not go together on this axis
     */
    Decision decide(int axis, Operand[] operands);

    /** A number that stands for dimension {@code dim} of operand {@code i}; equal numbers are cut together. */
    int inputLabel(int i, int dim);

    /** The number for dimension {@code dim} of result {@code i}. */
    int outputLabel(int i, int dim);

    /** How to cut the dimensions of the first result that no operand has, if the rule cuts such dimensions. */
    default TargetLayout target() {
        return TargetLayout.NONE;
    }
}
