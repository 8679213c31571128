// What the elementwise functions and activations are made of; their expressions are in UnaryFunction.java and
// BinaryFunction.java, from where elementwise.cuh and activations.cuh are generated.
#pragma once
#include "tp4j.cuh"

// ---- maxima and minima: NaN if either is, -0 below 0

__device__ __forceinline__ float maximum(float a, float b) {
    if (a == b) {
        return __uint_as_float(__float_as_uint(a) & __float_as_uint(b)); // of two zeros the positive one
    }
    return a > b || a != a ? a : b;
}

__device__ __forceinline__ float minimum(float a, float b) {
    if (a == b) {
        return __uint_as_float(__float_as_uint(a) | __float_as_uint(b));
    }
    return a < b || a != a ? a : b;
}

__device__ __forceinline__ double maximum(double a, double b) {
    if (a == b) {
        return __longlong_as_double(__double_as_longlong(a) & __double_as_longlong(b));
    }
    return a > b || a != a ? a : b;
}

__device__ __forceinline__ double minimum(double a, double b) {
    if (a == b) {
        return __longlong_as_double(__double_as_longlong(a) | __double_as_longlong(b));
    }
    return a < b || a != a ? a : b;
}

// ---- activations in 32 bits
//
// As on the CPU (ScalarMath.java, where the polynomials come from): f(x) = max(x, 0) - a T(a) with a = |x|, and the slope
// is D(a) for negative x, 1 - D(a) otherwise. There is no cancellation in either tail, and every denominator lies between
// 1 and 5, where the fast reciprocal is good to 1 ulp. Arguments are cut off where the exponential has become 0, so that
// the limits at the infinities come out; NaN passes every comparison and stays.

__device__ __forceinline__ float cutOff(float x, float limit) {
    float a = fabsf(x);
    return a > limit ? limit : a;
}

constexpr float EXP_LIMIT = 105.0f;  // e^-105 is 0
constexpr float GELU_LIMIT = 14.5f;  // e^(-14.5^2/2) is 0; the Mills ratio's polynomial holds up to 15

__device__ __forceinline__ float reciprocalNearOne(float x) {
    return __fdividef(1.0f, x);
}

__device__ __forceinline__ float positivePart(float x) {
    return x < 0 ? 0 : x;
}

__device__ __forceinline__ float slopeOf(float x, float d) {
    return x < 0 ? d : 1 - d;
}

// Results that are rounded to 16 bits need no more than the instruction for 2^x: for |x| up to 105 it is good to 2^-16.
constexpr bool ROUNDS_TO_HALF = sizeof(SCALAR) == 2;

__device__ __forceinline__ float activationExp(float x) {
    return ROUNDS_TO_HALF ? __expf(x) : expf(x);
}

// e^(-a^2/2): what rounding a^2/2 has lost counts up to 100-fold, which 32 bits notice.
__device__ __forceinline__ float gauss(float a) {
    float half = a * -0.5f;
    float z = a * half;
    float e = activationExp(z);
    if (ROUNDS_TO_HALF) {
        return e;
    }
    float lost = fmaf(a, half, -z);
    return fmaf(e, lost, e);
}

// e^(a^2/2) Phi(-a) for 0 <= a <= 15.
__device__ __forceinline__ float mills(float a) {
    float t = reciprocalNearOne(fmaf(a, 0.27f, 1.0f));
    float p = fmaf(t, 0.028995613f, -0.12665917f);
    p = fmaf(p, t, 0.17015715f);
    p = fmaf(p, t, -0.06965181f);
    p = fmaf(p, t, 0.10814333f);
    p = fmaf(p, t, 0.071908005f);
    p = fmaf(p, t, 0.10184864f);
    p = fmaf(p, t, 0.10753726f);
    return fmaf(p, t, 0.107721f) * t;
}

__device__ __forceinline__ float gelu(float x) {
    float a = cutOff(x, GELU_LIMIT);
    return positivePart(x) - a * (gauss(a) * mills(a));
}

__device__ __forceinline__ float geluSlope(float x) {
    float a = cutOff(x, GELU_LIMIT);
    return slopeOf(x, gauss(a) * fmaf(a, -0.3989423f, mills(a)));
}

// The tanh approximation is x sigmoid(x (C1 + C2 x^2)).
constexpr float TANH_C1 = 1.5957692f;
constexpr float TANH_C2 = 0.071354814f;

__device__ __forceinline__ float geluTanhExponential(float a) {
    float u = a * fmaf(a * a, TANH_C2, TANH_C1);
    return activationExp(-(u > EXP_LIMIT ? EXP_LIMIT : u));
}

__device__ __forceinline__ float geluTanh(float x) {
    float a = cutOff(x, GELU_LIMIT);
    float e = geluTanhExponential(a);
    return positivePart(x) - a * (e * reciprocalNearOne(e + 1));
}

