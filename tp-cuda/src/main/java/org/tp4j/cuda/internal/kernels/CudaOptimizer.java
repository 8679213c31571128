package org.tp4j.cuda.internal.kernels;

import java.util.List;
import org.tp4j.cuda.internal.arguments.OptimizerArguments;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.launch.Arguments;
import org.tp4j.cuda.internal.launch.Grid;
import org.tp4j.cuda.internal.launch.KernelFamily;
import org.tp4j.cuda.internal.launch.Kernels;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.ParameterUpdate;
import org.tp4j.tensor.TpException;

/**
 * Optimizer steps on many parameters per launch. The table of parameters is the launch's argument, so there is nothing to copy
 * to the device beforehand and nothing to keep; parameters that do not fit or have another type take another launch. Blocks
 * get chunks of equal size, however large the parameters are.
 */
public final class CudaOptimizer implements OptimizerKernels {
    private static final String SOURCE = "optimizer";
    private static final int MAX_SLOTS = OptimizerArguments.MAX_SLOTS;
    private static final OptimizerArguments.Step STEP = OptimizerArguments.STEP;
    private static final OptimizerArguments.Slot SLOT = OptimizerArguments.SLOT;
    private static final long BLOCKS_A_MULTIPROCESSOR = 16;
    private static final int SMALLEST_CHUNK = 4 * Grid.THREADS; // a pack of four per thread

    private final CudaDevice device;
    private final KernelFamily sgd;
    private final KernelFamily adam;

    public CudaOptimizer(Kernels kernels) {
        this.device = kernels.device();
        this.sgd = new KernelFamily(kernels, SOURCE, "sgd");
        this.adam = new KernelFamily(kernels, SOURCE, "adam");
    }

    /** The settings shared by all parameters; beta1 is SGD's momentum, {@code flag} decoupled or nesterov. */
    private record Settings(double gradScale, double beta1, double beta2, double eps, boolean flag) {}

    @Override
    public void sgd(List<ParameterUpdate> updates, double gradScale, double momentum, boolean nesterov) {
        launchAll(sgd, updates, new Settings(gradScale, momentum, 0, 0, nesterov));
    }

    @Override
    public void adam(
            List<ParameterUpdate> updates,
            double gradScale,
            double beta1,
            double beta2,
            double eps,
            boolean decoupled) {
        launchAll(adam, updates, new Settings(gradScale, beta1, beta2, eps, decoupled));
    }

    private void launchAll(KernelFamily family, List<ParameterUpdate> updates, Settings settings) {
        boolean[] done = new boolean[updates.size()];
        ParameterUpdate[] table = new ParameterUpdate[Math.min(MAX_SLOTS, updates.size())];
        for (int i = 0; i < done.length; i++) {
            if (done[i]) {
                continue;
            }
            DType type = updates.get(i).parameter().dtype();
            DType gradientType = updates.get(i).gradient().dtype();
            int filled = 0;
            for (int j = i; j < done.length && filled < table.length; j++) {
                ParameterUpdate next = updates.get(j);
                if (!done[j]
                        && next.parameter().dtype() == type
                        && next.gradient().dtype() == gradientType) {
                    done[j] = true;
                    if (next.parameter().elements() > 0) {
                        table[filled++] = next;
                    }
                }
            }
            if (filled > 0) {
                launch(family, type, gradientType, table, filled, settings);
            }
        }
    }

    private void launch(
            KernelFamily family,
            DType type,
            DType gradientType,
            ParameterUpdate[] table,
            int filled,
            Settings settings) {
        if (!type.isFloating() || !gradientType.isFloating()) {
            throw new TpException("an optimizer step on " + type + " parameters with " + gradientType
                    + " gradients was asked for; HINT: parameters and gradients are floats");
        }
        long elements = 0;
        for (int i = 0; i < filled; i++) {
            elements += table[i].parameter().elements();
        }
        long chunk = chunkFor(elements);
        Arguments arguments = Arguments.of(STEP)
                .set(STEP.gradScale, settings.gradScale())
                .set(STEP.beta1, settings.beta1())
                .set(STEP.beta2, settings.beta2())
                .set(STEP.eps, settings.eps())
                .set(STEP.chunk, chunk)
                .set(STEP.gradientType, gradientType)
                .set(STEP.decoupled, settings.flag())
                .set(STEP.slots, filled);
        long blocks = 0;
        for (int i = 0; i < filled; i++) {
            ParameterUpdate next = table[i];
            List<NdArray> state = next.state();
            long n = next.parameter().elements();
            arguments
                    .element(STEP.slot, i)
                    .set(SLOT.parameter, next.parameter())
                    .set(SLOT.master, next.master())
                    .set(SLOT.gradient, next.gradient())
                    .set(SLOT.first, state.isEmpty() ? null : state.get(0))
                    .set(SLOT.second, state.size() < 2 ? null : state.get(1))
                    .set(SLOT.n, n)
                    .set(SLOT.count, next.count())
                    .set(SLOT.rate, next.rate())
                    .set(SLOT.weightDecay, next.weightDecay())
                    .set(SLOT.firstChunk, blocks);
            blocks += (n + chunk - 1) / chunk;
        }
        family.of(type).launch(blocks, Grid.THREADS, arguments);
    }

    /** Elements per block: few enough that all multiprocessors are busy, many enough that a block's start-up is negligible. */
    private long chunkFor(long elements) {
        long blocks = device.multiprocessors() * BLOCKS_A_MULTIPROCESSOR;
        long share = (elements + blocks - 1) / blocks;
        return (share + SMALLEST_CHUNK - 1) / SMALLEST_CHUNK * SMALLEST_CHUNK;
    }
}
