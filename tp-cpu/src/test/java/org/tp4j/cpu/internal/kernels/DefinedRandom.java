package org.tp4j.cpu.internal.kernels;

import org.apache.commons.rng.core.source32.Philox4x32;
import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.cpu.internal.memory.Odometer;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.Region;

/** Random numbers one element at a time, as {@link RandomKernels} defines them, from the words of another Philox. */
final class DefinedRandom {
    private static final double UNIT = 0x1p-24;

    private final long seed;
    private final long stream;

    DefinedRandom(long seed, long stream) {
        this.seed = seed;
        this.stream = stream;
    }

    /** The number of the element with this index in the global tensor. */
    private interface Element {
        double at(long index, double x);
    }

    void uniform(NdArray out, Region region, double low, double high) {
        fill(out, out, region, (index, x) -> low + (high - low) * uniform(index));
    }

    void normal(NdArray out, Region region, double mean, double deviation) {
        fill(out, out, region, (index, x) -> mean + deviation * normal(index));
    }

    void dropout(NdArray x, double p, Region region, NdArray out) {
        fill(x, out, region, (index, value) -> uniform(index) >= p ? value / (1 - p) : 0);
    }

    private static void fill(NdArray x, NdArray out, Region region, Element element) {
        ElementAccess from = ElementAccess.of(x);
        ElementAccess to = ElementAccess.of(out);
        long[] strides = region.global().strides();
        long first = 0;
        for (int d = 0; d < strides.length; d++) {
            first += region.offsets()[d] * strides[d];
        }
        Odometer at = new Odometer(region.local().toArray(), strides);
        for (long i = 0; i < out.elements(); i++, at.next()) {
            to.set(i, element.at(first + at.offset(0), from.get(i)));
        }
    }

    /** Lane (index mod 4) of counter (index / 4, stream). The generator counts up before it draws. */
    private int word(long index) {
        long counter = (index >>> 2) - 1;
        long high = counter == -1 ? stream - 1 : stream;
        Philox4x32 generator = new Philox4x32(new int[] {
            (int) seed, (int) (seed >>> 32), (int) counter, (int) (counter >>> 32), (int) high, (int) (high >>> 32)
        });
        for (int lane = 0; lane < (index & 3); lane++) {
            generator.nextInt();
        }
        return generator.nextInt();
    }

    private double uniform(long index) {
        return (word(index) >>> 8) * UNIT;
    }

    /** Box and Muller's two normals of two uniforms. */
    private double normal(long index) {
        long even = index & ~1L;
        double r = Math.sqrt(-2 * Math.log(((word(even) >>> 8) + 1) * UNIT));
        double angle = 2 * Math.PI * (word(even + 1) >>> 8) * UNIT;
        return index == even ? r * Math.cos(angle) : r * Math.sin(angle);
    }
}
