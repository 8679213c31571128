#include <dlfcn.h>
#include <link.h>

#include "driver/block.h"

namespace cusim {

bool findImage(void* library, KernelImage* image) {
    image->exported = static_cast<const CusimImage*>(dlsym(library, "cusim_image"));
    if (!image->exported) return false;
    image->exported->sharedAnchor();  // makes the thread-local memory of the library exist here
    dl_iterate_phdr(
            [](dl_phdr_info* info, size_t, void* data) {
                auto* image = static_cast<KernelImage*>(data);
                auto address = reinterpret_cast<uintptr_t>(image->exported);
                const ElfW(Phdr)* local = nullptr;
                bool holds = false;
                for (int i = 0; i < info->dlpi_phnum; i++) {
                    const ElfW(Phdr)& part = info->dlpi_phdr[i];
                    uintptr_t start = info->dlpi_addr + part.p_vaddr;
                    if (part.p_type == PT_TLS) local = &part;
                    holds = holds || (part.p_type == PT_LOAD && address >= start && address < start + part.p_memsz);
                }
                if (!holds) return 0;
                if (local && info->dlpi_tls_data) {
                    auto* begin = static_cast<unsigned char*>(info->dlpi_tls_data);
                    image->sharedOffset = image->exported->sharedAnchor() - begin;
                    image->sharedBytes = local->p_memsz;
                }
                return 1;
            },
            image);
    return true;
}

}  // namespace cusim
