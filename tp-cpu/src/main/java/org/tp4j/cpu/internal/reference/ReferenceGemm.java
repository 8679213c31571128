package org.tp4j.cpu.internal.reference;

import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.tensor.GemmKernels;
import org.tp4j.tensor.NdArray;

/** Matrix products as the definition reads, for every type, accumulated in 64 bits. */
public final class ReferenceGemm implements GemmKernels {
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
        ElementAccess left = ElementAccess.of(a);
        ElementAccess right = ElementAccess.of(b);
        ElementAccess to = ElementAccess.of(c);
        for (int g = 0; g < batch; g++) {
            for (int i = 0; i < m; i++) {
                for (int j = 0; j < n; j++) {
                    double sum = 0;
                    for (int p = 0; p < k; p++) {
                        long atA = transposeA ? (long) p * m + i : (long) i * k + p;
                        long atB = transposeB ? (long) j * k + p : (long) p * n + j;
                        sum += left.get(g * strideA + atA) * right.get(g * strideB + atB);
                    }
                    long atC = g * strideC + (long) i * n + j;
                    double before = beta == 0 ? 0 : beta * to.get(atC);
                    to.set(atC, k == 0 ? before : alpha * sum + before);
                }
            }
        }
    }
}
