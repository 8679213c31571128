package org.tp4j.cpu.internal.scalar;

/**
 * The factors that all elements of an Adam step share: g' = gradScale · g + coupledDecay · w, m = β1 m + (1 - β1) g',
 * v = β2 v + (1 - β2) g'², w = keep · w - rate · m / (root · √v + eps).
 *
 * @param keep 1 - lr · decay where the decay is decoupled, otherwise 1
 * @param rate lr / (1 - β1^step)
 * @param root 1 / √(1 - β2^step)
 */
public record AdamStep(
        float gradScale,
        float coupledDecay,
        float beta1,
        float rest1,
        float beta2,
        float rest2,
        float keep,
        float rate,
        float root,
        float eps) {
    /** The factors of step number {@code step}, counted from 1. */
    public static AdamStep of(
            long step,
            double gradScale,
            double learningRate,
            double beta1,
            double beta2,
            double eps,
            double weightDecay,
            boolean decoupled) {
        return new AdamStep(
                (float) gradScale,
                decoupled ? 0 : (float) weightDecay,
                (float) beta1,
                (float) (1 - beta1),
                (float) beta2,
                (float) (1 - beta2),
                decoupled ? (float) (1 - learningRate * weightDecay) : 1,
                (float) (learningRate / (1 - Math.pow(beta1, step))),
                (float) (1 / Math.sqrt(1 - Math.pow(beta2, step))),
                (float) eps);
    }
}
