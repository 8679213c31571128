package org.tp4j.tests.bench;

import java.nio.ByteBuffer;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/**
 * Rates of copies in GB/s: what the machine gives (one copy of pinned memory each way; within the device, bytes read plus bytes
 * written), and what a user of {@link org.tp4j.tensor.Backend#copyIn} and {@code copyOut} gets from the Java heap.
 */
@SuppressWarnings("try") // a scope that only owns
final class CopyRates {
    private final CudaBackend backend;
    private final int bytes;
    private final int rounds;

    CopyRates(CudaBackend backend, int bytes, int rounds) {
        this.backend = backend;
        this.bytes = bytes;
        this.rounds = rounds;
    }

    private interface Copy {
        int ask(CUstream stream);
    }

    Report measure() {
        Report report = new Report().put("measure", "copy").put("megabytes", bytes >> 20);
        backend.makeCurrent();
        Pointer host = new Pointer();
        CUdeviceptr from = new CUdeviceptr();
        CUdeviceptr to = new CUdeviceptr();
        CUstream stream = new CUstream();
        check(JCudaDriver.cuStreamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING));
        check(JCudaDriver.cuMemHostAlloc(host, bytes, 0));
        check(JCudaDriver.cuMemAlloc(from, bytes));
        check(JCudaDriver.cuMemAlloc(to, bytes));
        try {
            check(JCudaDriver.cuMemsetD8(from, (byte) 0x3A, bytes));
            report.put(
                            "pinned_to_device_gb_s",
                            rate(stream, s -> JCudaDriver.cuMemcpyHtoDAsync(from, host, bytes, s)),
                            2)
                    .put(
                            "device_to_pinned_gb_s",
                            rate(stream, s -> JCudaDriver.cuMemcpyDtoHAsync(host, from, bytes, s)),
                            2)
                    .put(
                            "device_to_device_gb_s",
                            2 * rate(stream, s -> JCudaDriver.cuMemcpyDtoDAsync(to, from, bytes, s)),
                            1);
        } finally {
            JCudaDriver.cuMemFree(to);
            JCudaDriver.cuMemFree(from);
            JCudaDriver.cuMemFreeHost(host);
            JCudaDriver.cuStreamDestroy(stream);
        }
        return addOwn(report);
    }

    /** The best of several copies, each alone. */
    private double rate(CUstream stream, Copy copy) {
        CUevent start = new CUevent();
        CUevent stop = new CUevent();
        check(JCudaDriver.cuEventCreate(start, 0));
        check(JCudaDriver.cuEventCreate(stop, 0));
        double best = 0;
        try {
            for (int i = 0; i <= rounds; i++) {
                check(JCudaDriver.cuEventRecord(start, stream));
                check(copy.ask(stream));
                check(JCudaDriver.cuEventRecord(stop, stream));
                check(JCudaDriver.cuEventSynchronize(stop));
                float[] ms = {0};
                check(JCudaDriver.cuEventElapsedTime(ms, start, stop));
                best = Math.max(best, bytes / Math.max(1e-6, ms[0]) / 1e6);
            }
        } finally {
            JCudaDriver.cuEventDestroy(start);
            JCudaDriver.cuEventDestroy(stop);
        }
        return best;
    }

    private Report addOwn(Report report) {
        try (Scope scope = Scope.open("copies")) {
            NdArray array = NdArray.allocate(backend, DType.FLOAT32, Shape.of(bytes / Float.BYTES));
            ByteBuffer heap = ByteBuffer.allocate(bytes);
            double in = 0;
            double out = 0;
            for (int i = 0; i < rounds; i++) {
                in = Math.max(in, timed(() -> backend.copyIn(heap.clear(), array)));
                out = Math.max(out, timed(() -> backend.copyOut(array, heap.clear())));
            }
            return report.put("copy_in_gb_s", in, 2).put("copy_out_gb_s", out, 2);
        }
    }

    private double timed(Runnable copy) {
        long start = System.nanoTime();
        copy.run();
        return (double) bytes / Math.max(1, System.nanoTime() - start);
    }

    private static void check(int result) {
        if (result != CUresult.CUDA_SUCCESS) {
            throw new IllegalStateException("the driver answers " + CUresult.stringFor(result));
        }
    }
}
