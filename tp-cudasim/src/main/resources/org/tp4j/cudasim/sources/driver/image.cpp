// Loading compiled kernels.
#include "driver/image.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/launch.h"

namespace cusim {

namespace {

// The exported image of a library; false when it has none.
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

}  // namespace

CUresult readImage(const void* image, std::string* bytes) {
    if (!memcmp(image, ELFMAG, SELFMAG)) {
        auto* header = static_cast<const Elf64_Ehdr*>(image);
        if (header->e_machine != EM_X86_64) {
            return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                    "cuModuleLoadData: this cubin is for a real GPU (ELF machine %d); the simulated NVRTC makes those that "
                    "run here", header->e_machine);
        }
        // The linker puts the table of sections last.
        size_t count = header->e_shoff + static_cast<size_t>(header->e_shnum) * header->e_shentsize;
        bytes->assign(static_cast<const char*>(image), count);
        return CUDA_SUCCESS;
    }
    // The simulated NVRTC's PTX names the file that holds the library.
    constexpr char PTX[] = "//CUSIM ";
    const char* text = static_cast<const char*>(image);
    if (strncmp(text, PTX, strlen(PTX))) {
        return refuse(CUDA_ERROR_INVALID_PTX, "cuModuleLoadData: PTX of a real compiler does not run on simulated devices");
    }
    text += strlen(PTX);
    std::ifstream file(std::string(text, strcspn(text, "\n")), std::ios::binary);
    bytes->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    return bytes->empty() ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}

Copy::~Copy() {
    if (library) dlclose(library);
    if (file >= 0) ::close(file);
}

const CusimKernel* Copy::kernel(const std::string& name) const {
    return static_cast<const CusimKernel*>(dlsym(library, ("cusim_kernel_" + name).c_str()));
}

// The file stays open as long as the copy lives: dlopen goes by names, and a number used again would be a name used again.
CUresult Module::loadCopy(std::shared_ptr<Copy>* made) {
    auto copy = std::make_shared<Copy>();
    copy->file = memfd_create("cusim-module", MFD_CLOEXEC);
    if (copy->file < 0 || ::write(copy->file, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    copy->library = dlopen(("/proc/self/fd/" + std::to_string(copy->file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!copy->library) return refuse(CUDA_ERROR_INVALID_IMAGE, "cuModuleLoadData: %s", dlerror());
    if (!findImage(copy->library, &copy->image)) {
        return refuse(CUDA_ERROR_INVALID_IMAGE, "cuModuleLoadData: a library without kernels");
    }
    *made = copy;
    return CUDA_SUCCESS;
}

CUresult Module::load() {
    REQUIRE(loadCopy(&first_));
    idle_.push_back(first_);
    return CUDA_SUCCESS;
}

std::shared_ptr<Copy> Module::take() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!idle_.empty()) {
            auto copy = idle_.back();
            idle_.pop_back();
            return copy;
        }
    }
    std::shared_ptr<Copy> copy;
    if (loadCopy(&copy) != CUDA_SUCCESS) abort();  // what could be loaded once can be loaded again
    return copy;
}

void Module::giveBack(std::shared_ptr<Copy> copy) {
    std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(copy));
}

}  // namespace cusim
