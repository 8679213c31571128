package org.tp4j.optim;

/**
 * Options of {@link Adam} and {@link AdamW}; made by {@link Adam#options()} and {@link AdamW#options()}, whose default
 * weight decays differ.
 *
 * @param learningRate its schedule; 0.001 by default
 * @param beta1 decay of the mean of gradients; 0.9 by default
 * @param beta2 decay of the mean of squared gradients; 0.999 by default
 * @param eps added to the root of the mean of squares, above 0; 1e-8 by default
 * @param weightDecay λ; by default 0 for Adam and 0.01 for AdamW
 */
public record AdamOptions(
        LearningRateSchedule learningRate, double beta1, double beta2, double eps, double weightDecay) {
    /** Checks the numbers. */
    public AdamOptions {
        Checks.belowOne("beta1 of Adam", beta1);
        Checks.belowOne("beta2 of Adam", beta2);
        Checks.positive("eps of Adam", eps);
        Checks.notNegative("the weight decay of Adam", weightDecay);
    }

    /** Makes {@link AdamOptions}. */
    public static final class Builder {
        private LearningRateSchedule learningRate = LearningRateSchedule.constant(1e-3);
        private double beta1 = 0.9;
        private double beta2 = 0.999;
        private double eps = 1e-8;
        private double weightDecay;

        Builder(double weightDecay) {
            this.weightDecay = weightDecay;
        }

        /** Sets a fixed learning rate. */
        public Builder learningRate(double rate) {
            return learningRate(LearningRateSchedule.constant(rate));
        }

        /** Sets the learning rate's schedule. */
        public Builder learningRate(LearningRateSchedule schedule) {
            learningRate = schedule;
            return this;
        }

        /** Sets the decays of both means. */
        public Builder betas(double first, double second) {
            beta1 = first;
            beta2 = second;
            return this;
        }

        /** Sets what is added to the root of the mean of squares. */
        public Builder eps(double value) {
            eps = value;
            return this;
        }

        /** Sets the weight decay. */
        public Builder weightDecay(double value) {
            weightDecay = value;
            return this;
        }

        /** The options. */
        public AdamOptions build() {
            return new AdamOptions(learningRate, beta1, beta2, eps, weightDecay);
        }
    }
}
