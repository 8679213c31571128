package org.tp4j.cpu.internal.vector;

import java.util.Arrays;
import java.util.Optional;
import jdk.incubator.vector.IntVector;
import org.tp4j.cpu.internal.scalar.AdamStep;
import org.tp4j.cpu.internal.scalar.Sums;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.UnaryFunction;

/**
 * The numbers of the vector loops for {@link Readiness}, and how each is warmed up: the unary functions by their ordinals,
 * the binary ones from BINARY, the activations from ACTIVATION, then the others.
 */
@SuppressWarnings("EnumOrdinal") // numbers of loops, which nothing outside remembers
final class VectorLoops {
    static final int BINARY = UnaryFunction.values().length;
    static final int ACTIVATION = BINARY + BinaryFunction.values().length;
    static final int ADD_SCALED = ACTIVATION + Activation.values().length;
    static final int ADD_PRODUCT = ADD_SCALED + 1;
    static final int ADD_ROWS = ADD_SCALED + 2;
    static final int AFFINE = ADD_SCALED + 3;
    static final int PROJECT = ADD_SCALED + 4;
    static final int ADAM = ADD_SCALED + 5;
    static final int SUM = ADD_SCALED + 6;
    static final int SUM_SQUARES = ADD_SCALED + 7;
    static final int DOT = ADD_SCALED + 8;
    static final int MAX = ADD_SCALED + 9;
    static final int EXP_SUM = ADD_SCALED + 10;
    static final int WIDEN_BFLOAT16 = ADD_SCALED + 11;
    static final int NARROW_BFLOAT16 = ADD_SCALED + 12;
    static final int WIDEN_FLOAT16 = ADD_SCALED + 13;
    static final int NARROW_FLOAT16 = ADD_SCALED + 14;
    static final int PHILOX = ADD_SCALED + 15;
    static final int KEEP = ADD_SCALED + 16;
    static final int COUNT = ADD_SCALED + 17;

    private VectorLoops() {}

    /**
     * Whether vectors pay on this machine: they have at least eight lanes of 32 bits, or it is an ARM. Such machines have
     * fused multiply-add, which is very slow where the processor lacks it.
     */
    static boolean isUseful() {
        return IntVector.SPECIES_PREFERRED.length() >= 8
                || System.getProperty("os.arch", "").equals("aarch64");
    }

    /** What runs each loop over a little scratch; nothing where vectors do not pay. */
    static Optional<Runnable[]> warmUps() {
        if (!isUseful()) {
            return Optional.empty();
        }
        VectorFloatKernels vectors = VectorFloatKernels.atOnce();
        int n = 2 * Sums.BLOCK;
        float[] x = new float[8 * n];
        Arrays.fill(x, 0.3f);
        float[] y = x.clone();
        float[] z = new float[n];
        short[] halves = new short[n];
        AdamStep step = AdamStep.of(1, 1, 1e-3, 0.9, 0.999, 1e-8, 0, true);
        Runnable[] loops = new Runnable[COUNT];
        for (UnaryFunction function : UnaryFunction.values()) {
            loops[function.ordinal()] = () -> vectors.unary(function, x, 0, z, 0, n, 1, 2);
        }
        for (BinaryFunction function : BinaryFunction.values()) {
            loops[BINARY + function.ordinal()] = () -> vectors.binary(function, x, 0, y, 0, z, 0, n);
        }
        for (Activation activation : Activation.values()) {
            loops[ACTIVATION + activation.ordinal()] = () -> vectors.activate(activation, x, 0, z, 0, y, 0, n);
        }
        loops[ADD_SCALED] = () -> vectors.addScaled(0, x, 0, z, 0, n);
        loops[ADD_PRODUCT] = () -> vectors.addProduct(x, 0, y, 0, z, 0, n);
        loops[ADD_ROWS] = () -> vectors.addRows(x, 0, n, 8, z, 0, n);
        loops[AFFINE] = () -> {
            vectors.affine(x, 0, 1, 2, null, 0, null, 0, z, 0, n);
            vectors.affine(x, 0, 1, 2, y, 0, null, 0, z, 0, n);
            vectors.affine(x, 0, 1, 2, y, 0, y, 0, z, 0, n);
        };
        loops[PROJECT] = () -> vectors.project(x, 0, y, 0, 1, 2, 3, z, 0, n);
        loops[ADAM] = () -> vectors.adam(step, z, 0, x, 0, y, 0, y, n, n);
        loops[SUM] = () -> vectors.sum(x, 0, n);
        loops[SUM_SQUARES] = () -> vectors.sumSquares(x, 0, 1, n);
        loops[DOT] = () -> vectors.dot(x, 0, y, 0, n);
        loops[MAX] = () -> vectors.max(x, 0, n);
        loops[EXP_SUM] = () -> vectors.expSum(x, 0, 1, z, 0, n);
        loops[WIDEN_BFLOAT16] = () -> vectors.widen(DType.BFLOAT16, halves, 0, z, 0, n);
        loops[NARROW_BFLOAT16] = () -> vectors.narrow(DType.BFLOAT16, x, 0, halves, 0, n);
        loops[WIDEN_FLOAT16] = () -> vectors.widen(DType.FLOAT16, halves, 0, z, 0, n);
        loops[NARROW_FLOAT16] = () -> vectors.narrow(DType.FLOAT16, x, 0, halves, 0, n);
        int[] words = new int[4 * n];
        loops[PHILOX] = () -> vectors.philox(1, 2, 3, words, 64);
        loops[KEEP] = () -> vectors.keep(words, 0, 1, 1, x, 0, z, 0, n);
        return Optional.of(loops);
    }
}
