package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.cuda.stream.StreamTrace;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.ParameterUpdate;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.StepNumber;

/** Several optimizer steps in a row on CUDA against the CPU, on one parameter and on many at once. */
class OptimizerKernelsTest {
    /** Three steps' rounding. */
    private static final double EPSILONS = 32;

    private static final int[] SIZES = {0, 1, 3, 64, 257, 4099};

    private Scope scope;
    private OptimizerKernels cpu;
    private OptimizerKernels cuda;

    @BeforeEach
    void openScope() {
        scope = Scope.open();
        cpu = OnCuda.cpu().optimizer();
        cuda = OnCuda.device().optimizer();
    }

    @AfterEach
    void closeScope() {
        scope.close();
    }

    private static double tolerance(DType dtype) {
        return dtype.isHalf() ? 2 : EPSILONS;
    }

    /** A parameter with all that belongs to it, the state being zeros. */
    private record Weights(Twin parameter, @Nullable Twin master, Twin gradient, List<Twin> state) {
        static Weights of(
                DType dtype, DType gradient, boolean useMaster, int states, int n, int offset, Random random) {
            DType wide = dtype == DType.FLOAT64 ? DType.FLOAT64 : DType.FLOAT32;
            Shape shape = Shape.of(n);
            List<Twin> state = new ArrayList<>();
            for (int i = 0; i < states; i++) {
                state.add(Twin.of(wide, offset, shape, 0));
            }
            return new Weights(
                    Twin.random(dtype, random, offset, shape),
                    useMaster ? Twin.random(wide, random, 2 * offset, shape) : null,
                    Twin.random(gradient, random, offset, shape),
                    state);
        }

        ParameterUpdate onCpu(long step, double rate, double decay) {
            return new ParameterUpdate(
                    parameter.cpu(),
                    master == null ? null : master.cpu(),
                    gradient.cpu(),
                    state.stream().map(twin -> twin.cpu()).toList(),
                    StepNumber.of(step),
                    StepNumber.ofDouble(rate),
                    decay);
        }

        ParameterUpdate onCuda(long step, double rate, double decay) {
            return new ParameterUpdate(
                    parameter.cuda(),
                    master == null ? null : master.cuda(),
                    gradient.cuda(),
                    state.stream().map(twin -> twin.cuda()).toList(),
                    StepNumber.of(step),
                    StepNumber.ofDouble(rate),
                    decay);
        }

        void assertClose(String what) {
            parameter.assertClose(what, tolerance(parameter.dtype()));
            if (master != null) {
                master.assertClose("master of " + what, EPSILONS);
            }
            for (Twin twin : state) {
                twin.assertClose("state of " + what, EPSILONS);
            }
            gradient.assertSame("gradient of " + what);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT16"})
    void shouldStepSgd(DType dtype) {
        Random random = new Random(1);
        for (int options = 0; options < 32; options++) {
            int n = SIZES[options % SIZES.length];
            boolean useMaster = dtype.isHalf() && (options & 1) != 0;
            boolean buffered = (options & 2) != 0;
            double decay = (options & 4) != 0 ? 0.01 : 0;
            boolean nesterov = (options & 8) != 0;
            double scale = (options & 16) != 0 ? 0.5 : 1;
            Weights w = Weights.of(dtype, dtype, useMaster, buffered ? 1 : 0, n, options % 3, random);
            if (buffered) { // the first step must not read it
                NdArray buffer = w.state.get(0).cuda();
                buffer.backend().elementwise().fill(buffer, Double.NaN);
            }
            for (int step = 1; step <= 3; step++) {
                ParameterUpdate onCpu = w.onCpu(step, 0.1, decay);
                ParameterUpdate onCuda = w.onCuda(step, 0.1, decay);
                cpu.sgd(List.of(onCpu), scale, 0.9, nesterov);
                cuda.sgd(List.of(onCuda), scale, 0.9, nesterov);
            }
            w.assertClose("SGD, options " + options);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT16"})
    void shouldStepAdam(DType dtype) {
        Random random = new Random(2);
        for (int options = 0; options < 24; options++) {
            int n = SIZES[options % SIZES.length];
            boolean decoupled = (options & 1) != 0;
            boolean useMaster = dtype.isHalf() && (options & 2) != 0;
            DType gradient = dtype.isHalf() && (options & 4) != 0 ? DType.FLOAT32 : dtype;
            Weights w = Weights.of(dtype, gradient, useMaster, 2, n, options % 3, random);
            for (int step = 1; step <= 3; step++) {
                cpu.adam(List.of(w.onCpu(step, 1e-2, 0.1)), 0.5, 0.9, 0.99, 1e-8, decoupled);
                cuda.adam(List.of(w.onCuda(step, 1e-2, 0.1)), 0.5, 0.9, 0.99, 1e-8, decoupled);
            }
            w.assertClose("Adam, options " + options);
        }
    }

    /** More parameters than a launch takes, of all types in turn, with rates, decays and step counts of their own. */
    @Test
    void shouldStepManyParametersAtOnce() {
        Random random = new Random(3);
        List<Weights> weights = new ArrayList<>();
        for (int i = 0; i < 130; i++) {
            DType dtype = i % 3 == 0 ? DType.BFLOAT16 : i % 7 == 0 ? DType.FLOAT64 : DType.FLOAT32;
            int n = i == 50 ? 20_000 : SIZES[i % SIZES.length] % 300;
            weights.add(Weights.of(dtype, dtype, i % 2 == 0 && dtype.isHalf(), 2, n, i % 2, random));
        }
        for (int step = 1; step <= 2; step++) {
            List<ParameterUpdate> onCpu = new ArrayList<>();
            List<ParameterUpdate> onCuda = new ArrayList<>();
            for (int i = 0; i < weights.size(); i++) {
                onCpu.add(weights.get(i).onCpu(step + i % 4, 1e-2 * (1 + i % 5), i % 2));
                onCuda.add(weights.get(i).onCuda(step + i % 4, 1e-2 * (1 + i % 5), i % 2));
            }
            cpu.adam(onCpu, 1, 0.9, 0.99, 1e-8, true);
            cuda.adam(onCuda, 1, 0.9, 0.99, 1e-8, true);
            cpu.sgd(onCpu, 1, 0.9, false);
            cuda.sgd(onCuda, 1, 0.9, false);
        }
        for (int i = 0; i < weights.size(); i++) {
            weights.get(i).assertClose("parameter " + i);
        }
    }

    @Test
    void shouldChangeManyParametersInOneLaunch() {
        Random random = new Random(4);
        List<ParameterUpdate> updates = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            updates.add(Weights.of(DType.FLOAT32, DType.FLOAT32, false, 2, 100 + i, 0, random)
                    .onCuda(1, 1e-2, 0));
        }
        cuda.adam(updates, 1, 0.9, 0.99, 1e-8, true); // compiles
        StreamTrace trace = new StreamTrace();
        OnCuda.device().setTrace(trace);
        try {
            cuda.adam(updates, 1, 0.9, 0.99, 1e-8, true);
        } finally {
            OnCuda.device().setTrace(null);
        }
        assertThat(trace.entries()).extracting(StreamTrace.Entry::what).containsExactly("adam");
    }
}
