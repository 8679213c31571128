package org.tp4j.cpu.internal.vector;

import static jdk.incubator.vector.VectorOperators.GE;
import static jdk.incubator.vector.VectorOperators.GT;
import static jdk.incubator.vector.VectorOperators.I2S;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;
import static jdk.incubator.vector.VectorOperators.LT;
import static jdk.incubator.vector.VectorOperators.S2I;
import static org.tp4j.cpu.internal.vector.VectorConstants.F;
import static org.tp4j.cpu.internal.vector.VectorConstants.LANES;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorShape;
import jdk.incubator.vector.VectorSpecies;

/** Conversions of 16-bit floats over a multiple of {@link VectorConstants#LANES} elements, bit for bit the scalar ones. */
final class VectorHalves {
    private static final VectorSpecies<Integer> I = VectorSpecies.of(int.class, F.vectorShape());
    private static final VectorSpecies<Short> S =
            VectorSpecies.of(short.class, VectorShape.forBitSize(F.vectorBitSize() / 2));

    private VectorHalves() {}

    static void widenBfloat16(short[] from, int fromAt, float[] to, int toAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            IntVector bits =
                    (IntVector) ShortVector.fromArray(S, from, fromAt + i).convertShape(S2I, I, 0);
            bits.lanewise(LSHL, 16).reinterpretAsFloats().intoArray(to, toAt + i);
        }
    }

    static void narrowBfloat16(float[] from, int fromAt, short[] to, int toAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            IntVector bits = FloatVector.fromArray(F, from, fromAt + i).reinterpretAsInts();
            IntVector high = bits.lanewise(LSHR, 16);
            IntVector rounded = bits.add(high.and(1)).add(0x7fff).lanewise(LSHR, 16);
            IntVector half = rounded.blend(high.or(0x40), bits.and(0x7fffffff).compare(GT, 0x7f800000));
            ((ShortVector) half.convertShape(I2S, S, 0)).intoArray(to, toAt + i);
        }
    }

    /** Exponent and mantissa, moved to a float's places, are the value times 2^-112. */
    static void widenFloat16(short[] from, int fromAt, float[] to, int toAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            IntVector bits =
                    (IntVector) ShortVector.fromArray(S, from, fromAt + i).convertShape(S2I, I, 0);
            IntVector magnitude = bits.and(0x7fff).lanewise(LSHL, 13);
            IntVector finite = magnitude.reinterpretAsFloats().mul(0x1p112f).reinterpretAsInts();
            IntVector value = finite.blend(magnitude.or(0x7f800000), magnitude.compare(GE, 0x0f800000));
            value.or(bits.and(0x8000).lanewise(LSHL, 16)).reinterpretAsFloats().intoArray(to, toAt + i);
        }
    }

    static void narrowFloat16(float[] from, int fromAt, short[] to, int toAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            IntVector bits = FloatVector.fromArray(F, from, fromAt + i).reinterpretAsInts();
            IntVector magnitude = bits.and(0x7fffffff);
            IntVector odd = magnitude.lanewise(LSHR, 13).and(1);
            IntVector normal = magnitude.add(odd).add(0xfff).lanewise(LSHR, 13).sub(112 << 10);
            // adding 1/2 leaves units of 2^-24, rounded, in the lowest bits
            IntVector tiny = magnitude
                    .reinterpretAsFloats()
                    .add(0.5f)
                    .reinterpretAsInts()
                    .sub(0x3f000000);
            IntVector nan = magnitude.lanewise(LSHR, 13).and(0x3ff).or(0x7e00);
            IntVector half = normal.blend(tiny, magnitude.compare(LT, 0x38800000));
            half = half.blend(0x7c00, magnitude.compare(GE, 0x477ff000));
            half = half.blend(nan, magnitude.compare(GT, 0x7f800000));
            half = half.or(bits.lanewise(LSHR, 16).and(0x8000));
            ((ShortVector) half.convertShape(I2S, S, 0)).intoArray(to, toAt + i);
        }
    }
}
