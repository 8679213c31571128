package org.tp4j.cpu.internal.reference;

import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.cpu.internal.memory.Odometer;
import org.tp4j.cpu.internal.scalar.Philox;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.StepNumber;

/** Philox numbers one element at a time, as {@link RandomKernels} defines them, for every floating type. */
public final class ReferenceRandom implements RandomKernels {
    private static final double UNIT = 0x1p-24;

    @Override
    public void uniform(NdArray out, long seed, long stream, Region region, double low, double high) {
        ElementAccess to = ElementAccess.of(out);
        Odometer at = new Odometer(region.local().toArray(), region.global().strides());
        long first = firstIndex(region);
        for (long i = 0; i < out.elements(); i++, at.next()) {
            to.set(i, low + (high - low) * uniform(seed, stream, first + at.offset(0)));
        }
    }

    @Override
    public void normal(NdArray out, long seed, long stream, Region region, double mean, double deviation) {
        ElementAccess to = ElementAccess.of(out);
        Odometer at = new Odometer(region.local().toArray(), region.global().strides());
        long first = firstIndex(region);
        for (long i = 0; i < out.elements(); i++, at.next()) {
            to.set(i, mean + deviation * normal(seed, stream, first + at.offset(0)));
        }
    }

    @Override
    public void dropout(NdArray x, double p, long seed, StepNumber stream, Region region, NdArray out) {
        ElementAccess from = ElementAccess.of(x);
        ElementAccess to = ElementAccess.of(out);
        Odometer at = new Odometer(region.local().toArray(), region.global().strides());
        long first = firstIndex(region);
        for (long i = 0; i < out.elements(); i++, at.next()) {
            boolean kept = uniform(seed, stream.asLong(), first + at.offset(0)) >= p;
            to.set(i, kept ? from.get(i) / (1 - p) : 0);
        }
    }

    private static long firstIndex(Region region) {
        long[] strides = region.global().strides();
        long[] offsets = region.offsets();
        long sum = 0;
        for (int d = 0; d < offsets.length; d++) {
            sum += offsets[d] * strides[d];
        }
        return sum;
    }

    private static double uniform(long seed, long stream, long index) {
        return (Philox.lane(seed, stream, index) >>> 8) * UNIT;
    }

    private static double normal(long seed, long stream, long index) {
        long even = index & ~1L;
        double u1 = ((Philox.lane(seed, stream, even) >>> 8) + 1) * UNIT;
        double u2 = (Philox.lane(seed, stream, even + 1) >>> 8) * UNIT;
        double r = Math.sqrt(-2 * Math.log(u1));
        return index == even ? r * Math.cos(2 * Math.PI * u2) : r * Math.sin(2 * Math.PI * u2);
    }
}
