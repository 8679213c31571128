package org.tp4j.tests.gpu;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tp4j.autograd.Tensors;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.cuda.CudaLibraries;
import org.tp4j.cuda.CudaTimer;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * The first touch of a device: libraries, memory, copies, a product, a kernel compiled for it, events; each against what the
 * host computes. Says how far it came, so that a process that dies says where.
 */
@SuppressWarnings("try") // a scope that only owns
public final class SmokeMain {
    private static final int SIDE = 96;
    private static final long SPREAD = 2_654_435_761L;

    private SmokeMain() {}

    /** Runs; throws at the first thing that is not as it should be. */
    public static void main(String[] args) {
        long start = System.nanoTime();
        say(start, CudaLibraries.load().describe());
        CudaBackend backend = CudaBackend.of(0);
        say(start, backend.description());
        try (Scope scope = Scope.open("smoke")) {
            copies(backend);
            say(start, "copies to the device and back");
            product(backend);
            say(start, "a product by cuBLAS");
            kernels(backend);
            say(start, "kernels compiled for the device");
            timer(backend);
            say(start, "events");
        }
        CudaBackend.releaseAll();
        System.out.println("1 passed, 0 failed, 0 skipped");
    }

    private static void say(long start, String what) {
        System.out.printf("%6.2f s  %s%n", (System.nanoTime() - start) * 1e-9, what);
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalStateException(what);
        }
    }

    /** More than one staging buffer's worth, so that buffers take turns. */
    private static void copies(CudaBackend backend) {
        int bytes = 9_000_000;
        ByteBuffer there = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < bytes; i += Long.BYTES) {
            there.putLong(i, i * SPREAD);
        }
        NdArray array = NdArray.allocate(backend, DType.INT64, Shape.of(bytes / Long.BYTES));
        backend.copyIn(there.duplicate(), array);
        ByteBuffer back = ByteBuffer.allocate(bytes);
        backend.copyOut(array, back.duplicate());
        int differs = there.mismatch(back);
        require(differs < 0, "a copy to the device and back differs from byte " + differs + " on");
    }

    private static float[] values(int count, int seed) {
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = ((i * SPREAD + seed) % 2001 - 1000) / 1000f;
        }
        return values;
    }

    private static void product(CudaBackend backend) {
        int n = SIDE + 1;
        int k = SIDE - 1;
        float[] a = values(SIDE * k, 1);
        float[] b = values(k * n, 2);
        double[] actual = Tensors.of(backend, a, SIDE, k)
                .matmul(Tensors.of(backend, b, k, n))
                .toDoubles();
        for (int i = 0; i < SIDE; i++) {
            for (int j = 0; j < n; j++) {
                double expected = 0;
                for (int l = 0; l < k; l++) {
                    expected += (double) a[i * k + l] * b[l * n + j];
                }
                double found = actual[i * n + j];
                require(
                        Math.abs(found - expected) < 1e-3,
                        "product: element [" + i + ", " + j + "] is " + found + " and should be " + expected);
            }
        }
    }

    private static void kernels(CudaBackend backend) {
        float[] a = values(SIDE * SIDE, 3);
        float[] b = values(SIDE * SIDE, 4);
        Tensor x = Tensors.of(backend, a, SIDE, SIDE);
        Tensor sum = x.add(Tensors.of(backend, b, SIDE, SIDE)).relu().sum();
        double expected = 0;
        for (int i = 0; i < a.length; i++) {
            expected += Math.max(0, a[i] + b[i]);
        }
        double found = sum.item();
        require(
                Math.abs(found - expected) < 1e-4 * expected,
                "sum of relu(a + b) is " + found + " and should be " + expected);
    }

    private static void timer(CudaBackend backend) {
        try (CudaTimer timer = new CudaTimer(backend)) {
            Tensor x = Tensors.normal(backend, DType.FLOAT32, Shape.of(SIDE, SIDE), 0, 1, 0, 0);
            timer.start();
            x.matmul(x);
            timer.stop();
            double ms = timer.elapsedMs();
            require(ms > 0 && ms < 60_000, "a product took " + ms + " ms by the device's clock");
        }
    }
}
