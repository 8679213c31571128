// Vector types, math and conversion functions of CUDA C++ on the host, for cusim.h. Functions that the C library has
// under the same name, with their overloads for float, come from there.
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// As float2, float4 and so on, with CUDA's alignment.
#define CUSIM_VECTOR2(NAME, TYPE)                              \
    struct alignas(2 * sizeof(TYPE)) NAME##2 {                 \
        TYPE x, y;                                             \
    };                                                         \
    inline NAME##2 make_##NAME##2(TYPE x, TYPE y) {            \
        return {x, y};                                         \
    }
#define CUSIM_VECTOR4(NAME, TYPE, ALIGNMENT)                         \
    struct alignas(ALIGNMENT) NAME##4 {                              \
        TYPE x, y, z, w;                                             \
    };                                                               \
    inline NAME##4 make_##NAME##4(TYPE x, TYPE y, TYPE z, TYPE w) {  \
        return {x, y, z, w};                                         \
    }
CUSIM_VECTOR2(char, signed char)
CUSIM_VECTOR2(uchar, unsigned char)
CUSIM_VECTOR2(short, short)
CUSIM_VECTOR2(ushort, unsigned short)
CUSIM_VECTOR2(int, int)
CUSIM_VECTOR2(uint, unsigned)
CUSIM_VECTOR2(float, float)
CUSIM_VECTOR2(double, double)
CUSIM_VECTOR2(longlong, long long)
CUSIM_VECTOR2(ulonglong, unsigned long long)
CUSIM_VECTOR4(char, signed char, 4)
CUSIM_VECTOR4(uchar, unsigned char, 4)
CUSIM_VECTOR4(short, short, 8)
CUSIM_VECTOR4(ushort, unsigned short, 8)
CUSIM_VECTOR4(int, int, 16)
CUSIM_VECTOR4(uint, unsigned, 16)
CUSIM_VECTOR4(float, float, 16)
CUSIM_VECTOR4(double, double, 16)
CUSIM_VECTOR4(longlong, long long, 16)
CUSIM_VECTOR4(ulonglong, unsigned long long, 16)

#define __align__(bytes) alignas(bytes)

namespace cusim {

template <class To, class From>
inline To bits(From value) {
    static_assert(sizeof(To) == sizeof(From), "bits keep their number");
    To result;
    __builtin_memcpy(&result, &value, sizeof result);
    return result;
}

// std::index_sequence, without the headers that bring it.
template <size_t... I>
struct IndexList {};
template <size_t N, size_t... I>
struct MakeIndexList : MakeIndexList<N - 1, N - 1, I...> {};
template <size_t... I>
struct MakeIndexList<0, I...> {
    using type = IndexList<I...>;
};

// pi * x for x brought to [-1, 1], where the sine and cosine of pi * x are those of the result.
template <class T>
inline long double piTimes(T x) {
    return 3.14159265358979323846264338327950288L * (x - 2 * rintl(static_cast<long double>(x) / 2));
}

}  // namespace cusim

// Smallest and largest, with CUDA's mixed types.
#define CUSIM_MIN_MAX(RESULT, A, B)              \
    inline RESULT min(A a, B b) {                \
        RESULT x = a, y = b;                     \
        return y < x ? y : x;                    \
    }                                            \
    inline RESULT max(A a, B b) {                \
        RESULT x = a, y = b;                     \
        return x < y ? y : x;                    \
    }
CUSIM_MIN_MAX(int, int, int)
CUSIM_MIN_MAX(unsigned, unsigned, unsigned)
CUSIM_MIN_MAX(unsigned, int, unsigned)
CUSIM_MIN_MAX(unsigned, unsigned, int)
CUSIM_MIN_MAX(long, long, long)
CUSIM_MIN_MAX(unsigned long, unsigned long, unsigned long)
CUSIM_MIN_MAX(long long, long long, long long)
CUSIM_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CUSIM_MIN_MAX(unsigned long long, long long, unsigned long long)
CUSIM_MIN_MAX(unsigned long long, unsigned long long, long long)
// Those of floating point pass over NaN.
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(float a, double b) { return fmin(a, b); }
inline double max(float a, double b) { return fmax(a, b); }
inline double min(double a, float b) { return fmin(a, b); }
inline double max(double a, float b) { return fmax(a, b); }

// Functions that only CUDA has.
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float rsqrt(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rcbrtf(float x) { return 1.0f / cbrtf(x); }
inline float fdividef(float x, float y) { return x / y; }
inline float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
inline double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
inline void sincospi(double x, double* sine, double* cosine) {
    *sine = static_cast<double>(sinl(cusim::piTimes(x)));
    *cosine = static_cast<double>(cosl(cusim::piTimes(x)));
}
inline void sincospif(float x, float* sine, float* cosine) {
    *sine = static_cast<float>(sin(static_cast<double>(cusim::piTimes(x))));
    *cosine = static_cast<float>(cos(static_cast<double>(cusim::piTimes(x))));
}
inline double sinpi(double x) { return static_cast<double>(sinl(cusim::piTimes(x))); }
inline double cospi(double x) { return static_cast<double>(cosl(cusim::piTimes(x))); }
inline float sinpif(float x) { return static_cast<float>(sin(static_cast<double>(cusim::piTimes(x)))); }
inline float cospif(float x) { return static_cast<float>(cos(static_cast<double>(cusim::piTimes(x)))); }

// Operations with a rounding of their own, which no compiler may fuse or reorder.
#define CUSIM_ROUNDED(NAME, TYPE, OPERATOR)                                       \
    __attribute__((noinline, noclone)) inline TYPE NAME(TYPE x, TYPE y) {         \
        return x OPERATOR y;                                                      \
    }
CUSIM_ROUNDED(__fadd_rn, float, +)
CUSIM_ROUNDED(__fsub_rn, float, -)
CUSIM_ROUNDED(__fmul_rn, float, *)
CUSIM_ROUNDED(__fdiv_rn, float, /)
CUSIM_ROUNDED(__dadd_rn, double, +)
CUSIM_ROUNDED(__dsub_rn, double, -)
CUSIM_ROUNDED(__dmul_rn, double, *)
CUSIM_ROUNDED(__ddiv_rn, double, /)
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline double __dsqrt_rn(double x) { return sqrt(x); }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }

