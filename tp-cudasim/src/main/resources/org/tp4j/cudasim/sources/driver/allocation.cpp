// Allocating and freeing: device memory at once or in stream order, pinned and registered host memory, pointer queries.
#include <algorithm>

#include "driver/capture.h"
#include "driver/memory.h"

using namespace cusim;

namespace {

CUresult outOfMemory(const char* who, size_t bytes) {
    size_t used = Memory::instance().used(current()->device);
    return refuse(CUDA_ERROR_OUT_OF_MEMORY, "%s: %zu bytes asked, %zu of %zu in use on device %d", who, bytes, used,
            deviceBytes(), current()->device);
}

Context& owner(const Allocation& allocation) {
    return *machine()[allocation.device];
}

// The one pool of each device; the device's number in it.
CUmemoryPool poolOf(Context& context) {
    return reinterpret_cast<CUmemoryPool>(static_cast<uintptr_t>(0x5A0000 + context.device));
}

}  // namespace

API CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
    REQUIRE(ready());
    if (!bytes || !address) return CUDA_ERROR_INVALID_VALUE;
    REQUIRE(Capture::forbidUnsafe("cuMemAlloc"));
    Allocation made;
    if (!Memory::instance().reserve(*current(), bytes, &made)) return outOfMemory("cuMemAlloc", bytes);
    Memory::instance().open(made);
    *address = made.base;
    return CUDA_SUCCESS;
}

API CUresult cuMemFree_v2(CUdeviceptr address) {
    REQUIRE(ready());
    if (!address) return CUDA_SUCCESS;
    REQUIRE(Capture::forbidUnsafe("cuMemFree"));
    Allocation allocation;
    if (!Memory::instance().find(address, &allocation) || allocation.base != address ||
            allocation.kind != Allocation::DEVICE) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemFree: %p is not the start of an allocation%s",
                reinterpret_cast<void*>(address), Memory::instance().isFreed(address) ? " (freed already)" : "");
    }
    {
        // The driver synchronizes the device and lets no other thread of the process enqueue meanwhile.
        std::unique_lock<std::shared_mutex> alone(enqueuing());
        drainDevice(owner(allocation));
    }
    if (!Memory::instance().forget(address, &allocation)) return CUDA_ERROR_INVALID_VALUE;
    Memory::instance().close(allocation);
    return CUDA_SUCCESS;
}

// The memory opens when the stream gets there: another stream that does not wait for it faults.
API CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream handle) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (!bytes || !address) return CUDA_ERROR_INVALID_VALUE;
    if (Capture::status(*stream, nullptr) != CU_STREAM_CAPTURE_STATUS_NONE) {
        Capture::forbid(*stream, "cuMemAllocAsync: allocation in graphs is not simulated");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    Allocation made;
    if (!Memory::instance().reserve(stream->context, bytes, &made)) return outOfMemory("cuMemAllocAsync", bytes);
    *address = made.base;
    return enqueue(stream, {"allocate", std::to_string(bytes), [made] { Memory::instance().open(made); }});
}

API CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool, CUstream handle) {
    REQUIRE(ready());
    if (pool != poolOf(*current())) return CUDA_ERROR_INVALID_VALUE;
    return cuMemAllocAsync(address, bytes, handle);
}

API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (Capture::status(*stream, nullptr) != CU_STREAM_CAPTURE_STATUS_NONE) {
        Capture::forbid(*stream, "cuMemFreeAsync: freeing in graphs is not simulated");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    Allocation allocation;
    if (!Memory::instance().forget(address, &allocation)) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemFreeAsync: %p is not the start of an allocation",
                reinterpret_cast<void*>(address));
    }
    return enqueue(stream, {"free", std::to_string(allocation.bytes), [allocation] { Memory::instance().close(allocation); }});
}

API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
    if (device < 0 || device >= static_cast<CUdevice>(devices().size())) return CUDA_ERROR_INVALID_DEVICE;
    *pool = poolOf(*devices()[device]);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
    return cuDeviceGetDefaultMemPool(pool, device);
}

API CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute attribute, void*) {
    return attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

API CUresult cuMemPoolTrimTo(CUmemoryPool, size_t) {
    return CUDA_SUCCESS;  // the pool keeps nothing
}

API CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
    REQUIRE(ready());
    *total = deviceBytes();
    *free = *total - Memory::instance().used(current()->device);
    return CUDA_SUCCESS;
}

API CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
    REQUIRE(ready());
    if (!bytes || !memory) return CUDA_ERROR_INVALID_VALUE;
    REQUIRE(Capture::forbidUnsafe("cuMemHostAlloc"));
    *memory = Memory::instance().allocatePinned(*current(), bytes);
    return *memory ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API CUresult cuMemAllocHost_v2(void** memory, size_t bytes) {
    return cuMemHostAlloc(memory, bytes, 0);
}

API CUresult cuMemFreeHost(void* memory) {
    REQUIRE(ready());
    REQUIRE(Capture::forbidUnsafe("cuMemFreeHost"));
    Allocation allocation;
    uintptr_t base = reinterpret_cast<uintptr_t>(memory);
    if (!Memory::instance().find(base, &allocation)) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "cuMemFreeHost: %p was not allocated", memory);
    }
    drainDevice(owner(allocation));
    return Memory::instance().freePinned(base) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

API CUresult cuMemHostRegister_v2(void* memory, size_t bytes, unsigned) {
    REQUIRE(ready());
    if (!bytes || !memory) return CUDA_ERROR_INVALID_VALUE;
    bool made = Memory::instance().registerHost(*current(), reinterpret_cast<uintptr_t>(memory), bytes);
    return made ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
}

API CUresult cuMemHostUnregister(void* memory) {
    REQUIRE(ready());
    bool done = Memory::instance().unregisterHost(reinterpret_cast<uintptr_t>(memory));
    return done ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* memory, unsigned) {
    REQUIRE(ready());
    Allocation allocation;
    if (!Memory::instance().find(reinterpret_cast<uintptr_t>(memory), &allocation)) return CUDA_ERROR_INVALID_VALUE;
    *address = reinterpret_cast<CUdeviceptr>(memory);
    return CUDA_SUCCESS;
}

API CUresult cuMemHostGetFlags(unsigned* flags, void* memory) {
    Allocation allocation;
    if (!Memory::instance().find(reinterpret_cast<uintptr_t>(memory), &allocation)) return CUDA_ERROR_INVALID_VALUE;
    *flags = 0;
    return CUDA_SUCCESS;
}

API CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
    Allocation allocation;
    if (!Memory::instance().find(address, &allocation)) return CUDA_ERROR_NOT_FOUND;
    if (base) *base = allocation.base;
    if (bytes) *bytes = allocation.bytes;
    return CUDA_SUCCESS;
}

API CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
    Allocation allocation;
    if (!Memory::instance().find(address, &allocation)) return CUDA_ERROR_INVALID_VALUE;
    Context& context = owner(allocation);
    switch (attribute) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            *static_cast<unsigned*>(value) =
                    allocation.kind == Allocation::DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            *static_cast<int*>(value) = std::find(devices().begin(), devices().end(), &context) - devices().begin();
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_CONTEXT:
            *static_cast<CUcontext*>(value) = context.handle();
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            *static_cast<CUdeviceptr*>(value) = address;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if (allocation.kind == Allocation::DEVICE) return CUDA_ERROR_INVALID_VALUE;
            *static_cast<void**>(value) = reinterpret_cast<void*>(address);
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            *static_cast<CUdeviceptr*>(value) = allocation.base;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            *static_cast<size_t*>(value) = allocation.bytes;
            return CUDA_SUCCESS;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
            *static_cast<unsigned char*>(value) = 0;
            return CUDA_SUCCESS;
        default:
            return refuse(CUDA_ERROR_NOT_SUPPORTED, "cuPointerGetAttribute: attribute %d is not simulated", attribute);
    }
}
