package org.tp4j.cpu.vector;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;
import org.tp4j.cpu.internal.ScalarMath;

/** The constants of {@link ScalarMath} in every lane, and what computing in floats needs besides. */
final class VectorConstants {
    static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
    static final int LANES = F.length();

    static final FloatVector ZERO = FloatVector.zero(F);
    static final FloatVector ONE = splat(1);

    /** Where e^-a and e^(-a²/2) have become subnormal; the power of two that they are multiplied by is 0 there. */
    static final float EXP_LIMIT = 88.03f;

    static final float GELU_LIMIT = 13.27f;

    /** 1.5 · 2^23: adding it rounds to an integer and leaves that integer in the lowest bits. */
    static final FloatVector ROUNDER = splat(12582912);

    static final int ROUNDER_BITS = 0x4b400000;
    static final int ONE_BITS = 0x3f800000;
    static final FloatVector LOG2_E = splat(1.4426950408889634);
    static final FloatVector MINUS_HALF = splat(-0.5);
    static final FloatVector MINUS_TWO = splat(-2);

    /** -ln 2 in two parts, the first short enough that its product with a small integer is exact. */
    static final FloatVector LN2_HIGH = splat(-0.693359375);

    static final FloatVector LN2_LOW = splat(2.12194440e-4);

    static final FloatVector E2 = splat(ScalarMath.E2);
    static final FloatVector E3 = splat(ScalarMath.E3);
    static final FloatVector E4 = splat(ScalarMath.E4);
    static final FloatVector E5 = splat(ScalarMath.E5);
    static final FloatVector E6 = splat(ScalarMath.E6);
    static final FloatVector MILLS_C = splat(ScalarMath.MILLS_C);
    static final FloatVector M0 = splat(ScalarMath.M0);
    static final FloatVector M1 = splat(ScalarMath.M1);
    static final FloatVector M2 = splat(ScalarMath.M2);
    static final FloatVector M3 = splat(ScalarMath.M3);
    static final FloatVector M4 = splat(ScalarMath.M4);
    static final FloatVector M5 = splat(ScalarMath.M5);
    static final FloatVector M6 = splat(ScalarMath.M6);
    static final FloatVector M7 = splat(ScalarMath.M7);
    static final FloatVector M8 = splat(ScalarMath.M8);
    static final FloatVector MINUS_INV_SQRT_2PI = splat(-ScalarMath.INV_SQRT_2PI);
    static final FloatVector C1 = splat(ScalarMath.C1);
    static final FloatVector C2 = splat(ScalarMath.C2);
    static final FloatVector THREE_C2 = splat(3 * ScalarMath.C2);

    /** (tanh(x) - x) / x³ by powers of x², for |x| < 0.55; relative error of tanh 1.1e-9. */
    static final FloatVector T3 = splat(-0.3333331753300493);

    static final FloatVector T5 = splat(0.13332585142839637);
    static final FloatVector T7 = splat(-0.0538521966265733);
    static final FloatVector T9 = splat(0.021071178738867647);
    static final FloatVector T11 = splat(-0.006273486915752995);

    private VectorConstants() {}

    private static FloatVector splat(double value) {
        return FloatVector.broadcast(F, (float) value);
    }
}
