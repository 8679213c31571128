// Element types of cuBLAS (cudaDataType) and their values on the host.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cusim {

enum DataType { CUDA_R_32F = 0, CUDA_R_64F = 1, CUDA_R_16F = 2, CUDA_R_16BF = 14 };

enum Status {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15
};

// cublasComputeType_t
enum Compute {
    COMPUTE_16F = 64,
    COMPUTE_16F_PEDANTIC = 65,
    COMPUTE_32F = 68,
    COMPUTE_32F_PEDANTIC = 69,
    COMPUTE_64F = 70,
    COMPUTE_64F_PEDANTIC = 71,
    COMPUTE_32F_FAST_16F = 74,
    COMPUTE_32F_FAST_16BF = 75,
    COMPUTE_32F_FAST_TF32 = 77
};

inline size_t bytesOf(int type) {
    return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

inline bool isKnown(int type) {
    return type == CUDA_R_32F || type == CUDA_R_64F || type == CUDA_R_16F || type == CUDA_R_16BF;
}

struct BFloat16 {
    uint16_t bits;

    operator float() const {
        uint32_t wide = static_cast<uint32_t>(bits) << 16;
        float value;
        memcpy(&value, &wide, sizeof value);
        return value;
    }

    // To nearest, ties to even; NaN stays NaN.
    static BFloat16 of(float value) {
        uint32_t wide;
        memcpy(&wide, &value, sizeof wide);
        if ((wide & 0x7FFFFFFF) > 0x7F800000) return {static_cast<uint16_t>(wide >> 16 | 0x40)};
        return {static_cast<uint16_t>((wide + 0x7FFF + (wide >> 16 & 1)) >> 16)};
    }
};

using Half = _Float16;

// A float with its mantissa rounded to the 10 bits of TF32.
inline float toTf32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7F800000) == 0x7F800000) return value;
    bits = (bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000;
    memcpy(&value, &bits, sizeof value);
    return value;
}

}  // namespace cusim
