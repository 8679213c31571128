// Modules, functions, kernel launches.
#include <algorithm>
#include <cstring>

#include "driver/capture.h"
#include "driver/image.h"
#include "driver/launch.h"
#include "driver/memory.h"

namespace cusim {

Handles<Module, CUmodule>& modules() {
    static auto* handles = new Handles<Module, CUmodule>(0x55);
    return *handles;
}

Handles<Function, CUfunction>& functions() {
    static auto* handles = new Handles<Function, CUfunction>(0x56);
    return *handles;
}

namespace {

constexpr unsigned MAX_THREADS = 1024;
constexpr unsigned MAX_GRID_YZ = 65535;
constexpr unsigned MAX_BLOCK_Z = 64;
// Above this a kernel must ask for more by cuFuncSetAttribute, up to MAX_SHARED.
constexpr int DEFAULT_SHARED = 49152;
constexpr int MAX_SHARED = 232448;

// The value of each argument, as a launch copies them.
using Arguments = std::vector<std::vector<unsigned char>>;

size_t bytesOf(const CusimKernel& kernel) {
    size_t bytes = 0;
    for (unsigned i = 0; i < kernel.argumentCount; i++) bytes += kernel.argumentBytes[i];
    return bytes;
}

CUresult copyArguments(const Function& function, void** values, void** extra, Arguments* arguments) {
    const CusimKernel& kernel = *function.kernel;
    const char* name = function.name.c_str();
    if (values && extra) return CUDA_ERROR_INVALID_VALUE;
    const void* single = nullptr;
    if (extra) {
        // Pairs of a key and a value: 1, the buffer; 2, a pointer to its size; 0 ends.
        const size_t* bytes = nullptr;
        for (void** entry = extra; *entry; entry += 2) {
            if (entry[0] == reinterpret_cast<void*>(1)) single = entry[1];
            if (entry[0] == reinterpret_cast<void*>(2)) bytes = static_cast<const size_t*>(entry[1]);
        }
        if (!single || !bytes || kernel.argumentCount != 1 || *bytes != bytesOf(kernel)) {
            return refuse(CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel %s: a buffer of %zu bytes given, %u arguments of %zu "
                    "bytes expected", name, bytes ? *bytes : 0, kernel.argumentCount, bytesOf(kernel));
        }
    }
    for (unsigned i = 0; i < kernel.argumentCount; i++) {
        const void* value = single ? single : values ? values[i] : nullptr;
        if (!value) return refuse(CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel %s: argument %u is missing", name, i);
        auto* bytes = static_cast<const unsigned char*>(value);
        arguments->emplace_back(bytes, bytes + kernel.argumentBytes[i]);
    }
    return CUDA_SUCCESS;
}

// What looks like an address among the arguments must be memory that this device may touch.
CUresult checkAddresses(const Function& function, const Arguments& arguments) {
    Context& context = function.module->context;
    for (auto& argument : arguments) {
        for (size_t at = 0; at + sizeof(uintptr_t) <= argument.size(); at += sizeof(uintptr_t)) {
            uintptr_t word;
            memcpy(&word, argument.data() + at, sizeof word);
            if (word < uintptr_t{1} << 40 || word >> 47) continue;
            Allocation found;
            if (Memory::instance().find(word, &found)) {
                std::lock_guard<std::mutex> lock(context.mutex);
                if (found.kind != Allocation::DEVICE || found.device == context.device) continue;
                if (context.peers.count(found.device)) continue;
                return refuse(CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel %s: byte %zu of the arguments is an address on "
                        "device %d, the kernel runs on device %d", function.name.c_str(), at, found.device, context.device);
            }
            if (Memory::instance().isFreed(word)) {
                return refuse(CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel %s: byte %zu of the arguments is an address in "
                        "memory that was freed", function.name.c_str(), at);
            }
        }
    }
    return CUDA_SUCCESS;
}

CUresult checkSize(const Function& function, const LaunchSize& size) {
    const CusimIndex& grid = size.grid;
    const CusimIndex& block = size.block;
    bool empty = !grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z;
    uint64_t threads = static_cast<uint64_t>(block.x) * block.y * block.z;
    if (empty || grid.x > 2147483647u || grid.y > MAX_GRID_YZ || grid.z > MAX_GRID_YZ || block.z > MAX_BLOCK_Z ||
            threads > std::min(MAX_THREADS, function.kernel->maxThreads)) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel %s: grid (%u,%u,%u), block (%u,%u,%u) is out of range (at "
                "most %u threads a block)", function.name.c_str(), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                std::min(MAX_THREADS, function.kernel->maxThreads));
    }
    if (size.sharedBytes > static_cast<unsigned>(function.maxDynamicShared)) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "cuLaunchKernel %s: %u bytes of dynamic shared memory asked, %d allowed "
                "(more by CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, up to %d)", function.name.c_str(),
                size.sharedBytes, function.maxDynamicShared, MAX_SHARED);
    }
    return CUDA_SUCCESS;
}

}  // namespace

}  // namespace cusim

using namespace cusim;

