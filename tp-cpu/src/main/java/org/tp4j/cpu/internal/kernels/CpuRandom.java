package org.tp4j.cpu.internal.kernels;

import org.tp4j.cpu.internal.memory.ArrayPool;
import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.cpu.internal.memory.FloatView;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.memory.Odometer;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.StepNumber;

/** Philox numbers, a contiguous stretch of the global tensor at a time. */
public final class CpuRandom implements RandomKernels {
    /** Numbers drawn at a time; a multiple of four, plus room for a block that begins or ends in the middle. */
    private static final int PIECE = 1024;

    private static final double UNIT = 0x1p-24;

    private final FloatKernels loops;
    private final ArrayPool pool;
    private final ThreadLocal<int[]> words = ThreadLocal.withInitial(() -> new int[PIECE + 8]);

    public CpuRandom(FloatKernels loops, ArrayPool pool) {
        this.loops = loops;
        this.pool = pool;
    }

    /** Uses the numbers of n elements, from {@code at} in the array; their words begin at words[from]. */
    private interface Sink {
        void accept(int at, int[] words, int from, int n);
    }

    @Override
    public void uniform(NdArray out, long seed, long stream, Region region, double low, double high) {
        ElementAccess to = ElementAccess.of(out);
        float[] floats = floatsOrEmpty(out);
        int base = (int) out.offset();
        double width = high - low;
        boolean direct = out.dtype() == DType.FLOAT32;
        draw(seed, stream, region, (at, bits, from, n) -> {
            if (direct) {
                for (int i = 0; i < n; i++) {
                    floats[base + at + i] = (float) (low + width * ((bits[from + i] >>> 8) * UNIT));
                }
            } else {
                for (int i = 0; i < n; i++) {
                    to.set(at + i, low + width * ((bits[from + i] >>> 8) * UNIT));
                }
            }
        });
    }

    @Override
    public void normal(NdArray out, long seed, long stream, Region region, double mean, double deviation) {
        ElementAccess to = ElementAccess.of(out);
        draw(seed, stream, region, (at, bits, from, n) -> {
            // blocks of four words begin at multiples of four in bits, so that pairs do at multiples of two
            for (int i = 0; i < n; ) {
                int even = from + i & ~1;
                double r = Math.sqrt(-2 * Math.log(((bits[even] >>> 8) + 1) * UNIT));
                double angle = 2 * Math.PI * ((bits[even + 1] >>> 8) * UNIT);
                if (from + i == even) {
                    to.set(at + i++, mean + deviation * (r * Math.cos(angle)));
                }
                if (i < n) {
                    to.set(at + i++, mean + deviation * (r * Math.sin(angle)));
                }
            }
        });
    }

    @Override
    public void dropout(NdArray x, double p, long seed, StepNumber stream, Region region, NdArray out) {
        // u 2^-24 >= p for an integer u means u >= p 2^24 rounded up; the product with a power of two is exact
        int threshold = (int) Math.ceil(p * 0x1p24);
        if (FloatView.suits(x.dtype())) {
            FloatView source = new FloatView(loops, x);
            FloatView to = new FloatView(loops, out);
            float scale = (float) (1 / (1 - p));
            float[] scratch = pool.takeFloats(PIECE);
            draw(seed, stream.asLong(), region, (at, bits, from, n) -> {
                float[] target = to.target(scratch);
                float[] piece = source.read(at, n, scratch);
                loops.keep(bits, from, threshold, scale, piece, source.at(at), target, to.at(at), n);
                to.write(at, n, target);
            });
            pool.giveFloats(scratch);
        } else {
            ElementAccess source = ElementAccess.of(x);
            ElementAccess target = ElementAccess.of(out);
            draw(seed, stream.asLong(), region, (at, bits, from, n) -> {
                for (int i = 0; i < n; i++) {
                    boolean kept = bits[from + i] >>> 8 >= threshold;
                    target.set(at + i, kept ? source.get(at + i) / (1 - p) : 0);
                }
            });
        }
    }

    private static float[] floatsOrEmpty(NdArray array) {
        return array.dtype() == DType.FLOAT32 ? ((HostStorage) array.storage()).floats() : new float[0];
    }

    /** Draws the words of a region, in the order of its elements. */
    private void draw(long seed, long stream, Region region, Sink sink) {
        long elements = region.local().elements();
        if (elements == 0) {
            return;
        }
        // trailing dimensions that the region has whole, and the one before them, lie in one stretch
        long[] global = region.global().toArray();
        long[] local = region.local().toArray();
        long[] strides = region.global().strides();
        long[] offsets = region.offsets();
        int dims = global.length;
        long stretch = 1;
        int outer = dims;
        boolean whole = true;
        while (outer > 0 && whole) {
            outer--;
            stretch *= local[outer];
            whole = local[outer] == global[outer];
        }
        long first = 0;
        for (int d = 0; d < dims; d++) {
            first += offsets[d] * strides[d];
        }
        long[] outerSizes = java.util.Arrays.copyOf(local, outer);
        Odometer at = new Odometer(outerSizes, java.util.Arrays.copyOf(strides, outer));
        for (long done = 0; done < elements; done += stretch, at.next()) {
            stretch(seed, stream, first + at.offset(0), stretch, (int) done, sink);
        }
    }

    private void stretch(long seed, long stream, long index, long n, int at, Sink sink) {
        int[] buffer = words.get();
        long done = 0;
        while (done < n) {
            int lane = (int) (index + done & 3);
            int length = (int) Math.min(PIECE - lane, n - done);
            loops.philox(seed, index + done >>> 2, stream, buffer, lane + length + 3 >>> 2);
            sink.accept(at + (int) done, buffer, lane, length);
            done += length;
        }
    }
}
