#include "cublas/multiply.h"

#include <algorithm>
#include <vector>

namespace cusim {

namespace {

// Register tile of the inner kernel: ROWS x COLUMNS sums, rows in vectors.
#ifdef __AVX512F__
constexpr size_t VECTOR_BYTES = 64;
#else
constexpr size_t VECTOR_BYTES = 32;
#endif
constexpr size_t COLUMNS = 6;
// Depth of a packed block: a strip of A and one of B stay in the first-level cache.
constexpr size_t DEPTH = 256;
constexpr size_t BLOCK_ROWS = 192;

template <class T>
struct Vector {
    typedef T type __attribute__((vector_size(VECTOR_BYTES), aligned(alignof(T))));
    static constexpr size_t width = VECTOR_BYTES / sizeof(T);
    static constexpr size_t rows = 2 * width;
};

template <class T>
T rounded(T value, Rounding) {
    return value;
}

template <>
float rounded(float value, Rounding rounding) {
    switch (rounding) {
        case Rounding::TF32: return toTf32(value);
        case Rounding::HALF: return static_cast<float>(static_cast<Half>(value));
        case Rounding::BFLOAT16: return BFloat16::of(value);
        default: return value;
    }
}

// Strips of `width` rows (or columns) of a block, each stored depth after depth, filled up with zeros.
// Element (i, p) is at from[i * step + p * depthStep].
template <class T, class E>
void pack(const E* from, size_t step, size_t depthStep, size_t count, size_t depth, size_t width, Rounding rounding, T* to) {
    for (size_t first = 0; first < count; first += width) {
        size_t real = std::min(width, count - first);
        for (size_t p = 0; p < depth; p++) {
            const E* source = from + first * step + p * depthStep;
            for (size_t i = 0; i < real; i++) to[i] = rounded<T>(static_cast<T>(source[i * step]), rounding);
            for (size_t i = real; i < width; i++) to[i] = 0;
            to += width;
        }
    }
}

// Adds the product of one strip of A and one of B to a tile of sums.
template <class T>
void tile(const T* a, const T* b, size_t depth, T* sums, size_t ld, size_t rows, size_t columns) {
    using V = typename Vector<T>::type;
    constexpr size_t width = Vector<T>::width;
    V acc[COLUMNS][2] = {};
    for (size_t p = 0; p < depth; p++) {
        V low = *reinterpret_cast<const V*>(a + p * 2 * width);
        V high = *reinterpret_cast<const V*>(a + p * 2 * width + width);
        for (size_t j = 0; j < COLUMNS; j++) {
            T factor = b[p * COLUMNS + j];
            acc[j][0] += low * factor;
            acc[j][1] += high * factor;
        }
    }
    for (size_t j = 0; j < columns; j++) {
        for (size_t i = 0; i < rows; i++) sums[j * ld + i] += acc[j][i / width][i % width];
    }
}

template <class T>
void store(const Product& p, const std::vector<T>& sums) {
    for (size_t j = 0; j < p.n; j++) {
        for (size_t i = 0; i < p.m; i++) {
            T value = static_cast<T>(p.alpha) * sums[j * p.m + i];
            size_t at = j * p.ldc + i;
            T beta = static_cast<T>(p.beta);
            switch (p.outputType) {
                case CUDA_R_64F: {
                    double* c = static_cast<double*>(p.c) + at;
                    *c = beta != 0 ? value + beta * *c : value;
                    break;
                }
                case CUDA_R_32F: {
                    float* c = static_cast<float*>(p.c) + at;
                    *c = static_cast<float>(beta != 0 ? value + beta * *c : value);
                    break;
                }
                case CUDA_R_16BF: {
                    BFloat16* c = static_cast<BFloat16*>(p.c) + at;
                    *c = BFloat16::of(static_cast<float>(beta != 0 ? value + beta * static_cast<float>(*c) : value));
                    break;
                }
                default: {
                    Half* c = static_cast<Half*>(p.c) + at;
                    *c = static_cast<Half>(static_cast<float>(beta != 0 ? value + beta * static_cast<float>(*c) : value));
                }
            }
        }
    }
}

template <class T, class E>
void multiplyAs(const Product& p) {
    constexpr size_t rows = Vector<T>::rows;
    const E* a = static_cast<const E*>(p.a);
    const E* b = static_cast<const E*>(p.b);
    size_t stepA = p.transposeA ? p.lda : 1, depthA = p.transposeA ? 1 : p.lda;
    size_t stepB = p.transposeB ? 1 : p.ldb, depthB = p.transposeB ? p.ldb : 1;
    size_t columnStrips = (p.n + COLUMNS - 1) / COLUMNS;
    std::vector<T> sums(p.m * p.n);
    std::vector<T> packedA((BLOCK_ROWS + rows) * DEPTH), packedB(columnStrips * COLUMNS * DEPTH);
    for (size_t k = 0; k < p.k; k += DEPTH) {
        size_t depth = std::min(DEPTH, p.k - k);
        pack<T>(b + k * depthB, stepB, depthB, p.n, depth, COLUMNS, p.rounding, packedB.data());
        for (size_t block = 0; block < p.m; block += BLOCK_ROWS) {
            size_t height = std::min(BLOCK_ROWS, p.m - block);
            pack<T>(a + block * stepA + k * depthA, stepA, depthA, height, depth, rows, p.rounding, packedA.data());
            for (size_t j = 0; j < p.n; j += COLUMNS) {
                for (size_t i = 0; i < height; i += rows) {
                    tile(packedA.data() + i * depth, packedB.data() + j * depth, depth,
                            sums.data() + j * p.m + block + i, p.m, std::min(rows, height - i), std::min(COLUMNS, p.n - j));
                }
            }
        }
    }
    store(p, sums);
}

}  // namespace

void multiply(const Product& product) {
    switch (product.inputType) {
        case CUDA_R_64F: return multiplyAs<double, double>(product);
        case CUDA_R_32F: return multiplyAs<float, float>(product);
        case CUDA_R_16BF: return multiplyAs<float, BFloat16>(product);
        default: return multiplyAs<float, Half>(product);
    }
}

}  // namespace cusim
