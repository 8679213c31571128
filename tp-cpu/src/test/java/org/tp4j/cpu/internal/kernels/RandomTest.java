package org.tp4j.cpu.internal.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tp4j.cpu.internal.kernels.TestArrays.assertRelativelyClose;
import static org.tp4j.cpu.internal.kernels.TestArrays.filled;
import static org.tp4j.cpu.internal.kernels.TestArrays.random;
import static org.tp4j.cpu.internal.kernels.TestArrays.window;

import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.StepNumber;

/** Random numbers of shards against those of the whole, and both against the definition. */
class RandomTest {
    private static final long SEED = 0x1234_5678_9abc_def0L;
    private static final long STREAM = 0x0fed_cba9_8765_4321L;

    private final RandomKernels fast = CpuBackend.get().random();

    static Stream<Arguments> loopsAndTypes() {
        return TestArrays.floatKernels()
                .flatMap(loops -> Stream.of(DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16, DType.FLOAT16)
                        .map(dtype -> Arguments.of(loops, dtype)));
    }

    private final DefinedRandom defined = new DefinedRandom(SEED, STREAM);

    @ParameterizedTest
    @MethodSource("loopsAndTypes")
    void shouldDrawShardsAsSlicesOfTheDefinition(FloatKernels loops, DType dtype) {
        RandomKernels fast = new CpuRandom(loops, TestArrays.poisonedPool());
        Random random = new Random(1);
        for (int round = 0; round < 40; round++) {
            int dims = random.nextInt(4);
            long[] global = new long[dims];
            long[] local = new long[dims];
            long[] offsets = new long[dims];
            for (int d = 0; d < dims; d++) {
                global[d] = 1 + random.nextInt(dims == 1 ? 5000 : 17);
                offsets[d] = random.nextInt(3) == 0 ? 0 : random.nextInt((int) global[d]);
                local[d] = random.nextInt(3) == 0
                        ? global[d] - offsets[d]
                        : random.nextInt((int) (global[d] - offsets[d]) + 1);
            }
            Region region = new Region(Shape.of(global), Shape.of(local), offsets);
            NdArray out = window(dtype, 3, region.local());
            NdArray expected = window(dtype, 3, region.local());
            fast.uniform(out, SEED, STREAM, region, -1, 3);
            defined.uniform(expected, region, -1, 3);
            assertRelativelyClose(out, expected, 0);
            fast.normal(out, SEED, STREAM, region, 1, 2);
            defined.normal(expected, region, 1, 2);
            assertRelativelyClose(out, expected, 0);
            NdArray x = random(dtype, random, 1, region.local());
            fast.dropout(x, 0.3, SEED, StepNumber.of(STREAM), region, out);
            defined.dropout(x, 0.3, region, expected);
            assertRelativelyClose(out, expected, dtype == DType.FLOAT64 ? 0 : 2);
        }
    }

    @Test
    void shouldCountElementsBeyondThirtyTwoBits() {
        Shape global = Shape.of(1L << 20, 1L << 20);
        Region region = new Region(global, Shape.of(2, 7), new long[] {(1L << 19) + 3, (1L << 20) - 9});
        NdArray out = window(DType.FLOAT32, 0, Shape.of(2, 7));
        NdArray expected = window(DType.FLOAT32, 0, Shape.of(2, 7));
        fast.uniform(out, SEED, STREAM, region, 0, 1);
        defined.uniform(expected, region, 0, 1);
        assertRelativelyClose(out, expected, 0);
    }

    @Test
    void shouldDrawUniformAndNormalNumbers() {
        int n = 200_000;
        NdArray out = window(DType.FLOAT32, 0, Shape.of(n));
        float[] values = ((HostStorage) out.storage()).floats();
        fast.uniform(out, 1, 2, Region.whole(out.shape()), 0, 1);
        double mean = 0;
        for (int i = 0; i < n; i++) {
            assertThat(values[i]).isBetween(0f, 0x1.fffffep-1f);
            mean += values[i] / n;
        }
        assertThat(mean).isBetween(0.497, 0.503);
        fast.normal(out, 1, 2, Region.whole(out.shape()), 0, 1);
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < n; i++) {
            sum += values[i];
            squares += (double) values[i] * values[i];
        }
        assertThat(sum / n).isBetween(-0.01, 0.01);
        assertThat(squares / n).isBetween(0.98, 1.02);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.1, 0.5, 0.9})
    void shouldDropTheShareAskedFor(double p) {
        int n = 100_000;
        NdArray x = filled(DType.FLOAT32, Shape.of(n), 1);
        fast.dropout(x, p, 5, StepNumber.of(6), Region.whole(x.shape()), x);
        float[] values = ((HostStorage) x.storage()).floats();
        int dropped = 0;
        for (int i = 0; i < n; i++) {
            dropped += values[i] == 0 ? 1 : 0;
            assertThat(values[i]).isIn(0f, (float) (1 / (1 - p)));
        }
        assertThat(dropped / (double) n).isBetween(p - 0.01, p + 0.01);
    }
}
