package org.tp4j.cpu.internal.blas;

/** Row-major matrix products on Java arrays, C = alpha · op(A) · op(B) + beta · C; all of m, n and k are at least 1. */
public interface Blas {
    /** Single precision; each matrix begins at its offset and is contiguous. With beta = 0, C is not read. */
    void sgemm(
            boolean transposeA,
            boolean transposeB,
            int m,
            int n,
            int k,
            float alpha,
            float[] a,
            int offsetA,
            float[] b,
            int offsetB,
            float beta,
            float[] c,
            int offsetC);

    /** Double precision, likewise. */
    void dgemm(
            boolean transposeA,
            boolean transposeB,
            int m,
            int n,
            int k,
            double alpha,
            double[] a,
            int offsetA,
            double[] b,
            int offsetB,
            double beta,
            double[] c,
            int offsetC);

    /** A description, for messages. */
    String description();

    /** Sets how many threads one product may use, if that can be set. */
    void setThreads(int threads);

    /** How many threads one product may use. */
    int threads();
}
