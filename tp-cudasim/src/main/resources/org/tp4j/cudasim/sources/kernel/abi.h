// What a compiled kernel module and the simulated driver know of each other. Included by both.
#pragma once
#include <stddef.h>
#include <stdint.h>

// As uint3 and dim3.
struct CusimIndex {
    unsigned x, y, z;
};

enum CusimVote { CUSIM_COUNT, CUSIM_AND, CUSIM_OR };

// What the driver does for a running thread of a block.
struct CusimRuntime {
    // __syncthreads at a source line, and its voting forms.
    void (*barrier)(int line);
    int (*vote)(int line, int predicate, int kind);
    // The value that lane `source` of the warp hands in; all ones when that lane takes no part.
    uint64_t (*exchange)(unsigned mask, uint64_t value, int source);
    unsigned (*ballot)(unsigned mask, int predicate);
    // Ends the kernel.
    void (*trap)(const char* why);
};

// One per module, exported as cusim_image.
struct CusimImage {
    int architecture;  // 90 for sm_90
    struct CusimIndex *threadIdx, *blockIdx, *blockDim, *gridDim;
    // A thread-local variable of the module. All others are its static shared variables, so that the block of
    // thread-local memory around it is the shared memory of a block of threads.
    unsigned char* (*sharedAnchor)();
    unsigned char* dynamicShared;
    size_t dynamicBytes;
    const struct CusimRuntime** runtime;
};

// One per kernel, exported as cusim_kernel_NAME.
struct CusimKernel {
    void (*run)(void** arguments);
    const unsigned* argumentBytes;
    unsigned argumentCount;
    unsigned maxThreads;  // of __launch_bounds__, 1024 without
};
