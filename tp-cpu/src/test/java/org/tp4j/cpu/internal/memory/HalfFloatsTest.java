package org.tp4j.cpu.internal.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.cpu.internal.kernels.TestArrays;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.internal.math.HalfFloats;

/** 16-bit floats: every pattern there and back, roundings at every boundary, vector loops bit for bit like scalar ones. */
class HalfFloatsTest {
    private static final int PATTERNS = 1 << 16;

    static Stream<FloatKernels> loops() {
        return TestArrays.floatKernels();
    }

    /** The value of a binary16 by its definition. */
    private static double valueOfFloat16(int bits) {
        int exponent = bits >> 10 & 31;
        double mantissa = bits & 1023;
        double magnitude = exponent == 31
                ? mantissa == 0 ? Double.POSITIVE_INFINITY : Double.NaN
                : exponent == 0 ? mantissa * 0x1p-24 : Math.scalb(1 + mantissa / 1024, exponent - 15);
        return (bits & 0x8000) != 0 ? -magnitude : magnitude;
    }

    private static boolean same(float a, double b) {
        return Double.isNaN(b) ? Float.isNaN(a) : Double.compare(a, b) == 0;
    }

    @Test
    void shouldGiveEveryPatternItsValueAndBack() {
        for (int bits = 0; bits < PATTERNS; bits++) {
            float half = HalfFloats.float16ToFloat((short) bits);
            assertThat(same(half, valueOfFloat16(bits))).as("%x", bits).isTrue();
            float brain = HalfFloats.bfloat16ToFloat((short) bits);
            assertThat(Float.floatToRawIntBits(brain)).isEqualTo(bits << 16);
            short halfBack = HalfFloats.floatToFloat16(half);
            short brainBack = HalfFloats.floatToBfloat16(brain);
            if (Float.isNaN(half)) {
                assertThat(HalfFloats.float16ToFloat(halfBack)).isNaN();
            } else {
                assertThat(halfBack).isEqualTo((short) bits);
            }
            if (Float.isNaN(brain)) {
                assertThat(HalfFloats.bfloat16ToFloat(brainBack)).isNaN();
            } else {
                assertThat(brainBack).isEqualTo((short) bits);
            }
        }
    }

    @Test
    void shouldRoundToNearestEvenBetweenAnyTwoNeighbours() {
        for (int bits = 0; bits < 0x7c00; bits++) {
            double low = valueOfFloat16(bits);
            // above the largest stands what would be the next if exponents went on
            double high = bits == 0x7bff ? 65536 : valueOfFloat16(bits + 1);
            checkRounding(low, high, bits, false);
        }
        for (int bits = 0; bits < 0x7f80; bits++) {
            double low = HalfFloats.bfloat16ToFloat((short) bits);
            double high = bits == 0x7f7f ? 0x1p128 : HalfFloats.bfloat16ToFloat((short) (bits + 1));
            checkRounding(low, high, bits, true);
        }
    }

    private static void checkRounding(double low, double high, int bits, boolean brain) {
        float middle = (float) ((low + high) / 2);
        assertThat(new BigDecimal(middle)).isEqualByComparingTo(new BigDecimal((low + high) / 2));
        int even = (bits & 1) == 0 ? bits : bits + 1;
        assertThat(narrow(middle, brain)).isEqualTo((short) even);
        assertThat(narrow(-middle, brain)).isEqualTo((short) (even | 0x8000));
        assertThat(narrow(Math.nextDown(middle), brain)).isEqualTo((short) bits);
        assertThat(narrow(Math.nextUp(middle), brain)).isEqualTo((short) (bits + 1));
    }

    private static short narrow(float value, boolean brain) {
        return brain ? HalfFloats.floatToBfloat16(value) : HalfFloats.floatToFloat16(value);
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldConvertArraysBitForBit(FloatKernels loops) {
        short[] all = new short[PATTERNS + 3];
        for (int i = 0; i < PATTERNS; i++) {
            all[i + 3] = (short) i;
        }
        float[] wide = new float[PATTERNS + 1];
        loops.widen(DType.FLOAT16, all, 3, wide, 1, PATTERNS);
        for (int i = 0; i < PATTERNS; i++) {
            assertThat(same(wide[i + 1], HalfFloats.float16ToFloat((short) i)))
                    .as("%x", i)
                    .isTrue();
        }
        loops.widen(DType.BFLOAT16, all, 3, wide, 1, PATTERNS);
        for (int i = 0; i < PATTERNS; i++) {
            assertThat(Float.floatToRawIntBits(wide[i + 1])).isEqualTo(i << 16);
        }
        Random random = new Random(1);
        float[] values = new float[1 << 20];
        for (int i = 0; i < values.length; i++) {
            // any bits, or bits around binary16's range
            int bits = random.nextInt();
            values[i] = Float.intBitsToFloat(i % 2 == 0 ? bits : bits & 0x8fffffff | 0x30000000);
        }
        short[] narrow = new short[values.length];
        loops.narrow(DType.FLOAT16, values, 0, narrow, 0, values.length);
        for (int i = 0; i < values.length; i++) {
            if (narrow[i] != HalfFloats.floatToFloat16(values[i])) {
                assertThat(narrow[i]).as("%s", values[i]).isEqualTo(HalfFloats.floatToFloat16(values[i]));
            }
        }
        loops.narrow(DType.BFLOAT16, values, 0, narrow, 0, values.length);
        for (int i = 0; i < values.length; i++) {
            if (narrow[i] != HalfFloats.floatToBfloat16(values[i])) {
                assertThat(narrow[i]).as("%s", values[i]).isEqualTo(HalfFloats.floatToBfloat16(values[i]));
            }
        }
    }
}
