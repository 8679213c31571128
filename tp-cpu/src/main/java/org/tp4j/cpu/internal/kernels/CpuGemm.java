package org.tp4j.cpu.internal.kernels;

import org.tp4j.cpu.internal.blas.Blas;
import org.tp4j.cpu.internal.memory.ArrayPool;
import org.tp4j.cpu.internal.memory.FloatView;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.reference.ReferenceGemm;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.GemmKernels;
import org.tp4j.tensor.NdArray;

/** Matrix products by {@link Blas}; 16-bit operands are widened to floats, a matrix at a time. */
public final class CpuGemm implements GemmKernels {
    private final Blas blas;
    private final FloatKernels floats;
    private final ArrayPool pool;
    private final ReferenceGemm reference = new ReferenceGemm();

    public CpuGemm(Blas blas, FloatKernels floats, ArrayPool pool) {
        this.blas = blas;
        this.floats = floats;
        this.pool = pool;
    }

    @Override
    public void gemm(
            boolean transposeA,
            boolean transposeB,
            int m,
            int n,
            int k,
            double alpha,
            NdArray a,
            long strideA,
            NdArray b,
            long strideB,
            double beta,
            NdArray c,
            long strideC,
            int batch) {
        if (m == 0 || n == 0 || batch == 0) {
            return;
        }
        if (k == 0 || !a.dtype().isFloating()) {
            reference.gemm(transposeA, transposeB, m, n, k, alpha, a, strideA, b, strideB, beta, c, strideC, batch);
            return;
        }
        // One B throughout and the rows of all A one after the other: one product with taller matrices.
        boolean folds = batch > 1
                && strideB == 0
                && !transposeA
                && strideA == (long) m * k
                && strideC == (long) m * n
                && (long) m * batch <= Integer.MAX_VALUE;
        int rows = folds ? m * batch : m;
        int count = folds ? 1 : batch;
        HostStorage storageA = (HostStorage) a.storage();
        HostStorage storageB = (HostStorage) b.storage();
        HostStorage storageC = (HostStorage) c.storage();
        switch (a.dtype()) {
            case FLOAT32 -> {
                for (int i = 0; i < count; i++) {
                    blas.sgemm(
                            transposeA,
                            transposeB,
                            rows,
                            n,
                            k,
                            (float) alpha,
                            storageA.floats(),
                            (int) (a.offset() + i * strideA),
                            storageB.floats(),
                            (int) (b.offset() + i * strideB),
                            (float) beta,
                            storageC.floats(),
                            (int) (c.offset() + i * strideC));
                }
            }
            case FLOAT64 -> {
                for (int i = 0; i < count; i++) {
                    blas.dgemm(
                            transposeA,
                            transposeB,
                            rows,
                            n,
                            k,
                            alpha,
                            storageA.doubles(),
                            (int) (a.offset() + i * strideA),
                            storageB.doubles(),
                            (int) (b.offset() + i * strideB),
                            beta,
                            storageC.doubles(),
                            (int) (c.offset() + i * strideC));
                }
            }
            default ->
                halves(transposeA, transposeB, rows, n, k, alpha, a, strideA, b, strideB, beta, c, strideC, count);
        }
    }

    private void halves(
            boolean transposeA,
            boolean transposeB,
            int m,
            int n,
            int k,
            double alpha,
            NdArray a,
            long strideA,
            NdArray b,
            long strideB,
            double beta,
            NdArray c,
            long strideC,
            int batch) {
        FloatView left = new FloatView(floats, a);
        FloatView right = new FloatView(floats, b);
        FloatView to = new FloatView(floats, c);
        float[] wideA = pool.takeFloats((long) m * k);
        float[] wideB = pool.takeFloats((long) k * n);
        float[] wideC = to.isDirect() ? wideA : pool.takeFloats((long) m * n);
        for (int i = 0; i < batch; i++) {
            if (i == 0 || strideA != 0) {
                left.read((int) (i * strideA), m * k, wideA);
            }
            if (i == 0 || strideB != 0) {
                right.read((int) (i * strideB), k * n, wideB);
            }
            int first = (int) (i * strideC);
            float[] target = to.target(wideC);
            if (beta != 0) {
                to.read(first, m * n, wideC);
            }
            int at = to.at(first);
            blas.sgemm(transposeA, transposeB, m, n, k, (float) alpha, wideA, 0, wideB, 0, (float) beta, target, at);
            to.write(first, m * n, target);
        }
        pool.giveFloats(wideA);
        pool.giveFloats(wideB);
        if (!to.isDirect()) {
            pool.giveFloats(wideC);
        }
    }
}
