// Matrix products of the host.
#pragma once
#include "cublas/types.h"

namespace cusim {

// How the inputs are rounded before they are multiplied.
enum class Rounding { NONE, TF32, HALF, BFLOAT16 };

// C = alpha * op(A) * op(B) + beta * C, all column-major, op(A) m x k, op(B) k x n. A and B have one element type.
// Sums are double for CUDA_R_64F, float otherwise; alpha and beta are held as double without loss. With beta 0, C is not
// read.
struct Product {
    bool transposeA, transposeB;
    size_t m, n, k;
    const void *a, *b;
    void* c;
    size_t lda, ldb, ldc;
    int inputType, outputType;
    double alpha, beta;
    Rounding rounding;
};

void multiply(const Product& product);

}  // namespace cusim
