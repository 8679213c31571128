package org.tp4j.optim;

/**
 * The learning rate as a function of how many steps are finished, and of nothing else: a run that resumes after k steps goes
 * on with {@code rate(k)}, as if it had never stopped.
 *
 * <table>
 * <caption>With a warm-up of w steps (k = finished steps, all start by base·(k+1)/w while k &lt; w)</caption>
 * <tr><th>schedule</th><th>w ≤ k &lt; total, t = (k-w)/(total-w)</th><th>k ≥ total</th></tr>
 * <tr><td>{@link #constant(double, long) constant}</td><td>base</td><td>base</td></tr>
 * <tr><td>{@link #linear linear}</td><td>min + (base-min)(1-t)</td><td>min</td></tr>
 * <tr><td>{@link #cosine cosine}</td><td>min + ½(base-min)(1+cos πt)</td><td>min</td></tr>
 * </table>
 *
 * <p>Cosine: Loshchilov and Hutter, arXiv 1608.03983, without restarts. Anything else is a lambda:
 *
 * <pre>{@code
 * LearningRateSchedule inverseRoot = k -> 0.01 / Math.sqrt(Math.max(k, 1000));
 * }</pre>
 */
@FunctionalInterface
public interface LearningRateSchedule {
    /** The rate of the step that follows {@code finishedSteps} finished ones. */
    double rate(long finishedSteps);

    /** Always the same rate. */
    static LearningRateSchedule constant(double rate) {
        return constant(rate, 0);
    }

    /** Rises to {@code base} within the warm-up and stays there. */
    static LearningRateSchedule constant(double base, long warmupSteps) {
        return new WarmupDecay(WarmupDecay.Curve.CONSTANT, base, 0, warmupSteps, warmupSteps);
    }

    /** Rises to {@code base} within the warm-up, then falls in a line to {@code min} at step {@code totalSteps}. */
    static LearningRateSchedule linear(double base, double min, long warmupSteps, long totalSteps) {
        return new WarmupDecay(WarmupDecay.Curve.LINEAR, base, min, warmupSteps, totalSteps);
    }

    /** Rises to {@code base} within the warm-up, then falls along half a cosine to {@code min} at {@code totalSteps}. */
    static LearningRateSchedule cosine(double base, double min, long warmupSteps, long totalSteps) {
        return new WarmupDecay(WarmupDecay.Curve.COSINE, base, min, warmupSteps, totalSteps);
    }
}
