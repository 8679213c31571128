#include "cublas/handle.h"

#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>

namespace cusim {

namespace {

std::mutex mutex;
std::map<cublasHandle_t, std::shared_ptr<Handle>>& handles() {
    static auto* all = new std::map<cublasHandle_t, std::shared_ptr<Handle>>;
    return *all;
}

}  // namespace

int refuseBlas(Status status, const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "[cudasim] %s\n", text);
    return status;
}

std::shared_ptr<Handle> handleOf(cublasHandle_t handle, const char* who) {
    std::lock_guard<std::mutex> lock(mutex);
    auto at = handles().find(handle);
    if (at != handles().end()) return at->second;
    refuseBlas(CUBLAS_STATUS_NOT_INITIALIZED, "%s: %p is no cuBLAS handle, or a destroyed one", who,
            static_cast<void*>(handle));
    return nullptr;
}

bool isInside(const Handle& handle, uintptr_t address, size_t bytes, const char* who, const char* what) {
    CUdeviceptr base = 0;
    size_t size = 0;
    CUcontext context = nullptr;
    if (cuMemGetAddressRange_v2(&base, &size, address) != CUDA_SUCCESS) {
        refuseBlas(CUBLAS_STATUS_EXECUTION_FAILED, "%s: %s=%p is no device address", who, what,
                reinterpret_cast<void*>(address));
        return false;
    }
    if (address + bytes > base + size) {
        refuseBlas(CUBLAS_STATUS_EXECUTION_FAILED, "%s: %s needs %zu bytes at offset %zu of an allocation of %zu bytes", who,
                what, bytes, static_cast<size_t>(address - base), size);
        return false;
    }
    cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address);
    if (context != handle.context) {
        refuseBlas(CUBLAS_STATUS_EXECUTION_FAILED, "%s: %s=%p is memory of another device than device %d of the handle", who,
                what, reinterpret_cast<void*>(address), handle.device);
        return false;
    }
    return true;
}

}  // namespace cusim

using namespace cusim;

API int cublasCreate_v2(cublasHandle_t* made) {
    auto handle = std::make_shared<Handle>();
    if (!made) return CUBLAS_STATUS_INVALID_VALUE;
    if (cuCtxGetCurrent(&handle->context) != CUDA_SUCCESS || !handle->context) return CUBLAS_STATUS_NOT_INITIALIZED;
    cuCtxGetDevice(&handle->device);
    cusimCount("cuBLAS handles", handle->device, 1);
    std::lock_guard<std::mutex> lock(mutex);
    static uintptr_t number = uintptr_t{0x57} << 40;
    *made = reinterpret_cast<cublasHandle_t>(number += 16);
    handles()[*made] = handle;
    return CUBLAS_STATUS_SUCCESS;
}

API int cublasDestroy_v2(cublasHandle_t id) {
    auto handle = handleOf(id, "cublasDestroy");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    cusimCount("cuBLAS handles", handle->device, -1);
    std::lock_guard<std::mutex> lock(mutex);
    handles().erase(id);
    return CUBLAS_STATUS_SUCCESS;
}

API int cublasGetVersion_v2(cublasHandle_t, int* version) {
    *version = 120600;
    return CUBLAS_STATUS_SUCCESS;
}

// 0, 1, 2: major, minor, patch.
API int cublasGetProperty(int part, int* value) {
    if (part < 0 || part > 2) return CUBLAS_STATUS_INVALID_VALUE;
    const int version[] = {12, 6, 0};
    *value = version[part];
    return CUBLAS_STATUS_SUCCESS;
}

API size_t cublasGetCudartVersion() {
    return 12060;
}

// Gives up the workspace, as cuBLAS does.
API int cublasSetStream_v2(cublasHandle_t id, CUstream stream) {
    auto handle = handleOf(id, "cublasSetStream");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->stream = stream;
    handle->workspace = 0;
    handle->workspaceBytes = 0;
    return CUBLAS_STATUS_SUCCESS;
}