__device__ __forceinline__ float geluTanhSlope(float x) {
    float a = cutOff(x, GELU_LIMIT);
    float e = geluTanhExponential(a);
    float r = reciprocalNearOne(e + 1);
    float q = e * r;
    return slopeOf(x, q - q * r * a * fmaf(a * a, 3 * TANH_C2, TANH_C1));
}

__device__ __forceinline__ float silu(float x) {
    float a = cutOff(x, EXP_LIMIT);
    float e = activationExp(-a);
    return positivePart(x) - a * (e * reciprocalNearOne(e + 1));
}

__device__ __forceinline__ float siluSlope(float x) {
    float a = cutOff(x, EXP_LIMIT);
    float e = activationExp(-a);
    float r = reciprocalNearOne(e + 1);
    float q = e * r;
    return slopeOf(x, q - q * r * a);
}

__device__ __forceinline__ float sigmoid(float x) {
    float e = activationExp(-cutOff(x, EXP_LIMIT));
    return (x < 0 ? e : 1) * reciprocalNearOne(e + 1);
}

__device__ __forceinline__ float exponential(float x) {
    return expf(x);
}

__device__ __forceinline__ float logarithm(float x) {
    return logf(x);
}

__device__ __forceinline__ float squareRoot(float x) {
    return sqrtf(x);
}

__device__ __forceinline__ float inverseRoot(float x) {
    return rsqrtf(x);
}

__device__ __forceinline__ float power(float x, float a) {
    return powf(x, a);
}

__device__ __forceinline__ float hyperbolicTangent(float x) {
    return tanhf(x);
}

__device__ __forceinline__ float magnitude(float x) {
    return fabsf(x);
}

// ---- activations in 64 bits, as their definitions read

__device__ __forceinline__ double sigmoid(double x) {
    double e = exp(-fabs(x));
    return (x >= 0 ? 1 : e) / (1 + e);
}

__device__ __forceinline__ double normalDistribution(double x) {
    return 0.5 * erfc(-x * 0.70710678118654752440);
}

__device__ __forceinline__ bool isInfinite(double x) {
    return fabs(x) > 1.7976931348623157e308;
}

__device__ __forceinline__ double gelu(double x) {
    return isInfinite(x) && x < 0 ? -0.0 : x * normalDistribution(x);
}

__device__ __forceinline__ double geluSlope(double x) {
    if (isInfinite(x)) {
        return x > 0 ? 1 : 0;
    }
    return normalDistribution(x) + x * 0.39894228040143267794 * exp(-0.5 * x * x);
}

constexpr double TWICE_SQRT_2_OVER_PI = 1.5957691216057307118;
constexpr double GELU_CUBIC = 0.044715;

__device__ __forceinline__ double geluTanh(double x) {
    double u = TWICE_SQRT_2_OVER_PI * (x + GELU_CUBIC * x * x * x);
    return isInfinite(x) && x < 0 ? -0.0 : x * sigmoid(u);
}

__device__ __forceinline__ double geluTanhSlope(double x) {
    if (isInfinite(x)) {
        return x > 0 ? 1 : 0;
    }
    double u = TWICE_SQRT_2_OVER_PI * (x + GELU_CUBIC * x * x * x);
    double s = sigmoid(u);
    double slope = s * sigmoid(-u);
    // s (1 - s) underflows long before x^3 overflows
    return slope == 0 ? s : s + x * slope * TWICE_SQRT_2_OVER_PI * (1 + 3 * GELU_CUBIC * x * x);
}

__device__ __forceinline__ double silu(double x) {
    return isInfinite(x) && x < 0 ? -0.0 : x * sigmoid(x);
}

__device__ __forceinline__ double siluSlope(double x) {
    if (isInfinite(x)) {
        return x > 0 ? 1 : 0;
    }
    double s = sigmoid(x);
    return s + x * s * sigmoid(-x);
}

__device__ __forceinline__ double exponential(double x) {
    return exp(x);
}

__device__ __forceinline__ double logarithm(double x) {
    return log(x);
}

__device__ __forceinline__ double squareRoot(double x) {
    return sqrt(x);
}

__device__ __forceinline__ double inverseRoot(double x) {
    return 1 / sqrt(x);
}

__device__ __forceinline__ double power(double x, double a) {
    return pow(x, a);
}

__device__ __forceinline__ double hyperbolicTangent(double x) {
    return tanh(x);
}

__device__ __forceinline__ double magnitude(double x) {
    return fabs(x);
}

// max(x, 0); NaN stays, -0 becomes 0.
template <class C> __device__ __forceinline__ C relu(C x) {
    return x <= 0 ? 0 : x;
}

#include "activations.cuh"
