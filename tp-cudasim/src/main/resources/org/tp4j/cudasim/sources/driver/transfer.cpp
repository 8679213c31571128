// Copies and fills.
#include <cstring>

#include "driver/capture.h"
#include "driver/memory.h"

using namespace cusim;

namespace {

enum Side { HOST, DEVICE, EITHER };  // EITHER: told from the address, as the driver does with unified addressing

struct Place {
    uintptr_t address;
    Side side;
    Context* context;  // the device's, for DEVICE
};

// Checks one side of a copy and says what it is: device memory of any device or of `only`, pinned or plain host memory.
CUresult resolve(Place* place, size_t bytes, Context* only, const char* who, bool* pageable) {
    Allocation allocation;
    bool known = Memory::instance().find(place->address, &allocation);
    if (place->side == EITHER) place->side = known && allocation.kind == Allocation::DEVICE ? DEVICE : HOST;
    if (place->side == HOST) {
        if (known && allocation.kind == Allocation::DEVICE) {
            return refuse(CUDA_ERROR_INVALID_VALUE, "%s: %p is device memory where host memory belongs", who,
                    reinterpret_cast<void*>(place->address));
        }
        if (known && bytes > allocation.base + allocation.bytes - place->address) {
            return refuse(CUDA_ERROR_INVALID_VALUE, "%s: %zu bytes run past %zu bytes of pinned memory", who, bytes,
                    allocation.bytes);
        }
        if (!place->address) return refuse(CUDA_ERROR_INVALID_VALUE, "%s: null host address", who);
        *pageable = *pageable || !known;
        return CUDA_SUCCESS;
    }
    int device = only ? only->device : known ? allocation.device : -1;
    REQUIRE(checkDeviceRange(place->address, bytes, device, who));
    place->context = machine()[device].get();
    return CUDA_SUCCESS;
}

// Device memory of another device than the stream's is allowed between two devices only, as through a peer copy.
CUresult copy(Place to, Place from, size_t bytes, CUstream handle, const char* who, bool wait) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (wait) REQUIRE(Capture::forbidUnsafe(who));
    if (!bytes) return CUDA_SUCCESS;
    bool between = to.side != HOST && from.side != HOST;
    bool pageable = false;
    REQUIRE(resolve(&to, bytes, between ? nullptr : &stream->context, who, &pageable));
    REQUIRE(resolve(&from, bytes, between ? nullptr : &stream->context, who, &pageable));
    if (to.side == DEVICE && from.side == DEVICE && to.address < from.address + bytes &&
            from.address < to.address + bytes) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "%s: source and destination overlap", who);
    }

    void* target = reinterpret_cast<void*>(to.address);
    const void* source = reinterpret_cast<const void*>(from.address);
    bool captured = Capture::status(*stream, nullptr) != CU_STREAM_CAPTURE_STATUS_NONE;
    std::string name = std::string(who) + " " + std::to_string(bytes);
    if (pageable && from.side == HOST && !captured) {
        // The driver copies pageable memory aside before it returns, so the caller may change it at once.
        auto aside = std::make_shared<std::vector<char>>(
                static_cast<const char*>(source), static_cast<const char*>(source) + bytes);
        REQUIRE(enqueue(stream, {"copy", name, [=] { memcpy(target, aside->data(), bytes); }}));
    } else {
        REQUIRE(enqueue(stream, {"copy", name, [=] { memcpy(target, source, bytes); }}));
    }
    // Into pageable memory the driver returns when the copy is done; between devices it never waits.
    if ((wait && !(to.side == DEVICE && from.side == DEVICE)) || (pageable && to.side == HOST && !captured)) {
        stream->drain();
        return stream->context.sticky.load();
    }
    return CUDA_SUCCESS;
}

Place host(const void* address) {
    return {reinterpret_cast<uintptr_t>(address), HOST, nullptr};
}

Place device(CUdeviceptr address) {
    return {static_cast<uintptr_t>(address), DEVICE, nullptr};
}

Place either(CUdeviceptr address) {
    return {static_cast<uintptr_t>(address), EITHER, nullptr};
}

template <class T>
CUresult fill(CUdeviceptr address, T value, size_t count, CUstream handle, const char* who) {
    REQUIRE(ready());
    auto stream = Stream::of(handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    if (&stream->context != current()) {
        return refuse(CUDA_ERROR_INVALID_HANDLE, "%s: the stream is of device %d, but device %d is current", who,
                stream->context.device, current()->device);
    }
    if (address % sizeof(T)) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "%s: the address must be a multiple of %zu", who, sizeof(T));
    }
    REQUIRE(checkDeviceRange(address, count * sizeof(T), stream->context.device, who));
    return enqueue(stream, {"set", std::string(who) + " " + std::to_string(count * sizeof(T)), [=] {
                                T* values = reinterpret_cast<T*>(address);
                                for (size_t i = 0; i < count; i++) values[i] = value;
                            }});
}

}  // namespace

API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
    return copy(device(to), host(from), bytes, nullptr, "cuMemcpyHtoD", true);
}

API CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
    return copy(host(to), device(from), bytes, nullptr, "cuMemcpyDtoH", true);
}

API CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return copy(device(to), device(from), bytes, nullptr, "cuMemcpyDtoD", true);
}

API CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
    return copy(either(to), either(from), bytes, nullptr, "cuMemcpy", true);
}

API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    return copy(device(to), host(from), bytes, stream, "cuMemcpyHtoDAsync", false);
}

API CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy(host(to), device(from), bytes, stream, "cuMemcpyDtoHAsync", false);
}

API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy(device(to), device(from), bytes, stream, "cuMemcpyDtoDAsync", false);
}

API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copy(either(to), either(from), bytes, stream, "cuMemcpyAsync", false);
}

API CUresult cuMemcpyPeerAsync(
        CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream stream) {
    return copy(device(to), device(from), bytes, stream, "cuMemcpyPeerAsync", false);
}

API CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
    return copy(device(to), device(from), bytes, nullptr, "cuMemcpyPeer", true);
}

API CUresult cuMemsetD8_v2(CUdeviceptr address, unsigned char value, size_t count) {
    return fill<uint8_t>(address, value, count, nullptr, "cuMemsetD8");
}

API CUresult cuMemsetD16_v2(CUdeviceptr address, unsigned short value, size_t count) {
    return fill<uint16_t>(address, value, count, nullptr, "cuMemsetD16");
}

API CUresult cuMemsetD32_v2(CUdeviceptr address, unsigned value, size_t count) {
    return fill<uint32_t>(address, value, count, nullptr, "cuMemsetD32");
}

API CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char value, size_t count, CUstream stream) {
    return fill<uint8_t>(address, value, count, stream, "cuMemsetD8Async");
}

API CUresult cuMemsetD16Async(CUdeviceptr address, unsigned short value, size_t count, CUstream stream) {
    return fill<uint16_t>(address, value, count, stream, "cuMemsetD16Async");
}

API CUresult cuMemsetD32Async(CUdeviceptr address, unsigned value, size_t count, CUstream stream) {
    return fill<uint32_t>(address, value, count, stream, "cuMemsetD32Async");
}
