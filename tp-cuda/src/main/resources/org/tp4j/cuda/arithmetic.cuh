// The functions of one and two arguments. The kernels that use them are files of their own, since a program compiles only
// what it uses and each kernel holds the code of every function.
#pragma once
#include "functions.cuh"
#include "loops.cuh"

#if defined(SCALAR_IS_INT32) || defined(SCALAR_IS_INT64) || defined(SCALAR_IS_BOOL)
#define SCALAR_IS_WHOLE
typedef int64 C; // what SCALAR is computed in: integers in 64 bits, which wrap around
#else
typedef Computed<SCALAR>::type C;
#endif

constexpr int N = 16 / sizeof(SCALAR);

#ifdef SCALAR_IS_WHOLE

// Overflow of signed integers is undefined in C++, that of unsigned ones wraps around as in Java.
__device__ __forceinline__ int64 add(int64 a, int64 b) {
    return (int64)((uint64)a + (uint64)b);
}
__device__ __forceinline__ int64 subtract(int64 a, int64 b) {
    return (int64)((uint64)a - (uint64)b);
}
__device__ __forceinline__ int64 multiply(int64 a, int64 b) {
    return (int64)((uint64)a * (uint64)b);
}
// There is nobody to throw an exception: a quotient by 0 is 0.
__device__ __forceinline__ int64 divide(int64 a, int64 b) {
    return b == 0 ? 0 : b == -1 ? subtract(0, a) : a / b;
}
__device__ __forceinline__ int64 larger(int64 a, int64 b) {
    return a > b ? a : b;
}
__device__ __forceinline__ int64 smaller(int64 a, int64 b) {
    return a < b ? a : b;
}

// What unary functions are given besides x: wholeA and wholeB are a and b where these are integers and for CLAMP.
struct Factors {
    double a;
    double b;
    int64 wholeA;
    int64 wholeB;
    int exact; // whether a is an integer
};

template <class Visitor> __device__ __forceinline__ void withUnary(int kernel, const Factors& k, Visitor visit) {
    switch (kernel) { // the order of UnaryKernel.java
        case 0:
            return visit([](C x) { return subtract(0, x); });
        case 1:
            return visit([](C x) { return x < 0 ? subtract(0, x) : x; });
        case 6:
            return visit([](C x) { return multiply(x, x); });
        case 8:
            return visit([](C x) { return larger(x, 0); });
        case 14:
            return visit([=](C x) { return k.exact ? multiply(x, k.wholeA) : saturatedLong(k.a * (double)x); });
        case 15:
            return visit([=](C x) { return k.exact ? add(x, k.wholeA) : saturatedLong((double)x + k.a); });
        case 16:
            return visit([=](C x) { return smaller(larger(x, k.wholeA), k.wholeB); });
        default:
            return visit([](C x) { return x == 0 ? (C)1 : (C)0; });
    }
}

template <class Visitor> __device__ __forceinline__ void withBinary(int kernel, Visitor visit) {
    switch (kernel) { // the order of BinaryKernel.java
        case 0:
            return visit([](C a, C b) { return add(a, b); });
        case 1:
            return visit([](C a, C b) { return subtract(a, b); });
        case 2:
            return visit([](C a, C b) { return multiply(a, b); });
        case 3:
            return visit([](C a, C b) { return divide(a, b); });
        case 4:
            return visit([](C a, C b) { return larger(a, b); });
        case 5:
            return visit([](C a, C b) { return smaller(a, b); });
        default: // RELU_GRAD
            return visit([](C a, C b) { return a > 0 ? b : (C)0; });
    }
}

#else

struct Factors {
    double a;
    double b;
};

template <class Visitor> __device__ __forceinline__ void withUnary(int kernel, const Factors& k, Visitor visit) {
    C a = (C)k.a;
    C b = (C)k.b;
    switch (kernel) { // the order of UnaryKernel.java
        case 0:
            return visit([](C x) { return -x; });
        case 1:
            return visit([](C x) { return magnitude(x); });
        case 2:
            return visit([](C x) { return exponential(x); });
        case 3:
            return visit([](C x) { return logarithm(x); });
        case 4:
            return visit([](C x) { return squareRoot(x); });
        case 5:
            return visit([](C x) { return inverseRoot(x); });
        case 6:
            return visit([](C x) { return x * x; });
        case 7:
            return visit([](C x) { return 1 / x; });
        case 8:
            return visit([](C x) { return relu(x); });
        case 9:
            return visit([](C x) { return gelu(x); });
        case 10:
            return visit([](C x) { return geluTanh(x); });
        case 11:
            return visit([](C x) { return silu(x); });
        case 12:
            return visit([](C x) { return sigmoid(x); });
        case 13:
            return visit([](C x) { return hyperbolicTangent(x); });
        case 14:
            return visit([=](C x) { return a * x; });
        case 15:
            return visit([=](C x) { return x + a; });
        case 16:
            return visit([=](C x) { return minimum(maximum(x, a), b); });
        default:
            return visit([](C x) { return x == 0 ? (C)1 : (C)0; });
    }
}

template <class Visitor> __device__ __forceinline__ void withBinary(int kernel, Visitor visit) {
    switch (kernel) { // the order of BinaryKernel.java
        case 0:
            return visit([](C a, C b) { return a + b; });
        case 1:
            return visit([](C a, C b) { return a - b; });
        case 2:
            return visit([](C a, C b) { return a * b; });
        case 3:
            return visit([](C a, C b) { return a / b; });
        case 4:
            return visit([](C a, C b) { return maximum(a, b); });
        case 5:
            return visit([](C a, C b) { return minimum(a, b); });
        case 14:
            return visit([](C x, C dy) { return Relu().gradient(x, dy); });
        case 15:
            return visit([](C x, C dy) { return Gelu().gradient(x, dy); });
        case 16:
            return visit([](C x, C dy) { return GeluTanh().gradient(x, dy); });
        case 17:
            return visit([](C x, C dy) { return Silu().gradient(x, dy); });
        case 18:
            return visit([](C y, C dy) { return y * (1 - y) * dy; });
        default:
            return visit([](C y, C dy) { return (1 - y * y) * dy; });
    }
}

#endif