API int cublasGetStream_v2(cublasHandle_t id, CUstream* stream) {
    auto handle = handleOf(id, "cublasGetStream");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}

API int cublasSetWorkspace_v2(cublasHandle_t id, void* workspace, size_t bytes) {
    auto handle = handleOf(id, "cublasSetWorkspace");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    uintptr_t address = reinterpret_cast<uintptr_t>(workspace);
    if (address % 256) {
        return refuseBlas(CUBLAS_STATUS_INVALID_VALUE, "cublasSetWorkspace: %p is not a multiple of 256", workspace);
    }
    if (bytes && !isInside(*handle, address, bytes, "cublasSetWorkspace", "workspace")) return CUBLAS_STATUS_INVALID_VALUE;
    handle->workspace = bytes ? address : 0;
    handle->workspaceBytes = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

API int cublasSetMathMode(cublasHandle_t id, int mode) {
    auto handle = handleOf(id, "cublasSetMathMode");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->mathMode = mode;
    return CUBLAS_STATUS_SUCCESS;
}

API int cublasGetMathMode(cublasHandle_t id, int* mode) {
    auto handle = handleOf(id, "cublasGetMathMode");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    *mode = handle->mathMode;
    return CUBLAS_STATUS_SUCCESS;
}

API int cublasSetPointerMode_v2(cublasHandle_t id, int mode) {
    auto handle = handleOf(id, "cublasSetPointerMode");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    if (mode != 0 && mode != 1) return CUBLAS_STATUS_INVALID_VALUE;
    handle->devicePointers = mode == 1;
    return CUBLAS_STATUS_SUCCESS;
}

API int cublasGetPointerMode_v2(cublasHandle_t id, int* mode) {
    auto handle = handleOf(id, "cublasGetPointerMode");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    *mode = handle->devicePointers;
    return CUBLAS_STATUS_SUCCESS;
}

API int cublasSetAtomicsMode(cublasHandle_t id, int mode) {
    auto handle = handleOf(id, "cublasSetAtomicsMode");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->atomics = mode;
    return CUBLAS_STATUS_SUCCESS;
}

API int cublasGetAtomicsMode(cublasHandle_t id, int* mode) {
    auto handle = handleOf(id, "cublasGetAtomicsMode");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    *mode = handle->atomics;
    return CUBLAS_STATUS_SUCCESS;
}

extern "C" CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device);

API int cublasSetSmCountTarget(cublasHandle_t id, int count) {
    auto handle = handleOf(id, "cublasSetSmCountTarget");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    int all = 0;
    cuDeviceGetAttribute(&all, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, handle->device);
    if (count < 0 || count > all) return CUBLAS_STATUS_INVALID_VALUE;
    handle->multiprocessors = count;
    return CUBLAS_STATUS_SUCCESS;
}

API int cublasGetSmCountTarget(cublasHandle_t id, int* count) {
    auto handle = handleOf(id, "cublasGetSmCountTarget");
    if (!handle) return CUBLAS_STATUS_NOT_INITIALIZED;
    *count = handle->multiprocessors;
    return CUBLAS_STATUS_SUCCESS;
}

API const char* cublasGetStatusName(int status) {
    switch (status) {
#define NAME(value) \
    case value: return #value;
        NAME(CUBLAS_STATUS_SUCCESS)
        NAME(CUBLAS_STATUS_NOT_INITIALIZED)
        NAME(CUBLAS_STATUS_ALLOC_FAILED)
        NAME(CUBLAS_STATUS_INVALID_VALUE)
        NAME(CUBLAS_STATUS_ARCH_MISMATCH)
        NAME(CUBLAS_STATUS_MAPPING_ERROR)
        NAME(CUBLAS_STATUS_EXECUTION_FAILED)
        NAME(CUBLAS_STATUS_INTERNAL_ERROR)
        NAME(CUBLAS_STATUS_NOT_SUPPORTED)
#undef NAME
        default: return "CUBLAS_STATUS unknown";
    }
}

API const char* cublasGetStatusString(int status) {
    return cublasGetStatusName(status);
}
