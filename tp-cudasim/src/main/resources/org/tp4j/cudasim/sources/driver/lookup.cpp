// Functions by name, as the CUDA runtime that JCuda's natives hold asks for them.
#include <dlfcn.h>

#include "driver/core.h"

API CUresult cuGetProcAddress_v2(
        const char* name, void** function, int, cuuint64_t, CUdriverProcAddressQueryResult* result) {
    static void* self = [] {
        Dl_info info;
        dladdr(reinterpret_cast<void*>(&cuInit), &info);
        return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    }();
    *function = nullptr;
    for (const char* version : {"_v3", "_v2", ""}) {
        *function = dlsym(self, (std::string(name) + version).c_str());
        if (*function) break;
    }
    if (result) *result = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

API CUresult cuGetProcAddress(const char* name, void** function, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}

// Undocumented tables of the driver: there are none, so the CUDA runtime API cannot start here.
API CUresult cuGetExportTable(const void** table, const CUuuid*) {
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}
