// Devices, contexts, initialization.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "driver/capture.h"
#include "driver/leaks.h"
#include "driver/memory.h"

namespace cusim {

namespace {

std::atomic<bool> initialized{false};
std::mutex initialization;
thread_local Context* currentContext = nullptr;
thread_local std::vector<Context*> pushed;
thread_local int hostFunctions = 0;

Context* deviceAt(CUdevice device) {
    return device >= 0 && device < static_cast<CUdevice>(devices().size()) ? devices()[device] : nullptr;
}

// The devices that CUDA_VISIBLE_DEVICES names, in its order; the list ends at the first wrong entry, as with the driver.
std::vector<Context*> visible() {
    std::vector<Context*> list;
    const char* chosen = getenv("CUDA_VISIBLE_DEVICES");
    if (!chosen) {
        for (auto& context : machine()) list.push_back(context.get());
        return list;
    }
    std::stringstream entries(chosen);
    std::string entry;
    while (std::getline(entries, entry, ',')) {
        char* end = nullptr;
        long ordinal = strtol(entry.c_str(), &end, 10);
        if (end == entry.c_str() || ordinal < 0 || ordinal >= static_cast<long>(machine().size())) break;
        list.push_back(machine()[ordinal].get());
    }
    return list;
}

}  // namespace

std::vector<std::unique_ptr<Context>>& machine() {
    static auto* all = [] {
        auto* made = new std::vector<std::unique_ptr<Context>>;
        for (long i = 0; i < setting("CUSIM_DEVICES", 8); i++) made->push_back(std::make_unique<Context>(i));
        return made;
    }();
    return *all;
}

std::vector<Context*>& devices() {
    static auto* list = new std::vector<Context*>;
    return *list;
}

Context* contextOf(CUcontext handle) {
    for (Context* context : devices()) {
        if (context->handle() == handle) return context;
    }
    return nullptr;
}

Context*& current() {
    return currentContext;
}

size_t deviceBytes() {
    static const size_t bytes = static_cast<size_t>(setting("CUSIM_MEM_MB", 4096)) << 20;
    return bytes;
}

CUresult ready() {
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (hostFunctions) return refuse(CUDA_ERROR_NOT_PERMITTED, "a host function called the driver");
    if (!currentContext) return CUDA_ERROR_INVALID_CONTEXT;
    if (!currentContext->references) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return currentContext->sticky.load();
}

InsideHostFunction::InsideHostFunction() {
    ++hostFunctions;
}

InsideHostFunction::~InsideHostFunction() {
    --hostFunctions;
}

}  // namespace cusim

using namespace cusim;

API CUresult cuInit(unsigned flags) {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard<std::mutex> lock(initialization);
    if (!initialized) {
        say("simulated CUDA devices on host memory: not a GPU, no timing means anything");
        devices() = visible();
        installFaultHandler();
        installLeakReport();
        initialized = true;
    }
    return devices().empty() ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}

API CUresult cuDriverGetVersion(int* version) {
    static const int simulated = setting("CUSIM_DRIVER_VERSION", 12060);
    *version = simulated;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetCount(int* count) {
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    *count = static_cast<int>(devices().size());
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (!deviceAt(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
    if (!deviceAt(device)) return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, length, "CUDA simulation on host memory, device %d", deviceAt(device)->device);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
    if (!deviceAt(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = deviceBytes();
    return CUDA_SUCCESS;
}

API CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
    if (!deviceAt(device)) return CUDA_ERROR_INVALID_DEVICE;
    *major = 9;
    *minor = 0;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
    if (!deviceAt(device)) return CUDA_ERROR_INVALID_DEVICE;
    memset(uuid, 0, sizeof *uuid);
    memcpy(uuid->bytes, "cusim", 5);
    uuid->bytes[15] = static_cast<char>(deviceAt(device)->device);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
    return cuDeviceGetUuid(uuid, device);
}

API CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
    if (!deviceAt(device)) return CUDA_ERROR_INVALID_DEVICE;
    snprintf(text, length, "0000:%02x:00.0", deviceAt(device)->device + 1);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
    if (!deviceAt(device)) return CUDA_ERROR_INVALID_DEVICE;
    static const int capability = static_cast<int>(setting("CUSIM_CAPABILITY", 90));
    static const std::map<int, int> values = {
            {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
            {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
            {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
            {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
            {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
            {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
            {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
            {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
            {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
            {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
            {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
            {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 64},
            {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 4194304},
            {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
            {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
            {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
            {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, capability / 10},
            {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, capability % 10},
            {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
            {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
            {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    };
    auto at = values.find(attribute);
    *value = attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ? deviceAt(device)->device + 1
            : at == values.end()                         ? 0
                                                         : at->second;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (!deviceAt(device)) return CUDA_ERROR_INVALID_DEVICE;
    ++deviceAt(device)->references;
    *context = deviceAt(device)->handle();
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    if (!deviceAt(device)) return CUDA_ERROR_INVALID_DEVICE;
    if (deviceAt(device)->references <= 0) return CUDA_ERROR_INVALID_CONTEXT;
    --deviceAt(device)->references;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
    if (!deviceAt(device)) return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *active = deviceAt(device)->references > 0;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSetCurrent(CUcontext handle) {
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (handle && !contextOf(handle)) return CUDA_ERROR_INVALID_CONTEXT;
    currentContext = contextOf(handle);
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext* handle) {
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    *handle = currentContext ? currentContext->handle() : nullptr;
    return CUDA_SUCCESS;
}

API CUresult cuCtxPushCurrent_v2(CUcontext handle) {
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (!contextOf(handle)) return CUDA_ERROR_INVALID_CONTEXT;
    pushed.push_back(currentContext);
    currentContext = contextOf(handle);
    return CUDA_SUCCESS;
}

API CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
    if (!currentContext) return CUDA_ERROR_INVALID_CONTEXT;
    if (handle) *handle = currentContext->handle();
    currentContext = pushed.empty() ? nullptr : pushed.back();
    if (!pushed.empty()) pushed.pop_back();
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetDevice(CUdevice* device) {
    if (!initialized) return CUDA_ERROR_NOT_INITIALIZED;
    if (!currentContext) return CUDA_ERROR_INVALID_CONTEXT;
    *device = std::find(devices().begin(), devices().end(), currentContext) - devices().begin();
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
    *version = 3020;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
    if (!deviceAt(device) || !deviceAt(peer)) return CUDA_ERROR_INVALID_DEVICE;
    *can = device != peer;
    return CUDA_SUCCESS;
}

API CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
    REQUIRE(ready());
    Context* peer = contextOf(handle);
    if (!peer || peer == currentContext || flags) return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard<std::mutex> lock(currentContext->mutex);
    return currentContext->peers.insert(peer->device).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

API CUresult cuCtxDisablePeerAccess(CUcontext handle) {
    REQUIRE(ready());
    Context* peer = contextOf(handle);
    if (!peer) return CUDA_ERROR_INVALID_CONTEXT;
    std::lock_guard<std::mutex> lock(currentContext->mutex);
    return currentContext->peers.erase(peer->device) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

API CUresult cuProfilerStart() {
    return CUDA_SUCCESS;
}

API CUresult cuProfilerStop() {
    return CUDA_SUCCESS;
}
