// Rows and the groups of threads that process them: the basis of reductions, softmax, norms and look-ups.
#pragma once
#include "tp4j.cuh"

// The type in which numbers are summed and compared: 64 bits for integers, at least 32 for floats.
template <class T> struct Accumulated {
    typedef typename Computed<T>::type type;
};
template <> struct Accumulated<int> {
    typedef int64 type;
};
template <> struct Accumulated<bool8> {
    typedef int64 type;
};

__device__ __forceinline__ float infinity() {
    return __uint_as_float(0x7f800000u);
}

// The least and the greatest value of an element.
template <class T> struct Limits {
    typedef typename Accumulated<T>::type C;
    static __device__ __forceinline__ C lowest() {
        return (C)-infinity();
    }
    static __device__ __forceinline__ C highest() {
        return (C)infinity();
    }
};
template <> struct Limits<int> {
    static __device__ __forceinline__ int64 lowest() {
        return -2147483647LL - 1;
    }
    static __device__ __forceinline__ int64 highest() {
        return 2147483647LL;
    }
};
template <> struct Limits<int64> {
    static __device__ __forceinline__ int64 lowest() {
        return -9223372036854775807LL - 1;
    }
    static __device__ __forceinline__ int64 highest() {
        return 9223372036854775807LL;
    }
};
template <> struct Limits<bool8> {
    static __device__ __forceinline__ int64 lowest() {
        return 0;
    }
    static __device__ __forceinline__ int64 highest() {
        return 1;
    }
};

// By how many elements an address is past a 16-byte boundary.
template <class T> __device__ __forceinline__ int misalignment(const T* p) {
    return (int)((uint64)p / sizeof(T) % (16 / sizeof(T)));
}

// n elements in a row, taken 16 bytes at a time from the 16-byte boundary at or before the first one: only the first and
// the last pack can be partial, wherever the row begins. Companions of a row (a result, a second operand) are cut where it
// is; those that are aligned otherwise are loaded element by element. n is at most 2^30.
template <class T> struct Row {
    static constexpr int N = 16 / sizeof(T);
    T* elements;
    int n;
    int shift;
    bool whole;

    __device__ __forceinline__ Row(const T* p, int length)
        : elements((T*)p), n(length), shift(misalignment(p)), whole(true) {}

    template <class U>
    __device__ __forceinline__ Row(const T* p, const Row<U>& other)
        : elements((T*)p), n(other.n), shift(other.shift), whole(misalignment(p) == other.shift) {}

    __device__ __forceinline__ int packs() const {
        return (n + shift + N - 1) / N;
    }

    // Position in the row of a pack's first element; that of pack 0 can be negative.
    __device__ __forceinline__ int first(int pack) const {
        return pack * N - shift;
    }

    __device__ __forceinline__ Pack<T> load(int pack, T fill) const {
        int j = first(pack);
        Pack<T> r;
        if (whole && j >= 0 && j + N <= n) {
            r = *(const Pack<T>*)(elements + j);
        } else {
#pragma unroll
            for (int e = 0; e < N; e++) {
                r.at[e] = j + e >= 0 && j + e < n ? elements[j + e] : fill;
            }
        }
        return r;
    }

    __device__ __forceinline__ void store(int pack, const Pack<T>& r) const {
        int j = first(pack);
        if (whole && j >= 0 && j + N <= n) {
            storeWhole(elements + j, r);
        } else {
#pragma unroll
            for (int e = 0; e < N; e++) {
                if (j + e >= 0 && j + e < n) {
                    elements[j + e] = r.at[e];
                }
            }
        }
    }
};

template <class T> __device__ __forceinline__ T zero() {
    return store<T>((typename Computed<T>::type)0);
}

// Rows are distributed over groups of threads: `size` is a power of two, up to 32 or the whole block. A thread whose row is
// not there processes an empty one, since the other threads of its warp depend on it.
struct Group {
    int size;
    int rank;
    int64 row;

