package org.tp4j.tensor;

/** Matrix products; see {@link Backend} for the contract. */
public interface GemmKernels {
    /**
     * A batch of products C = alpha · op(A) · op(B) + beta · C, row-major, each matrix contiguous.
     *
     * <p>op(A) is m × k: A is stored [m, k], or [k, m] if {@code transposeA}; op(B) is k × n: B is stored [k, n], or
     * [n, k] if {@code transposeB}; C is [m, n]. Matrix i of the batch begins i · stride elements into each window; a
     * stride of 0 for A or B uses one matrix throughout. With k = 0, C = beta · C. With beta = 0, C is not read. 16-bit
     * floats accumulate in 32 bits; C may be {@code FLOAT32} where A and B are 16-bit.
     */
    void gemm(
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
            int batch);
}
