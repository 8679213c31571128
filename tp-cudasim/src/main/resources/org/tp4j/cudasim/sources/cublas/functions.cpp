// The names under which the products are called, with sizes of 32 and of 64 bits.
#include "cublas/gemm.h"

using namespace cusim;

#define GEMM_EX(NAME, SIZE)                                                                                              \
    API int NAME(cublasHandle_t handle, int transposeA, int transposeB, SIZE m, SIZE n, SIZE k, const void* alpha,        \
            const void* a, int typeA, SIZE lda, const void* b, int typeB, SIZE ldb, const void* beta, void* c, int typeC,  \
            SIZE ldc, int compute, int) {                                                                                \
        return gemm(handle, #NAME, transposeA, transposeB, m, n, k, alpha, a, typeA, lda, 0, b, typeB, ldb, 0, beta, c,   \
                typeC, ldc, 0, 1, compute);                                                                              \
    }
GEMM_EX(cublasGemmEx, int)
GEMM_EX(cublasGemmEx_64, int64_t)

#define GEMM_STRIDED_EX(NAME, SIZE)                                                                                      \
    API int NAME(cublasHandle_t handle, int transposeA, int transposeB, SIZE m, SIZE n, SIZE k, const void* alpha,        \
            const void* a, int typeA, SIZE lda, long long strideA, const void* b, int typeB, SIZE ldb,                   \
            long long strideB, const void* beta, void* c, int typeC, SIZE ldc, long long strideC, SIZE batch,            \
            int compute, int) {                                                                                          \
        return gemm(handle, #NAME, transposeA, transposeB, m, n, k, alpha, a, typeA, lda, strideA, b, typeB, ldb,         \
                strideB, beta, c, typeC, ldc, strideC, batch, compute);                                                  \
    }
GEMM_STRIDED_EX(cublasGemmStridedBatchedEx, int)
GEMM_STRIDED_EX(cublasGemmStridedBatchedEx_64, int64_t)

#define GEMM(NAME, ELEMENT, TYPE, COMPUTE, SIZE)                                                                         \
    API int NAME(cublasHandle_t handle, int transposeA, int transposeB, SIZE m, SIZE n, SIZE k, const ELEMENT* alpha,     \
            const ELEMENT* a, SIZE lda, const ELEMENT* b, SIZE ldb, const ELEMENT* beta, ELEMENT* c, SIZE ldc) {         \
        return gemm(handle, #NAME, transposeA, transposeB, m, n, k, alpha, a, TYPE, lda, 0, b, TYPE, ldb, 0, beta, c,     \
                TYPE, ldc, 0, 1, COMPUTE);                                                                               \
    }
GEMM(cublasSgemm_v2, float, CUDA_R_32F, COMPUTE_32F, int)
GEMM(cublasSgemm_v2_64, float, CUDA_R_32F, COMPUTE_32F, int64_t)
GEMM(cublasDgemm_v2, double, CUDA_R_64F, COMPUTE_64F, int)
GEMM(cublasDgemm_v2_64, double, CUDA_R_64F, COMPUTE_64F, int64_t)

#define GEMM_STRIDED(NAME, ELEMENT, TYPE, COMPUTE)                                                                       \
    API int NAME(cublasHandle_t handle, int transposeA, int transposeB, int m, int n, int k, const ELEMENT* alpha,        \
            const ELEMENT* a, int lda, long long strideA, const ELEMENT* b, int ldb, long long strideB,                  \
            const ELEMENT* beta, ELEMENT* c, int ldc, long long strideC, int batch) {                                    \
        return gemm(handle, #NAME, transposeA, transposeB, m, n, k, alpha, a, TYPE, lda, strideA, b, TYPE, ldb, strideB,  \
                beta, c, TYPE, ldc, strideC, batch, COMPUTE);                                                            \
    }
GEMM_STRIDED(cublasSgemmStridedBatched, float, CUDA_R_32F, COMPUTE_32F)
GEMM_STRIDED(cublasDgemmStridedBatched, double, CUDA_R_64F, COMPUTE_64F)