API CUresult cuModuleLoadData(CUmodule* handle, const void* image) {
    REQUIRE(ready());
    if (!handle || !image) return CUDA_ERROR_INVALID_VALUE;
    REQUIRE(Capture::forbidUnsafe("cuModuleLoadData"));
    std::string bytes;
    REQUIRE(readImage(image, &bytes));
    auto module = std::make_shared<Module>(*current(), bytes);
    REQUIRE(module->load());
    int architecture = module->any().image.exported->architecture;
    if (architecture / 10 != 9 || architecture > 90) {
        return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "cuModuleLoadData: compiled for sm_%d, the simulated devices are sm_90",
                architecture);
    }
    *handle = modules().add(module);
    return CUDA_SUCCESS;
}

API CUresult cuModuleLoadDataEx(CUmodule* handle, const void* image, unsigned, int*, void**) {
    return cuModuleLoadData(handle, image);
}

API CUresult cuModuleUnload(CUmodule handle) {
    REQUIRE(ready());
    auto module = modules().remove(handle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    drainDevice(module->context);
    for (CUfunction function : module->handles) functions().remove(function);
    return CUDA_SUCCESS;
}

API CUresult cuModuleGetFunction(CUfunction* handle, CUmodule moduleHandle, const char* name) {
    REQUIRE(ready());
    auto module = modules().find(moduleHandle);
    if (!module) return CUDA_ERROR_INVALID_HANDLE;
    const CusimKernel* kernel = module->any().kernel(name);
    if (!kernel) return CUDA_ERROR_NOT_FOUND;
    std::lock_guard<std::mutex> lock(module->context.mutex);
    auto function = std::make_shared<Function>(Function{module, kernel, name, DEFAULT_SHARED});
    *handle = functions().add(function);
    module->handles.push_back(*handle);
    return CUDA_SUCCESS;
}

// Offset and size of one parameter, so that a caller can hold its own idea of the arguments against the kernel's.
API CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t* offset, size_t* bytes) {
    auto function = functions().find(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (index >= function->kernel->argumentCount) return CUDA_ERROR_INVALID_VALUE;
    *offset = 0;
    for (size_t i = 0; i <= index; i++) {
        size_t size = function->kernel->argumentBytes[i];
        size_t alignment = std::min<size_t>(size & -size, 16);
        *offset = (*offset + alignment - 1) / alignment * alignment;
        if (i < index) *offset += size;
    }
    if (bytes) *bytes = function->kernel->argumentBytes[index];
    return CUDA_SUCCESS;
}

API CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    REQUIRE(ready());
    auto function = functions().find(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_SUCCESS;  // only hints
    if (value < 0 || value > MAX_SHARED) return CUDA_ERROR_INVALID_VALUE;
    function->maxDynamicShared = value;
    return CUDA_SUCCESS;
}

API CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
    auto function = functions().find(handle);
    if (!function) return CUDA_ERROR_INVALID_HANDLE;
    switch (attribute) {
        case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
            *value = static_cast<int>(function->kernel->maxThreads);
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
            *value = function->maxDynamicShared;
            return CUDA_SUCCESS;
        case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        case CU_FUNC_ATTRIBUTE_PTX_VERSION:
            *value = function->module->any().image.exported->architecture;
            return CUDA_SUCCESS;
        default:
            *value = 0;  // registers, local memory: nothing here has them
            return CUDA_SUCCESS;
    }
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction handle, int threads, size_t sharedBytes) {
    if (!functions().find(handle) || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    int byThreads = 2048 / threads;
    int byShared = sharedBytes ? static_cast<int>(MAX_SHARED / sharedBytes) : 32;
    *blocks = std::min({byThreads, byShared, 32});
    return CUDA_SUCCESS;
}

API CUresult cuLaunchKernel(CUfunction handle, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
        unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream streamHandle, void** values, void** extra) {
    REQUIRE(ready());
    auto function = functions().find(handle);
    auto stream = Stream::of(streamHandle);
    if (!function || !stream) return CUDA_ERROR_INVALID_HANDLE;
    Context& context = function->module->context;
    if (&context != current() || &stream->context != current()) {
        return refuse(CUDA_ERROR_INVALID_HANDLE,
                "cuLaunchKernel %s: the function is of device %d, the stream of device %d, but device %d is current",
                function->name.c_str(), context.device, stream->context.device, current()->device);
    }
    LaunchSize size{{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes};
    REQUIRE(checkSize(*function, size));
    auto arguments = std::make_shared<Arguments>();
    REQUIRE(copyArguments(*function, values, extra, arguments.get()));
    REQUIRE(checkAddresses(*function, *arguments));
    return enqueue(stream, {"kernel", function->name, [function, size, arguments] {
                                std::vector<void*> pointers;
                                for (auto& value : *arguments) pointers.push_back(value.data());
                                Module& module = *function->module;
                                auto copy = module.take();
                                CUresult status = runKernel(copy->image, *copy->kernel(function->name), function->name,
                                        pointers.data(), size);
                                module.giveBack(copy);
                                if (status != CUDA_SUCCESS) module.context.fault(status);
                            }});
}
