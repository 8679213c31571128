package org.tp4j.optim;

/** A rise in equal steps and a fall along a curve; see {@link LearningRateSchedule}. */
record WarmupDecay(Curve curve, double base, double min, long warmupSteps, long totalSteps)
        implements LearningRateSchedule {
    enum Curve {
        CONSTANT,
        LINEAR,
        COSINE
    }

    WarmupDecay {
        if (!(base >= 0 && base < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("a learning rate must be finite and at least 0, was " + base);
        }
        if (!(min >= 0 && min <= base)) {
            throw new IllegalArgumentException(
                    "the least learning rate must lie between 0 and the base rate " + base + ", was " + min);
        }
        if (warmupSteps < 0 || totalSteps < warmupSteps) {
            throw new IllegalArgumentException("a warm-up of " + warmupSteps + " steps of " + totalSteps
                    + " in total; HINT: 0 <= warmupSteps <= totalSteps");
        }
    }

    @Override
    public double rate(long finishedSteps) {
        if (finishedSteps < 0) {
            throw new IllegalArgumentException("the number of finished steps cannot be " + finishedSteps);
        }
        if (finishedSteps < warmupSteps) {
            return base * (finishedSteps + 1) / warmupSteps;
        }
        if (curve == Curve.CONSTANT) {
            return base;
        }
        if (finishedSteps >= totalSteps) {
            return min;
        }
        double done = (double) (finishedSteps - warmupSteps) / (totalSteps - warmupSteps);
        double left = curve == Curve.LINEAR ? 1 - done : 0.5 * (1 + Math.cos(Math.PI * done));
        return min + (base - min) * left;
    }
}
