package org.tp4j.tests.parity;

import java.util.LinkedHashMap;
import java.util.Map;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Module;
import org.tp4j.nn.Parameter;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.run.Differences;

/** AdamW. */
final class AdamWStep {
    private final Map<Parameter, NdArray[]> state = new LinkedHashMap<>();
    private final Module model;
    private final double lr;
    private long step;

    AdamWStep(Module model, double lr) {
        this.model = model;
        this.lr = lr;
        for (Parameter p : model.parameters().values()) {
            NdArray local = p.tensor().local();
            state.put(p, Scope.outside(() -> new NdArray[] {
                NdArray.full(local.backend(), local.dtype(), local.shape(), 0),
                NdArray.full(local.backend(), local.dtype(), local.shape(), 0)
            }));
        }
    }

    double gradientNorm() {
        double sum = 0;
        for (Tensor g : Gradients.of(model).values()) {
            for (double v : Differences.values(g)) {
                sum += v * v;
            }
        }
        return Math.sqrt(sum);
    }

    void step() {
        Gradients.finish(model.parameters().values());
        step++;
        state.forEach((p, mv) -> {
            Tensor grad = java.util.Objects.requireNonNull(p.tensor().grad());
            NdArray w = p.tensor().local();
            w.backend().optimizer().adam(w, null, grad.local(), mv[0], mv[1], step, 1, lr, 0.9, 0.95, 1e-8, 0.1, true);
            w.storage().markChanged();
        });
    }
}
