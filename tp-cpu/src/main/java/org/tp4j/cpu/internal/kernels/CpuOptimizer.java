package org.tp4j.cpu.internal.kernels;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tp4j.cpu.internal.memory.ArrayPool;
import org.tp4j.cpu.internal.memory.FloatView;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.reference.ReferenceOptimizer;
import org.tp4j.cpu.internal.scalar.AdamStep;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.ParameterUpdate;
import org.tp4j.tensor.UnaryFunction;

/** Optimizer steps on 32-bit weights (parameters or masters), a piece at a time; other types use the reference. */
public final class CpuOptimizer implements OptimizerKernels {
    private static final int PIECE = FloatView.PIECE;

    private final FloatKernels floats;
    private final ArrayPool pool;
    private final ReferenceOptimizer reference = new ReferenceOptimizer();

    public CpuOptimizer(FloatKernels floats, ArrayPool pool) {
        this.floats = floats;
        this.pool = pool;
    }

    @Override
    public void sgd(List<ParameterUpdate> updates, double gradScale, double momentum, boolean nesterov) {
        updates.forEach(u -> sgd(u, gradScale, momentum, nesterov));
    }

    private void sgd(ParameterUpdate u, double gradScale, double momentum, boolean nesterov) {
        NdArray parameter = u.parameter();
        NdArray master = u.master();
        NdArray gradient = u.gradient();
        NdArray momentumBuffer = u.state().isEmpty() ? null : u.state().get(0);
        boolean first = u.step() == 1;
        double learningRate = u.learningRate();
        double weightDecay = u.weightDecay();
        if (!isFast(parameter, master, gradient)) {
            reference.sgd(List.of(u), gradScale, momentum, nesterov);
            return;
        }
        NdArray weights = master == null ? parameter : master;
        float[] w = ((HostStorage) weights.storage()).floats();
        FloatView gradients = new FloatView(floats, gradient);
        float[] v = momentumBuffer == null ? null : ((HostStorage) momentumBuffer.storage()).floats();
        int vBase = momentumBuffer == null ? 0 : (int) momentumBuffer.offset();
        float[] g = pool.takeFloats(PIECE);
        int n = (int) parameter.elements();
        for (int i = 0; i < n; i += PIECE) {
            int length = Math.min(PIECE, n - i);
            int wAt = (int) weights.offset() + i;
            float[] raw = gradients.read(i, length, g);
            if (gradScale == 1 && weightDecay == 0 && v == null) {
                floats.addScaled((float) -learningRate, raw, gradients.at(i), w, wAt, length);
            } else {
                floats.unary(UnaryFunction.SCALE, raw, gradients.at(i), g, 0, length, (float) gradScale, 0);
                if (weightDecay != 0) {
                    floats.addScaled((float) weightDecay, w, wAt, g, 0, length);
                }
                if (v != null) {
                    int vAt = vBase + i;
                    // v = momentum · v + g, where the first step has no v yet: nothing that is there may be read
                    if (first) {
                        System.arraycopy(g, 0, v, vAt, length);
                    } else {
                        floats.unary(UnaryFunction.SCALE, v, vAt, v, vAt, length, (float) momentum, 0);
                        floats.binary(BinaryFunction.ADD, v, vAt, g, 0, v, vAt, length);
                    }
                    if (nesterov) {
                        floats.addScaled((float) momentum, v, vAt, g, 0, length);
                    } else {
                        System.arraycopy(v, vAt, g, 0, length);
                    }
                }
                floats.addScaled((float) -learningRate, g, 0, w, wAt, length);
            }
            round(master, w, wAt, parameter, i, length);
        }
        pool.giveFloats(g);
    }

    @Override
    public void adam(
            List<ParameterUpdate> updates,
            double gradScale,
            double beta1,
            double beta2,
            double eps,
            boolean decoupled) {
        updates.forEach(u -> adam(u, gradScale, beta1, beta2, eps, decoupled));
    }

    private void adam(ParameterUpdate u, double gradScale, double beta1, double beta2, double eps, boolean decoupled) {
        NdArray parameter = u.parameter();
        NdArray master = u.master();
        NdArray gradient = u.gradient();
        NdArray m = u.state().get(0);
        NdArray v = u.state().get(1);
        double learningRate = u.learningRate();
        double weightDecay = u.weightDecay();
        if (!isFast(parameter, master, gradient)) {
            reference.adam(List.of(u), gradScale, beta1, beta2, eps, decoupled);
            return;
        }
        AdamStep factors = AdamStep.of(u.step(), gradScale, learningRate, beta1, beta2, eps, weightDecay, decoupled);
        NdArray weights = master == null ? parameter : master;
        float[] w = ((HostStorage) weights.storage()).floats();
        float[] first = ((HostStorage) m.storage()).floats();
        float[] second = ((HostStorage) v.storage()).floats();
        FloatView gradients = new FloatView(floats, gradient);
        int n = (int) parameter.elements();
        int piece = gradients.isDirect() && master == null ? Math.max(n, 1) : PIECE;
        float[] scratch = pool.takeFloats(PIECE);
        for (int i = 0; i < n; i += piece) {
            int length = Math.min(piece, n - i);
            int wAt = (int) weights.offset() + i;
            floats.adam(
                    factors,
                    w,
                    wAt,
                    gradients.read(i, length, scratch),
                    gradients.at(i),
                    first,
                    (int) m.offset() + i,
                    second,
                    (int) v.offset() + i,
                    length);
            round(master, w, wAt, parameter, i, length);
        }
        pool.giveFloats(scratch);
    }

    private static boolean isFast(NdArray parameter, @Nullable NdArray master, NdArray gradient) {
        DType weights = master == null ? parameter.dtype() : master.dtype();
        return weights == DType.FLOAT32 && FloatView.suits(gradient.dtype()) && FloatView.suits(parameter.dtype());
    }

    /** parameter = master, rounded; nothing without a master. */
    private void round(@Nullable NdArray master, float[] w, int wAt, NdArray parameter, int i, int length) {
        if (master == null) {
            return;
        }
        FloatView to = new FloatView(floats, parameter);
        float[] scratch = pool.takeFloats(length);
        float[] target = to.target(scratch);
        System.arraycopy(w, wAt, target, to.at(i), length);
        to.write(i, length, target);
        pool.giveFloats(scratch);
    }
}
