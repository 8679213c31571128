package org.tp4j.cpu.internal.kernels;

import static org.tp4j.cpu.internal.kernels.TestArrays.assertClose;
import static org.tp4j.cpu.internal.kernels.TestArrays.copyOf;
import static org.tp4j.cpu.internal.kernels.TestArrays.random;

import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.cpu.internal.reference.ReferenceOptimizer;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.ParameterUpdate;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.StepNumber;

/** Several optimizer steps in a row against the reference. */
class OptimizerTest {
    /** Three steps' rounding. */
    private static final double EPSILONS = 32;

    private static final int[] SIZES = {0, 1, 64, 100, 2500};

    private final ReferenceOptimizer reference = new ReferenceOptimizer();

    static Stream<FloatKernels> loops() {
        return TestArrays.floatKernels();
    }

    private static double tolerance(DType dtype) {
        return dtype.isHalf() ? 1 : dtype == DType.FLOAT64 ? 0 : EPSILONS;
    }

    private static List<ParameterUpdate> sgd(
            NdArray w, @Nullable NdArray master, NdArray g, @Nullable NdArray v, long step, double decay) {
        return List.of(new ParameterUpdate(
                w,
                master,
                g,
                v == null ? List.of() : List.of(v),
                StepNumber.of(step),
                StepNumber.ofDouble(0.1),
                decay));
    }

    private static List<ParameterUpdate> adam(
            NdArray w, @Nullable NdArray master, NdArray g, NdArray m, NdArray v, long step) {
        return List.of(
                new ParameterUpdate(w, master, g, List.of(m, v), StepNumber.of(step), StepNumber.ofDouble(1e-2), 0.1));
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldStepSgdLikeTheReference(FloatKernels loops) {
        OptimizerKernels fast = new CpuOptimizer(loops, TestArrays.poisonedPool());
        for (DType dtype : new DType[] {DType.FLOAT32, DType.BFLOAT16, DType.FLOAT64}) {
            for (int n : SIZES) {
                for (int options = 0; options < 16; options++) {
                    Random random = new Random(options);
                    boolean useMaster = dtype == DType.BFLOAT16;
                    DType wide = dtype == DType.FLOAT64 ? DType.FLOAT64 : DType.FLOAT32;
                    NdArray w = random(dtype, random, 1, Shape.of(n));
                    NdArray g = random(dtype, random, 2, Shape.of(n));
                    NdArray master = useMaster ? random(wide, random, 3, Shape.of(n)) : null;
                    NdArray v = (options & 1) != 0 ? random(wide, random, 0, Shape.of(n)) : null;
                    NdArray[] other = {copyOf(w), master == null ? null : copyOf(master), v == null ? null : copyOf(v)};
                    double decay = (options & 2) != 0 ? 0.01 : 0;
                    boolean nesterov = (options & 4) != 0;
                    double scale = (options & 8) != 0 ? 0.5 : 1;
                    for (int step = 0; step < 3; step++) {
                        fast.sgd(sgd(w, master, g, v, step + 1, decay), scale, 0.9, nesterov);
                        reference.sgd(sgd(other[0], other[1], g, other[2], step + 1, decay), scale, 0.9, nesterov);
                    }
                    assertClose(w, other[0], tolerance(dtype));
                    if (master != null) {
                        assertClose(master, other[1], EPSILONS);
                    }
                    if (v != null) {
                        assertClose(v, other[2], tolerance(wide));
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldStepAdamLikeTheReference(FloatKernels loops) {
        OptimizerKernels fast = new CpuOptimizer(loops, TestArrays.poisonedPool());
        for (DType dtype : new DType[] {DType.FLOAT32, DType.BFLOAT16, DType.FLOAT64}) {
            for (int n : SIZES) {
                for (int options = 0; options < 4; options++) {
                    Random random = new Random(options);
                    boolean decoupled = (options & 1) != 0;
                    boolean useMaster = dtype == DType.BFLOAT16 && (options & 2) != 0;
                    DType wide = dtype == DType.FLOAT64 ? DType.FLOAT64 : DType.FLOAT32;
                    NdArray w = random(dtype, random, 1, Shape.of(n));
                    NdArray g = random(dtype, random, 2, Shape.of(n));
                    NdArray master = useMaster ? random(wide, random, 3, Shape.of(n)) : null;
                    NdArray m = TestArrays.filled(wide, Shape.of(n), 0);
                    NdArray v = TestArrays.filled(wide, Shape.of(n), 0);
                    NdArray[] other = {copyOf(w), master == null ? null : copyOf(master), copyOf(m), copyOf(v)};
                    for (int step = 1; step <= 3; step++) {
                        fast.adam(adam(w, master, g, m, v, step), 0.5, 0.9, 0.99, 1e-8, decoupled);
                        reference.adam(
                                adam(other[0], other[1], g, other[2], other[3], step), 0.5, 0.9, 0.99, 1e-8, decoupled);
                    }
                    assertClose(w, other[0], tolerance(dtype));
                    assertClose(m, other[2], tolerance(wide));
                    assertClose(v, other[3], tolerance(wide));
                    if (master != null) {
                        assertClose(master, other[1], EPSILONS);
                    }
                }
            }
        }
    }
}
