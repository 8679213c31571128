// cuBLAS handles.
#pragma once
#include <memory>

#include "cublas/types.h"
#include "cuda_driver.h"

#define API extern "C" __attribute__((visibility("default")))

typedef struct cublasContext* cublasHandle_t;

namespace cusim {

enum MathMode { DEFAULT_MATH = 0, TF32_TENSOR_OP_MATH = 3 };
constexpr int MATH_MODES = 15;                            // the bits of the above
constexpr int DISALLOW_REDUCED_PRECISION_REDUCTION = 16;  // may be added to it

struct Handle {
    CUcontext context;
    CUdevice device;
    CUstream stream = nullptr;
    int mathMode = DEFAULT_MATH;
    bool devicePointers = false;  // alpha and beta lie on the device
    int atomics = 0;
    int multiprocessors = 0;  // that products may use; 0: all
    uintptr_t workspace = 0;  // 0: cuBLAS's own
    size_t workspaceBytes = 0;
};

// The handle, or null with a message: not one of cublasCreate, or destroyed.
std::shared_ptr<Handle> handleOf(cublasHandle_t handle, const char* who);

// A message on stderr, and the status passed through.
int refuseBlas(Status status, const char* format, ...) __attribute__((format(printf, 2, 3)));

// Whether all bytes lie inside one allocation of the handle's device; otherwise a message.
bool isInside(const Handle& handle, uintptr_t address, size_t bytes, const char* who, const char* what);

}  // namespace cusim
