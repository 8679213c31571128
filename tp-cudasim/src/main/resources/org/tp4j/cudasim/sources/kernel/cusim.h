// CUDA C++ for the simulator: the simulated NVRTC puts this header in front of a kernel's source and compiles both with
// g++. Kernels are plain CUDA C++ and never include it.
//
// What a kernel source may use:
//  - extern "C" __global__ void name(Args args), with __launch_bounds__ if wanted; __device__ and __forceinline__
//    functions and templates; headers that are handed to nvrtcCreateProgram by name.
//  - __shared__ float tile[32]; and extern __shared__ float rows[]; as CUDA writes them (the latter inside of a function).
//    Shared memory holds 0xFF bytes when a block starts, and a write past its dynamic part is reported.
//  - threadIdx, blockIdx, blockDim, gridDim; __syncthreads and its _count, _and, _or; __syncwarp, __shfl_*_sync, __ballot_sync,
//    __any_sync, __all_sync; atomics on 32 and 64 bits; __ldg, __threadfence, __trap.
//  - vector types, min and max, the math and conversion functions of cusim_math.h.
//  - CUSIM is defined here and never on a GPU; __CUDA_ARCH__ is defined in both.
// What it cannot: variables in global memory (each stream may see its own), inline PTX, textures, cooperative groups, half types, threads of several blocks waiting for each other.
//
// The threads of a block run one after another, each up to its next barrier, in the order that CUSIM_ORDER names.
#pragma once
#include "abi.h"
#include "cusim_math.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __restrict__ __restrict
#define __constant__ static
// One copy for each thread of the host, and a block never leaves its thread. Nothing else in a module is thread-local, so
// the driver can fill all of it before each block.
#define __shared__ static thread_local

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned width = 1, unsigned height = 1, unsigned depth = 1) : x(width), y(height), z(depth) {}
};

static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
constexpr int warpSize = 32;

namespace cusim {

static const CusimRuntime* runtime;
// The most a block can have, and room to notice writes behind what it asked for.
alignas(1024) static unsigned char dynamicShared[232448 + 1024];

inline unsigned char* sharedAnchor() {
    static thread_local unsigned char anchor;
    return &anchor;
}

inline int lane() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % warpSize;
}

template <class T>
inline T exchange(unsigned mask, T value, int source) {
    static_assert(sizeof(T) <= sizeof(uint64_t), "warp shuffles move at most 8 bytes");
    uint64_t sent = 0;
    __builtin_memcpy(&sent, &value, sizeof value);
    uint64_t received = runtime->exchange(mask, sent, source);
    __builtin_memcpy(&value, &received, sizeof value);
    return value;
}

template <class F, class... A, size_t... I>
inline void call(F kernel, void** arguments, void (*)(A...), IndexList<I...>) {
    kernel(*static_cast<A*>(arguments[I])...);
}

// What the driver needs to launch one kernel.
template <auto KERNEL>
struct Entry;

template <class... A, void (*KERNEL)(A...)>
struct Entry<KERNEL> {
    static constexpr unsigned count = sizeof...(A);
    static constexpr unsigned bytes[] = {static_cast<unsigned>(sizeof(A))..., 0};
    static void run(void** arguments) {
        call(KERNEL, arguments, static_cast<void (*)(A...)>(nullptr), typename MakeIndexList<sizeof...(A)>::type());
    }
};

}  // namespace cusim

#define __syncthreads() cusim::runtime->barrier(__LINE__)
#define __syncthreads_count(predicate) cusim::runtime->vote(__LINE__, (predicate) != 0, CUSIM_COUNT)
#define __syncthreads_and(predicate) cusim::runtime->vote(__LINE__, (predicate) != 0, CUSIM_AND)
#define __syncthreads_or(predicate) cusim::runtime->vote(__LINE__, (predicate) != 0, CUSIM_OR)

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) {
    cusim::runtime->ballot(mask, 0);
}

inline unsigned __ballot_sync(unsigned mask, int predicate) {
    return cusim::runtime->ballot(mask, predicate);
}

inline int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}

