#pragma once
#include "cublas/handle.h"

namespace cusim {

// C = alpha * op(A) * op(B) + beta * C for each matrix of a batch, put on the handle's stream; a cuBLAS status. `name` is
// the function's for messages and the trace.
int gemm(cublasHandle_t id, const char* name, int transposeA, int transposeB, int64_t m, int64_t n, int64_t k,
        const void* alpha, const void* a, int typeA, int64_t lda, int64_t strideA, const void* b, int typeB, int64_t ldb,
        int64_t strideB, const void* beta, void* c, int typeC, int64_t ldc, int64_t strideC, int64_t batch, int compute);

}  // namespace cusim
