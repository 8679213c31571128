package org.tp4j.cpu.internal.vector;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;
import org.tp4j.cpu.internal.scalar.ScalarMath;

/** The constants of {@link ScalarMath} in every lane. */
final class VectorConstants {
    static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
    static final int LANES = F.length();

    static final FloatVector ZERO = FloatVector.zero(F);
    static final FloatVector ONE = splat(1);
    static final FloatVector MINUS_HALF = splat(-0.5f);
    static final FloatVector MINUS_TWO = splat(-2);
    static final FloatVector ROUNDER = splat(ScalarMath.ROUNDER);
    static final FloatVector LOG2_E = splat(ScalarMath.LOG2_E);
    static final FloatVector LN2_HIGH = splat(ScalarMath.LN2_HIGH);
    static final FloatVector LN2_LOW = splat(ScalarMath.LN2_LOW);
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
    static final FloatVector MINUS_INV_SQRT_2PI = splat(ScalarMath.MINUS_INV_SQRT_2PI);
    static final FloatVector C1 = splat(ScalarMath.C1);
    static final FloatVector C2 = splat(ScalarMath.C2);
    static final FloatVector THREE_C2 = splat(ScalarMath.THREE_C2);
    static final FloatVector T3 = splat(ScalarMath.T3);
    static final FloatVector T5 = splat(ScalarMath.T5);
    static final FloatVector T7 = splat(ScalarMath.T7);
    static final FloatVector T9 = splat(ScalarMath.T9);
    static final FloatVector T11 = splat(ScalarMath.T11);

    private VectorConstants() {}

    private static FloatVector splat(float value) {
        return FloatVector.broadcast(F, value);
    }
}