    __device__ __forceinline__ explicit Group(int threads)
        : size(threads), rank(threadIdx.x & (threads - 1)),
          row((int64)blockIdx.x * (blockDim.x / threads) + threadIdx.x / threads) {}
};

template <class V> __device__ __forceinline__ V shuffleXor(V v, int mask) {
    return __shfl_xor_sync(0xffffffffu, v, mask);
}

// op over all threads of a group, in a fixed order; each of them gets the same bits.
template <class V, class Op> __device__ __forceinline__ V reduceGroup(V v, const Group& group, Op op) {
    for (int mask = min(group.size, 32) / 2; mask > 0; mask /= 2) {
        v = op(v, shuffleXor(v, mask));
    }
    if (group.size > 32) {
        __shared__ V parts[32];
        int warps = group.size / 32;
        __syncthreads(); // the parts of an earlier call have been read
        if (group.rank % 32 == 0) {
            parts[group.rank / 32] = v;
        }
        __syncthreads();
        v = parts[group.rank & (warps - 1)];
        for (int mask = warps / 2; mask > 0; mask /= 2) {
            v = op(v, shuffleXor(v, mask));
        }
    }
    return v;
}

struct Plus {
    template <class V> __device__ __forceinline__ V operator()(V a, V b) const {
        return a + b;
    }
};

// The larger; a NaN only if both are.
struct Larger {
    __device__ __forceinline__ float operator()(float a, float b) const {
        return fmaxf(a, b);
    }
    __device__ __forceinline__ double operator()(double a, double b) const {
        return fmax(a, b);
    }
};

__device__ __forceinline__ float exponential(float x) {
    return expf(x);
}
__device__ __forceinline__ double exponential(double x) {
    return exp(x);
}
__device__ __forceinline__ float logarithm(float x) {
    return logf(x);
}
__device__ __forceinline__ double logarithm(double x) {
    return log(x);
}
__device__ __forceinline__ float squareRoot(float x) {
    return sqrtf(x);
}
__device__ __forceinline__ double squareRoot(double x) {
    return sqrt(x);
}

// Ids and labels are 32 or 64 bits wide.
__device__ __forceinline__ int64 idAt(const void* ids, int wide, int64 i) {
    return wide ? ((const int64*)ids)[i] : ((const int*)ids)[i];
}

template <class T> struct IsInteger {
    static constexpr bool value = false;
};
template <> struct IsInteger<int64> {
    static constexpr bool value = true;
};

// A sum and what it has lost by rounding. Every number is added without error but the error's own rounding (Knuth's
// two-sum; Ogita, Rump and Oishi 2005, algorithm 4.4), so that a sum of any length in any order is as good as its terms.
template <class C> struct Sum {
    C value;
    C error;

    __device__ __forceinline__ void add(C x) {
        C sum = value + x;
        if (!IsInteger<C>::value) {
            C taken = sum - value;
            error += (value - (sum - taken)) + (x - taken);
        }
        value = sum;
    }

    // Where the value is infinite or NaN, the error is no number.
    __device__ __forceinline__ C lost() const {
        return error - error == 0 ? error : (C)0;
    }
};

template <class C> __device__ __forceinline__ Sum<C> shuffleXor(Sum<C> v, int mask) {
    return Sum<C>{shuffleXor(v.value, mask), shuffleXor(v.error, mask)};
}

struct AddSums {
    template <class C> __device__ __forceinline__ Sum<C> operator()(Sum<C> a, Sum<C> b) const {
        a.error += b.error;
        a.add(b.value);
        return a;
    }
};

// The sum of a power of two of numbers, pairwise.
template <int M, class C> __device__ __forceinline__ C pairwise(const C* x) {
    if constexpr (M == 1) {
        return x[0];
    } else {
        return pairwise<M / 2>(x) + pairwise<M / 2>(x + M / 2);
    }
}