inline int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, !predicate) == 0;
}

template <class T>
inline T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
    int lane = cusim::lane();
    return cusim::exchange(mask, value, lane / width * width + (source & (width - 1)));
}

template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int laneMask, int width = warpSize) {
    int lane = cusim::lane();
    int source = lane ^ laneMask;
    return cusim::exchange(mask, value, source / width <= lane / width ? source : lane);
}

template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    int lane = cusim::lane();
    return cusim::exchange(mask, value, lane % width + static_cast<int>(delta) < width ? lane + static_cast<int>(delta) : lane);
}

template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
    int lane = cusim::lane();
    return cusim::exchange(mask, value, lane % width >= static_cast<int>(delta) ? lane - static_cast<int>(delta) : lane);
}

template <class T>
inline T __ldg(const T* address) {
    return *address;
}

inline void __threadfence() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

inline void __threadfence_block() {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

inline void __trap() {
    cusim::runtime->trap("__trap");
}

// Kernels on several streams and devices may meet at one address, so these are the host's atomics.
namespace cusim {

template <class T, class F>
inline T update(T* address, F change) {
    T before, after;
    __atomic_load(address, &before, __ATOMIC_RELAXED);
    do after = change(before);
    while (!__atomic_compare_exchange(address, &before, &after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return before;
}

}  // namespace cusim

#define CUSIM_ATOMIC(NAME, TYPE, EXPRESSION)                                             \
    inline TYPE NAME(TYPE* address, TYPE value) {                                        \
        return cusim::update(address, [=](TYPE old) -> TYPE { return EXPRESSION; });     \
    }
#define CUSIM_INTEGER_ATOMICS(TYPE)                                \
    CUSIM_ATOMIC(atomicAdd, TYPE, old + value)                     \
    CUSIM_ATOMIC(atomicMin, TYPE, old < value ? old : value)       \
    CUSIM_ATOMIC(atomicMax, TYPE, old > value ? old : value)       \
    CUSIM_ATOMIC(atomicAnd, TYPE, old & value)                     \
    CUSIM_ATOMIC(atomicOr, TYPE, old | value)                      \
    CUSIM_ATOMIC(atomicXor, TYPE, old ^ value)                     \
    CUSIM_ATOMIC(atomicExch, TYPE, value)                          \
    inline TYPE atomicCAS(TYPE* address, TYPE compared, TYPE value) { \
        return cusim::update(address, [=](TYPE old) -> TYPE { return old == compared ? value : old; }); \
    }
CUSIM_INTEGER_ATOMICS(int)
CUSIM_INTEGER_ATOMICS(unsigned)
CUSIM_INTEGER_ATOMICS(unsigned long long)
CUSIM_ATOMIC(atomicSub, int, old - value)
CUSIM_ATOMIC(atomicSub, unsigned, old - value)
CUSIM_ATOMIC(atomicInc, unsigned, old >= value ? 0 : old + 1)
CUSIM_ATOMIC(atomicAdd, float, old + value)
CUSIM_ATOMIC(atomicAdd, double, old + value)
CUSIM_ATOMIC(atomicExch, float, value)

// Written behind the source by the simulated NVRTC.
#define CUSIM_IMAGE(ARCHITECTURE)                                                                             \
    extern "C" __attribute__((visibility("default"))) const CusimImage cusim_image = {ARCHITECTURE,           \
            reinterpret_cast<CusimIndex*>(&threadIdx), reinterpret_cast<CusimIndex*>(&blockIdx),              \
            reinterpret_cast<CusimIndex*>(&blockDim), reinterpret_cast<CusimIndex*>(&gridDim),                \
            &cusim::sharedAnchor, cusim::dynamicShared, sizeof cusim::dynamicShared, &cusim::runtime};
#define CUSIM_KERNEL(NAME, MAX_THREADS)                                                                       \
    extern "C" __attribute__((visibility("default"))) const CusimKernel cusim_kernel_##NAME = {               \
            &cusim::Entry<&NAME>::run, cusim::Entry<&NAME>::bytes, cusim::Entry<&NAME>::count, MAX_THREADS};
