// The functions of one and two arguments. The kernels that use them are files of their own, since a program compiles only
// what it uses and each kernel holds the code of every function.
#pragma once
#include "functions.cuh"
#include "loops.cuh"

#ifdef SCALAR_IS_WHOLE
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
// A kernel cannot throw: a quotient by 0 is 0.
__device__ __forceinline__ int64 divide(int64 a, int64 b) {
    return b == 0 ? 0 : b == -1 ? subtract(0, a) : a / b;
}
__device__ __forceinline__ int64 larger(int64 a, int64 b) {
    return a > b ? a : b;
}
__device__ __forceinline__ int64 smaller(int64 a, int64 b) {
    return a < b ? a : b;
}

#endif

// What unary functions are given besides x. Types of whole numbers use the integers too: wholeA and wholeB are a and b where
// these are integers and for CLAMP.
struct Factors {
    double a;
    double b;
    int64 wholeA;
    int64 wholeB;
    int exact; // whether a is an integer
};

#include "elementwise.cuh"
