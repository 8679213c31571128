package org.tp4j.tests.cuda;

import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.StepNumber;

/** Random numbers on CUDA against the CPU's: uniform ones and masks bit for bit, normal ones to 2 ulp, for any region. */
class RandomKernelsTest {
    private static final long SEED = 0x1234_5678_9abc_def0L;
    private static final long STREAM = 0x8fed_cba9_8765_4321L;
    private static final double NORMAL_EPSILONS = 2;

    private Scope scope;
    private RandomKernels cpu;
    private RandomKernels cuda;

    @BeforeEach
    void openScope() {
        scope = Scope.open();
        cpu = OnCuda.cpu().random();
        cuda = OnCuda.device().random();
    }

    @AfterEach
    void closeScope() {
        scope.close();
    }

    private void check(DType dtype, Region region, int offset, Random random) {
        Twin out = Twin.result(dtype, offset, region.local());
        cpu.uniform(out.cpu(), SEED, STREAM, region, -0.1, 3);
        cuda.uniform(out.cuda(), SEED, STREAM, region, -0.1, 3);
        out.assertSame("uniform numbers of " + region);
        cpu.normal(out.cpu(), SEED, STREAM, region, 0, 1.7);
        cuda.normal(out.cuda(), SEED, STREAM, region, 0, 1.7);
        out.assertRelativelyClose("normal numbers of " + region, NORMAL_EPSILONS);
        Twin x = Twin.random(dtype, random, offset / 2, region.local());
        Twin dropped = Twin.result(dtype, offset, region.local());
        for (double p : new double[] {0.3, 0}) {
            cpu.dropout(x.cpu(), p, SEED, StepNumber.of(STREAM), region, dropped.cpu());
            cuda.dropout(x.cuda(), p, SEED, StepNumber.of(STREAM), region, dropped.cuda());
            dropped.assertSame("dropout of " + region);
        }
        cpu.dropout(x.cpu(), 0.5, SEED, StepNumber.of(STREAM), region, x.cpu());
        cuda.dropout(x.cuda(), 0.5, SEED, StepNumber.of(STREAM), region, x.cuda());
        x.assertSame("dropout in place of " + region);
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT16"})
    void shouldDrawAnyRegionAsTheCpuDoes(DType dtype) {
        Random random = new Random(1);
        for (int round = 0; round < 60; round++) {
            int dims = random.nextInt(5);
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
            check(dtype, new Region(Shape.of(global), Shape.of(local), offsets), round % 4, random);
        }
        for (int n : new int[] {1, 3, 31, 257, 4099}) {
            check(dtype, Region.whole(Shape.of(n)), 0, random);
        }
    }

    @Test
    void shouldCountElementsBeyondThirtyTwoBits() {
        Shape global = Shape.of(1L << 20, 1L << 20);
        long[] offsets = {(1L << 19) + 3, (1L << 20) - 9};
        check(DType.FLOAT32, new Region(global, Shape.of(2, 7), offsets), 0, new Random(2));
        check(DType.FLOAT32, new Region(global, Shape.of(3, 1), offsets), 0, new Random(2));
    }

    @Test
    void shouldDropWhatIsNoNumber() {
        for (DType dtype : new DType[] {DType.FLOAT32, DType.BFLOAT16, DType.FLOAT64}) {
            Shape shape = Shape.of(ElementwiseKernelsTest.SPECIAL.length * 5);
            Twin x = Twin.of(dtype, 0, shape, ElementwiseKernelsTest.SPECIAL);
            Twin out = Twin.result(dtype, 0, shape);
            cpu.dropout(x.cpu(), 0.5, 1, StepNumber.of(2), Region.whole(shape), out.cpu());
            cuda.dropout(x.cuda(), 0.5, 1, StepNumber.of(2), Region.whole(shape), out.cuda());
            out.assertSame("dropout of infinities and NaN");
        }
    }
}
