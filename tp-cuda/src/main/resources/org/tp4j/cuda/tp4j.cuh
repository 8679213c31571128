// Shared by all kernels: element types and their conversion, sums over a warp and a block. No CUDA header is needed.
//
// Each source is compiled for one element type at a time: SCALAR names it, and the 16-bit floats are computed in float.
// A kernel is `extern "C" __global__ void name(NameArgs a)`: one struct, which is generated from its description in Java
// (package org.tp4j.cuda.internal.arguments) and included as `SOURCE_args.cuh`.
#pragma once

typedef long long int64;
typedef unsigned long long uint64;
typedef unsigned int uint32;
typedef unsigned char bool8;

struct bfloat16 {
    unsigned short bits;
};

struct float16 {
    unsigned short bits;
};

// A number that a kernel of a captured step reads from device memory, and any other kernel takes as an argument; see
// StepNumber.java.
struct StepNumber {
    const int64* where;
    int64 value;

    __device__ __forceinline__ int64 get() const {
        return where ? *where : value;
    }

    __device__ __forceinline__ double getDouble() const {
        return __longlong_as_double(get());
    }
};

// A type as a value.
template <class T> struct Type {
    typedef T type;
};

#include "codes.cuh"

// The type an element is computed in.
template <class T> struct Computed {
    typedef T type;
};
template <> struct Computed<bfloat16> {
    typedef float type;
};
template <> struct Computed<float16> {
    typedef float type;
};

__device__ __forceinline__ float toFloat(bfloat16 x) {
    return __uint_as_float((uint32)x.bits << 16);
}

// Without the instruction for it. To nearest, ties to even; a NaN stays one.
__device__ __forceinline__ bfloat16 roundToBfloat16(float x) {
    uint32 u = __float_as_uint(x);
    bfloat16 r;
    if ((u & 0x7fffffffu) > 0x7f800000u) {
        r.bits = (unsigned short)((u >> 16) | 0x40u);
    } else {
        r.bits = (unsigned short)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
    }
    return r;
}

#ifdef CUSIM
__device__ __forceinline__ bfloat16 toBfloat16(float x) {
    return roundToBfloat16(x);
}

__device__ __forceinline__ float toFloat(float16 x) {
    _Float16 h;
    __builtin_memcpy(&h, &x.bits, 2);
    return (float)h;
}

__device__ __forceinline__ float16 toFloat16(float x) {
    _Float16 h = (_Float16)x;
    float16 r;
    __builtin_memcpy(&r.bits, &h, 2);
    return r;
}
#else
__device__ __forceinline__ bfloat16 toBfloat16(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    bfloat16 r;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
    return r;
#else
    return roundToBfloat16(x);
#endif
}

__device__ __forceinline__ float toFloat(float16 x) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x.bits));
    return f;
}

__device__ __forceinline__ float16 toFloat16(float x) {
    float16 r;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r.bits) : "f"(x));
    return r;
}
#endif

// An element as what it is computed in.
template <class T> __device__ __forceinline__ typename Computed<T>::type load(T x) {
    return x;
}
template <> __device__ __forceinline__ float load<bfloat16>(bfloat16 x) {
    return toFloat(x);
}
template <> __device__ __forceinline__ float load<float16>(float16 x) {
    return toFloat(x);
}

// Floats as integers: towards zero, saturated, NaN is 0.
__device__ __forceinline__ int saturatedInt(double x) {
    return x != x ? 0 : x >= 2147483647.0 ? 2147483647 : x <= -2147483648.0 ? -2147483647 - 1 : (int)x;
}

__device__ __forceinline__ int64 saturatedLong(double x) {
    constexpr int64 MOST = 9223372036854775807LL;
    return x != x ? 0 : x >= 9223372036854775808.0 ? MOST : x <= -9223372036854775808.0 ? -MOST - 1 : (int64)x;
}

// A computed value as an element: floats rounded once to nearest even, integers as above, truth values by x != 0. 64 bits
// become 16 by way of 32, as on the CPU.
template <class T, class C> struct Stored {
    static __device__ __forceinline__ T of(C x) {
        return (T)x;
    }
};
template <class C> struct Stored<bfloat16, C> {
    static __device__ __forceinline__ bfloat16 of(C x) {
        return toBfloat16((float)x);
    }
};
template <class C> struct Stored<float16, C> {
    static __device__ __forceinline__ float16 of(C x) {
        return toFloat16((float)x);
    }
};
template <> struct Stored<bfloat16, int64> {
    static __device__ __forceinline__ bfloat16 of(int64 x) {
        return toBfloat16((float)(double)x);
    }
};
template <> struct Stored<float16, int64> {
    static __device__ __forceinline__ float16 of(int64 x) {
        return toFloat16((float)(double)x);
    }
};
template <class C> struct Stored<bool8, C> {
    static __device__ __forceinline__ bool8 of(C x) {
        return x != 0 ? 1 : 0;
    }
};
template <> struct Stored<int, float> {
    static __device__ __forceinline__ int of(float x) {
        return saturatedInt(x);
    }
};
template <> struct Stored<int, double> {
    static __device__ __forceinline__ int of(double x) {
        return saturatedInt(x);
    }
};
template <> struct Stored<int64, float> {
    static __device__ __forceinline__ int64 of(float x) {
        return saturatedLong(x);
    }
};
template <> struct Stored<int64, double> {
    static __device__ __forceinline__ int64 of(double x) {
        return saturatedLong(x);
    }
};
template <class T, class C> __device__ __forceinline__ T store(C x) {
    return Stored<T, C>::of(x);
}

// N elements that lie together, loaded and stored by accesses of up to 16 bytes.
template <class T, int N = 16 / sizeof(T)> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
    T at[N];
};

// Stores a pack in device memory by accesses of up to 16 bytes. A plain assignment does so on the simulator; nvcc and NVRTC
// split it into single elements on sm_90 where the values come out of a loop.
template <class T, int N> __device__ __forceinline__ void storeWhole(T* p, const Pack<T, N>& pack) {
#ifdef CUSIM
    *reinterpret_cast<Pack<T, N>*>(p) = pack;
#else
    const uint32* words = reinterpret_cast<const uint32*>(&pack);
    if constexpr (sizeof(pack) % 16 == 0) {
#pragma unroll
        for (int w = 0; w < (int)sizeof(pack) / 4; w += 4) {
            asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                         :
                         : "l"(reinterpret_cast<uint32*>(p) + w), "r"(words[w]), "r"(words[w + 1]), "r"(words[w + 2]),
                           "r"(words[w + 3])
                         : "memory");
        }
    } else if constexpr (sizeof(pack) == 8) {
        asm volatile("st.global.v2.u32 [%0], {%1, %2};" : : "l"(p), "r"(words[0]), "r"(words[1]) : "memory");
    } else {
        *reinterpret_cast<Pack<T, N>*>(p) = pack;
    }
#endif
}
