package org.tp4j.optim;

import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.UnaryFunction;

/**
 * Dynamic loss scaling for FLOAT16 (Micikevicius et al., arXiv 1710.03740, section 3.2): the loss is multiplied by a large
 * number, so that small gradients do not become 0 in 16 bits, and gradients are divided by it before the step. A step with an
 * infinite or NaN gradient is passed over and the scale halved; after many good steps it is doubled.
 *
 * <pre>{@code
 * LossScaler scaler = new LossScaler();
 * scaler.scale(model.apply(x).crossEntropy(labels)).backward();
 * scaler.unscale(optimizer);                  // only if gradients are clipped or read before the step
 * GradientClipping.byNorm(model, 1.0);
 * boolean taken = scaler.step(optimizer);
 * }</pre>
 *
 * <p>The decision is one for all ranks: {@link Optimizer#stepIfFinite}, a gather of a few numbers. Scales are powers of two
 * unless set otherwise, so that scaling is exact. BFLOAT16 has the range of FLOAT32 and needs none. Not for steps that are
 * captured, which cannot read the decision on the host.
 */
public final class LossScaler {
    /** What a scaler starts with by default. */
    public static final double DEFAULT_SCALE = 65_536;

    /** Good steps until the scale is doubled, by default. */
    public static final int DEFAULT_INTERVAL = 2_000;

    private static final double GROWTH = 2;
    private static final double BACKOFF = 0.5;
    private static final double MOST = Math.scalb(1.0, 100);
    private static final double LEAST = Math.scalb(1.0, -20);

    private final int interval;
    private double scale;
    private int goodSteps;
    private boolean unscaled;

    /** A scaler with the usual numbers. */
    public LossScaler() {
        this(DEFAULT_SCALE, DEFAULT_INTERVAL);
    }

    /**
     * A scaler.
     *
     * @param scale what the loss is multiplied by at first
     * @param interval good steps until the scale is doubled
     */
    public LossScaler(double scale, int interval) {
        if (!(scale > 0) || Double.isInfinite(scale) || interval < 1) {
            throw new IllegalArgumentException("a loss scale of " + scale + " that is doubled after " + interval
                    + " steps; HINT: the scale is positive and finite, the interval at least 1");
        }
        this.scale = scale;
        this.interval = interval;
    }

    /** What the next loss is multiplied by. */
    public double scale() {
        return scale;
    }

    /** Steps since the scale has changed. */
    public int goodSteps() {
        return goodSteps;
    }

    /** Goes on from where another run stopped. */
    public void restore(double savedScale, int savedGoodSteps) {
        LossScaler checked = new LossScaler(savedScale, interval);
        scale = checked.scale;
        goodSteps = savedGoodSteps;
    }

    /** The loss times the scale, in at least 32 bits: what backward is called on. */
    public Tensor scale(Tensor loss) {
        refuseCapture();
        DType wide = loss.dtype().accumulator();
        return loss.cast(wide).mul(scale);
    }

    /** Divides the gradients by the scale, once per step. Collective, as the deferred sums of gradients run first. */
    public void unscale(Optimizer optimizer) {
        refuseCapture();
        if (!unscaled) {
            for (ReadyGradient gradient :
                    ReadyGradient.of(optimizer.parameters().values())) {
                NdArray local = gradient.local();
                local.backend().elementwise().unary(UnaryFunction.SCALE, local, local, 1 / scale, 0);
                local.storage().markChanged();
            }
            unscaled = true;
        }
    }

    /**
     * Takes the optimizer's step unless a gradient is infinite or NaN on any rank, and adapts the scale. Collective.
     *
     * @return whether the step was taken, the same on every rank
     * @throws NonFiniteGradientException if the scale has become so small that scaling is not what is wrong
     */
    public boolean step(Optimizer optimizer) {
        unscale(optimizer);
        unscaled = false;
        boolean taken = optimizer.stepIfFinite();
        if (!taken) {
            scale *= BACKOFF;
            goodSteps = 0;
            if (scale < LEAST) {
                throw new NonFiniteGradientException(Double.NaN, java.util.List.of());
            }
        } else if (++goodSteps >= interval) {
            scale = Math.min(MOST, scale * GROWTH);
            goodSteps = 0;
        }
        return taken;
    }

    private static void refuseCapture() {
        if (ExecutionContext.current().recording() != null) {
            throw new IllegalStateException(
                    "a LossScaler cannot be used in a step that is being captured: the host must"
                            + " read whether gradients are finite; HINT: capture steps in BFLOAT16, which needs no scaling");
        }
    }

    @Override
    public String toString() {
        return "loss scale " + scale;
    }
}