// The fast ones of the special function unit; here they are exact, but for what rounding their arguments costs.
inline float __expf(float x) { return exp2f(x * 1.442695041f); }  // as ex2.approx, whose argument is rounded
inline float __exp10f(float x) { return exp10f(x); }
inline float __logf(float x) { return logf(x); }
inline float __log2f(float x) { return log2f(x); }
inline float __log10f(float x) { return log10f(x); }
inline float __sinf(float x) { return sinf(x); }
inline float __cosf(float x) { return cosf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; }

// Bits.
inline unsigned __float_as_uint(float x) { return cusim::bits<unsigned>(x); }
inline int __float_as_int(float x) { return cusim::bits<int>(x); }
inline float __uint_as_float(unsigned x) { return cusim::bits<float>(x); }
inline float __int_as_float(int x) { return cusim::bits<float>(x); }
inline long long __double_as_longlong(double x) { return cusim::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return cusim::bits<double>(x); }
inline double __hiloint2double(int high, int low) {
    return cusim::bits<double>(static_cast<uint64_t>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low));
}
inline int __double2hiint(double x) { return static_cast<int>(cusim::bits<uint64_t>(x) >> 32); }
inline int __double2loint(double x) { return static_cast<int>(cusim::bits<uint64_t>(x)); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
    return __builtin_bswap32(x);
}
inline unsigned long long __brevll(unsigned long long x) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 | __brev(static_cast<unsigned>(x >> 32));
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    uint64_t bytes = static_cast<uint64_t>(y) << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) result |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7) * 8 & 0xFF) << 8 * i;
    return result;
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return static_cast<unsigned>((static_cast<uint64_t>(high) << 32 | low) >> (shift & 31));
}

// High halves of products.
inline int __mulhi(int x, int y) { return static_cast<int>(static_cast<int64_t>(x) * y >> 32); }
inline unsigned __umulhi(unsigned x, unsigned y) { return static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32); }
inline long long __mul64hi(long long x, long long y) {
    return static_cast<long long>(static_cast<__int128>(x) * y >> 64);
}
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return static_cast<unsigned long long>(static_cast<unsigned __int128>(x) * y >> 64);
}

// Conversions, saturating as on the device; NaN gives 0.
namespace cusim {

template <class I, class F>
inline I saturated(F rounded) {
    constexpr bool isSigned = static_cast<I>(-1) < 0;
    constexpr I highest = isSigned ? static_cast<I>((1ull << (8 * sizeof(I) - 1)) - 1) : static_cast<I>(-1);
    constexpr I lowest = isSigned ? -highest - 1 : 0;
    if (!(rounded == rounded)) return 0;
    if (rounded <= static_cast<F>(lowest)) return lowest;
    if (rounded >= static_cast<F>(highest)) return highest;
    return static_cast<I>(rounded);
}

}  // namespace cusim

#define CUSIM_TO_INTEGER(FROM, TYPE, TO, INTEGER)                                                              \
    inline INTEGER __##FROM##2##TO##_rn(TYPE x) { return cusim::saturated<INTEGER>(rint(x)); }                 \
    inline INTEGER __##FROM##2##TO##_rz(TYPE x) { return cusim::saturated<INTEGER>(trunc(x)); }                \
    inline INTEGER __##FROM##2##TO##_rd(TYPE x) { return cusim::saturated<INTEGER>(floor(x)); }                \
    inline INTEGER __##FROM##2##TO##_ru(TYPE x) { return cusim::saturated<INTEGER>(ceil(x)); }
CUSIM_TO_INTEGER(float, float, int, int)
CUSIM_TO_INTEGER(float, float, uint, unsigned)
CUSIM_TO_INTEGER(float, float, ll, long long)
CUSIM_TO_INTEGER(float, float, ull, unsigned long long)
CUSIM_TO_INTEGER(double, double, int, int)
CUSIM_TO_INTEGER(double, double, uint, unsigned)
CUSIM_TO_INTEGER(double, double, ll, long long)
CUSIM_TO_INTEGER(double, double, ull, unsigned long long)
#define CUSIM_FROM_INTEGER(FROM, INTEGER)                                              \
    inline float __##FROM##2float_rn(INTEGER x) { return static_cast<float>(x); }      \
    inline double __##FROM##2double_rn(INTEGER x) { return static_cast<double>(x); }
CUSIM_FROM_INTEGER(int, int)
CUSIM_FROM_INTEGER(uint, unsigned)
CUSIM_FROM_INTEGER(ll, long long)
CUSIM_FROM_INTEGER(ull, unsigned long long)
inline float __double2float_rn(double x) { return static_cast<float>(x); }
