// Floats as integers that order the same way, -0 below +0, and NaN where no number can push it out: maxima and minima of
// these integers keep NaN, those of NCCL's floats drop it. 16-bit floats are widened first.
#include "tp4j.cuh"
#include "loops.cuh"

typedef Computed<SCALAR>::type C;

#include "order_args.cuh"

// Integers as wide as C.
template <class T> struct Bits {};
template <> struct Bits<float> {
    typedef int type;
    static constexpr int LOWEST = -2147483647 - 1;
    static __device__ __forceinline__ int of(float x) {
        return __float_as_int(x);
    }
    static __device__ __forceinline__ float back(int bits) {
        return __int_as_float(bits);
    }
    static constexpr int NOT_A_NUMBER = 0x7fc00000;
};
template <> struct Bits<double> {
    typedef int64 type;
    static constexpr int64 LOWEST = -9223372036854775807LL - 1;
    static __device__ __forceinline__ int64 of(double x) {
        return __double_as_longlong(x);
    }
    static __device__ __forceinline__ double back(int64 bits) {
        return __longlong_as_double(bits);
    }
    static constexpr int64 NOT_A_NUMBER = 0x7ff8000000000000LL;
};

typedef Bits<C> B;
typedef B::type I;

constexpr I HIGHEST = -1 - B::LOWEST;

// Negative floats have their order reversed: all bits but the sign are turned over. Applied twice it changes nothing.
__device__ __forceinline__ I reversed(I bits) {
    return bits < 0 ? bits ^ HIGHEST : bits;
}

extern "C" __global__ void toOrder(OrderArgs a) {
    I* bits = (I*)a.bits;
    I none = a.nanIsLowest ? B::LOWEST : HIGHEST;
    for (int64 i = threadOfGrid(); i < a.n; i += threadsOfGrid()) {
        C x = load(a.x[i]);
        bits[i] = x != x ? none : reversed(B::of(x));
    }
}

extern "C" __global__ void fromOrder(OrderArgs a) {
    const I* bits = (const I*)a.bits;
    for (int64 i = threadOfGrid(); i < a.n; i += threadsOfGrid()) {
        C x = B::back(reversed(bits[i]));
        a.x[i] = store<SCALAR>(x != x ? B::back(B::NOT_A_NUMBER) : x);
    }
}
