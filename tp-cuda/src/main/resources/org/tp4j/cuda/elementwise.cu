// Elementwise functions of one and two arguments.
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

__device__ __forceinline__ bool holds(int kernel, C a, C b) {
    switch (kernel) { // the order of BinaryKernel.java
        case 6:
            return a == b;
        case 7:
            return a != b;
        case 8:
            return a < b;
        case 9:
            return a <= b;
        case 10:
            return a > b;
        case 11:
            return a >= b;
        case 12:
            return a != 0 && b != 0;
        default:
            return a != 0 || b != 0;
    }
}

// ---- out = kernel(x; a, b)

struct UnaryArgs {
    const SCALAR* x;
    SCALAR* out;
    int64 n;
    int kernel;
    Factors factors;
};

extern "C" __global__ void unary(UnaryArgs a) {
    int64 head = headOf<N>(a.out);
    Source<SCALAR, N> x(a.x, 1, head);
    withUnary(a.kernel, a.factors, [&](auto f) {
        forPacks<N>(a.n, head, [&](int64 i, auto count) {
            constexpr int M = decltype(count)::value;
            Pack<SCALAR, M> pack = x.get(i, count);
#pragma unroll
            for (int k = 0; k < M; k++) {
                pack.at[k] = store<SCALAR>(f((C)load(pack.at[k])));
            }
            storePack(a.out + i, pack);
        });
    });
}

// ---- out = kernel(a, b), each operand of out's size or one number

struct BinaryArgs {
    const SCALAR* a;
    const SCALAR* b;
    SCALAR* out;
    int64 n;
    int64 aStep;
    int64 bStep;
    int kernel;
};

extern "C" __global__ void binary(BinaryArgs a) {
    int64 head = headOf<N>(a.out);
    Source<SCALAR, N> left(a.a, a.aStep, head);
    Source<SCALAR, N> right(a.b, a.bStep, head);
    withBinary(a.kernel, [&](auto f) {
        forPacks<N>(a.n, head, [&](int64 i, auto count) {
            constexpr int M = decltype(count)::value;
            Pack<SCALAR, M> x = left.get(i, count);
            Pack<SCALAR, M> y = right.get(i, count);
#pragma unroll
            for (int k = 0; k < M; k++) {
                x.at[k] = store<SCALAR>(f((C)load(x.at[k]), (C)load(y.at[k])));
            }
            storePack(a.out + i, x);
        });
    });
}

// ---- out = kernel(a, b), broadcast

struct BroadcastArgs {
    Box box;
    int64 strides[2][MAX_DIMS];
    const SCALAR* a;
    const SCALAR* b;
    void* out;
    int64 n;
    int kernel;
};

// each(i, left pack, right pack) for all elements of out, `head` being its first aligned one. Code for every way an operand
// can lie, so the function is chosen within, once a pack; the choice is the same for all threads.
template <class Each> __device__ __forceinline__ void forBroadcast(const BroadcastArgs& a, int64 head, Each each) {
    bool inRuns = packsStayInRuns<N>(a.box, head);
    bool aPacked = loadsPacks<N>(a.box, a.strides[0], a.a, head);
    bool bPacked = loadsPacks<N>(a.box, a.strides[1], a.b, head);
    forPacks<N>(a.n, head, [&](int64 i, auto count) {
        constexpr int M = decltype(count)::value;
        Pack<SCALAR, M> x;
        Pack<SCALAR, M> y;
        if (M > 1 && inRuns) {
            Place<2> place(a.box, a.strides, (uint32)i);
            x = loadRun<M>(a.a, place.at[0], a.strides[0][0], aPacked);
            y = loadRun<M>(a.b, place.at[1], a.strides[1][0], bPacked);
        } else {
#pragma unroll
            for (int k = 0; k < M; k++) {
                Place<2> place(a.box, a.strides, (uint32)(i + k));
                x.at[k] = a.a[place.at[0]];
                y.at[k] = a.b[place.at[1]];
            }
        }
        each(i, x, y);
    });
}

extern "C" __global__ void binaryBroadcast(BroadcastArgs a) {
    SCALAR* out = (SCALAR*)a.out;
    forBroadcast(a, headOf<N>(out), [&](int64 i, auto x, auto y) {
        constexpr int M = sizeof(x) / sizeof(SCALAR);
        withBinary(a.kernel, [&](auto f) {
#pragma unroll
            for (int k = 0; k < M; k++) {
                x.at[k] = store<SCALAR>(f((C)load(x.at[k]), (C)load(y.at[k])));
            }
        });
        storePack(out + i, x);
    });
}

// out = kernel(a, b) as truth values.
extern "C" __global__ void compare(BroadcastArgs a) {
    bool8* out = (bool8*)a.out;
    forBroadcast(a, headOf<N>(out), [&](int64 i, auto x, auto y) {
        constexpr int M = sizeof(x) / sizeof(SCALAR);
        Pack<bool8, M> result;
#pragma unroll
        for (int k = 0; k < M; k++) {
            result.at[k] = holds(a.kernel, (C)load(x.at[k]), (C)load(y.at[k])) ? 1 : 0;
        }
        storePack(out + i, result);
    });
}

// ---- y += alpha x

struct AddScaledArgs {
    const SCALAR* x;
    SCALAR* y;
    int64 n;
    Factors factors;
};

__device__ __forceinline__ C plusScaled(const Factors& k, C y, C x) {
#ifdef SCALAR_IS_WHOLE
    if (k.exact) {
        return add(y, multiply(k.wholeA, x));
    }
    return (C)store<SCALAR>(__dadd_rn((double)y, __dmul_rn(k.a, (double)x))); // truncated, so no bit may differ
#else
    return y + (C)k.a * x;
#endif
}

extern "C" __global__ void addScaled(AddScaledArgs a) {
    int64 head = headOf<N>(a.y);
    Source<SCALAR, N> from(a.x, 1, head);
    forPacks<N>(a.n, head, [&](int64 i, auto count) {
        constexpr int M = decltype(count)::value;
        Pack<SCALAR, M> x = from.get(i, count);
        Pack<SCALAR, M> y = loadPack<M>(a.y + i);
#pragma unroll
        for (int k = 0; k < M; k++) {
            y.at[k] = store<SCALAR>(plusScaled(a.factors, (C)load(y.at[k]), (C)load(x.at[k])));
        }
        storePack(a.y + i, y);
    });
}
