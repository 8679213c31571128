package org.tp4j.optim;

/**
 * Options of {@link SGD}.
 *
 * @param learningRate its schedule
 * @param momentum μ, 0 for none
 * @param weightDecay λ, added to the gradient as λw
 * @param nesterov whether to look ahead along the momentum
 */
public record SgdOptions(LearningRateSchedule learningRate, double momentum, double weightDecay, boolean nesterov) {
    /** Checks the numbers. */
    public SgdOptions {
        Checks.belowOne("the momentum of SGD", momentum);
        Checks.notNegative("the weight decay of SGD", weightDecay);
        if (nesterov && momentum == 0) {
            throw new IllegalArgumentException("Nesterov's SGD needs a momentum above 0; HINT: withNesterov(0.9)");
        }
    }

    /** Plain descent at a fixed learning rate. */
    public static SgdOptions of(double learningRate) {
        return of(LearningRateSchedule.constant(learningRate));
    }

    /** Plain descent. */
    public static SgdOptions of(LearningRateSchedule learningRate) {
        return new SgdOptions(learningRate, 0, 0, false);
    }

    /** The same with momentum. */
    public SgdOptions withMomentum(double mu) {
        return new SgdOptions(learningRate, mu, weightDecay, nesterov);
    }

    /** The same with Nesterov's momentum. */
    public SgdOptions withNesterov(double mu) {
        return new SgdOptions(learningRate, mu, weightDecay, true);
    }

    /** The same with weight decay. */
    public SgdOptions withWeightDecay(double decay) {
        return new SgdOptions(learningRate, momentum, decay, nesterov);
    }
}
