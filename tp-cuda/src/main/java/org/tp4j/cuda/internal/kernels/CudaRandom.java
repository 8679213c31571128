package org.tp4j.cuda.internal.kernels;

import static org.tp4j.cuda.internal.arguments.CopyArguments.RANDOM;

import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.launch.Arguments;
import org.tp4j.cuda.internal.launch.Grid;
import org.tp4j.cuda.internal.launch.KernelFamily;
import org.tp4j.cuda.internal.launch.Kernels;
import org.tp4j.cuda.internal.launch.StridedBox;
import org.tp4j.cuda.internal.memory.CudaStorage;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.StepNumber;

/**
 * Philox numbers, four per thread (one counter). Uniform numbers and dropout masks equal the CPU's bit for bit, normal ones
 * to 2 ulp.
 */
public final class CudaRandom implements RandomKernels {
    private static final String SOURCE = "random";
    private static final int LANES = 4;
    private static final long MOST_OF_A_ROW = 1L << 30; // a multiple of LANES that needs no 64-bit division

    private final CudaDevice device;
    private final KernelFamily uniform;
    private final KernelFamily normal;
    private final KernelFamily dropout;

    public CudaRandom(Kernels kernels) {
        this.device = kernels.device();
        this.uniform = new KernelFamily(kernels, SOURCE, "uniform");
        this.normal = new KernelFamily(kernels, SOURCE, "normal");
        this.dropout = new KernelFamily(kernels, SOURCE, "dropout");
    }

    @Override
    public void uniform(NdArray out, long seed, long stream, Region region, double low, double high) {
        draw(uniform, out, seed, StepNumber.of(stream), region, null, low, high - low, 0);
    }

    @Override
    public void normal(NdArray out, long seed, long stream, Region region, double mean, double deviation) {
        draw(normal, out, seed, StepNumber.of(stream), region, null, mean, deviation, 0);
    }

    @Override
    public void dropout(NdArray x, double p, long seed, StepNumber stream, Region region, NdArray out) {
        // u 2^-24 >= p for an integer u means u >= p 2^24 rounded up; the product with a power of two is exact
        int threshold = (int) Math.ceil(p * 0x1p24);
        draw(dropout, out, seed, stream, region, x, p, 0, threshold);
    }

    private void draw(
            KernelFamily family,
            NdArray out,
            long seed,
            StepNumber stream,
            Region region,
            @Nullable NdArray x,
            double low,
            double width,
            int threshold) {
        long n = out.elements();
        if (n == 0) {
            return;
        }
        int bytes = out.dtype().bytes();
        long[] globalStrides = region.global().strides();
        long[] offsets = region.offsets();
        long first = 0;
        for (int d = 0; d < offsets.length; d++) {
            first += offsets[d] * globalStrides[d];
        }
        StridedBox elements = StridedBox.of(region.local().toArray(), globalStrides);
        boolean inRows = elements.stride(0, 0) == 1;
        long pitch = inRows ? elements.size(0) : 1;
        StridedBox rows = inRows ? elements.without(0) : elements;
        for (long at = 0; at < pitch; at += MOST_OF_A_ROW) {
            long length = Math.min(MOST_OF_A_ROW, pitch - at);
            long index = first + at;
            long to = CudaStorage.addressOf(out) + at * bytes;
            long from = x == null ? 0 : CudaStorage.addressOf(x) + at * bytes;
            // a row that starts at the last lane of its first counter needs the most
            long lane = rows.elements() == 1 ? index % LANES : LANES - 1;
            long counters = (lane + length + LANES - 1) / LANES;
            rows.forEachPart(Math.max(1, MOST_OF_A_ROW / counters), part -> {
                Arguments arguments = Arguments.of(RANDOM)
                        .set(RANDOM.box, part)
                        .set(RANDOM.strides, part)
                        .set(RANDOM.counters, counters)
                        .set(RANDOM.work, part.elements() * counters)
                        .set(RANDOM.first, index + part.offset(0))
                        .set(RANDOM.length, length)
                        .set(RANDOM.pitch, pitch)
                        .set(RANDOM.seed, seed)
                        .set(RANDOM.stream, stream)
                        .set(RANDOM.x, from + (x == null ? 0 : part.first() * pitch * bytes))
                        .set(RANDOM.out, to + part.first() * pitch * bytes)
                        .set(RANDOM.low, low)
                        .set(RANDOM.width, width)
                        .set(RANDOM.threshold, threshold);
                family.of(out.dtype()).launch(Grid.blocks(device, part.elements() * counters), Grid.THREADS, arguments);
            });
        }
    }
}
