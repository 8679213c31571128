// Runs the blocks of a kernel one after another on the calling thread. The threads of a block are fibers, made only when
// a thread has to wait; a barrier or a warp operation switches between them.
#pragma once
#include "driver/core.h"
#include "kernel/abi.h"

namespace cusim {

// What a module exports, and where its static shared memory is: `sharedBytes`, starting `sharedOffset` before the anchor.
struct KernelImage {
    const CusimImage* exported = nullptr;
    size_t sharedOffset = 0;
    size_t sharedBytes = 0;
};

struct LaunchSize {
    CusimIndex grid, block;
    unsigned sharedBytes;
};

// Runs the kernel; CUDA_ERROR_LAUNCH_FAILED when its threads misuse a barrier, and the like. No other thread may run a
// kernel of this image meanwhile.
CUresult runKernel(const KernelImage& image, const CusimKernel& kernel, const std::string& name, void** arguments,
        const LaunchSize& size);

}  // namespace cusim
