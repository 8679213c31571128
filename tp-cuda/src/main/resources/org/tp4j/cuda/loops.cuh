// Loops over elements by 16 bytes at a time, and the walk over broadcast or strided operands.
#pragma once
#include "tp4j.cuh"

template <int N, class T> __device__ __forceinline__ Pack<T, N> loadPack(const T* p) {
    return *reinterpret_cast<const Pack<T, N>*>(p);
}

template <class T, int N> __device__ __forceinline__ void storePack(T* p, Pack<T, N> pack) {
    storeWhole(p, pack);
}

// How many elements at p come before the first place where a pack of N may lie.
template <int N, class T> __device__ __forceinline__ int64 headOf(const T* p) {
    constexpr uint64 ALIGNMENT = alignof(Pack<T, N>);
    return (int64)((ALIGNMENT - (uint64)p % ALIGNMENT) % ALIGNMENT / sizeof(T));
}

// A number as a type, so that a loop's body is compiled for packs and for single elements.
template <int N> struct Count {
    static constexpr int value = N;
};

__device__ __forceinline__ int64 threadOfGrid() {
    return (int64)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ int64 threadsOfGrid() {
    return (int64)gridDim.x * blockDim.x;
}

// body(i, Count<N>) for packs that begin at element i, body(i, Count<1>) for the elements before the first pack, at
// `head`, and after the last. All threads of the grid share the work.
template <int N, class Body> __device__ __forceinline__ void forPacks(int64 n, int64 head, Body body) {
    head = head < n ? head : n;
    int64 packs = (n - head) / N;
    for (int64 p = threadOfGrid(); p < packs; p += threadsOfGrid()) {
        body(head + p * N, Count<N>());
    }
    int64 rest = n - packs * N;
    for (int64 i = threadOfGrid(); i < rest; i += threadsOfGrid()) {
        body(i < head ? i : i + packs * N, Count<1>());
    }
}

// A contiguous operand, or one number that stands for every element.
template <class T, int N> struct Source {
    const T* data;
    int64 step; // 0 for one number, else 1
    bool packed;

    // `head` is that of the array which decides where packs lie.
    __device__ __forceinline__ Source(const T* data, int64 step, int64 head)
        : data(data), step(step), packed(step != 0 && headOf<N>(data) == head) {}

    __device__ __forceinline__ Pack<T, 1> get(int64 i, Count<1>) const {
        return loadPack<1>(data + i * step);
    }

    // An operand that is aligned otherwise is loaded element by element.
    __device__ __forceinline__ Pack<T, N> get(int64 i, Count<N>) const {
        if (packed) {
            return loadPack<N>(data + i);
        }
        Pack<T, N> pack;
#pragma unroll
        for (int k = 0; k < N; k++) {
            pack.at[k] = data[(i + k) * step];
        }
        return pack;
    }
};

// n / divisor for n < 2^31 without a division: (mulhi(n, multiplier) + n) >> shift.
struct Divider {
    uint32 divisor;
    uint32 multiplier;
    uint32 shift;

    __device__ __forceinline__ uint32 quotient(uint32 n) const {
        return (__umulhi(n, multiplier) + n) >> shift;
    }
};

// Sizes of up to MAX_DIMS dimensions, innermost first; fewer than 2^31 index tuples in all.
struct Box {
    int dims;
    Divider size[MAX_DIMS];
};

// Where index tuple number i lies in K operands, given their strides.
template <int K> struct Place {
    int64 at[K];

    __device__ __forceinline__ Place(const Box& box, const int64 (&strides)[K][MAX_DIMS], uint32 i) {
#pragma unroll
        for (int k = 0; k < K; k++) {
            at[k] = 0;
        }
        for (int d = 0; d < box.dims - 1; d++) {
            uint32 next = box.size[d].quotient(i);
            uint32 index = i - next * box.size[d].divisor;
#pragma unroll
            for (int k = 0; k < K; k++) {
                at[k] += index * strides[k][d];
            }
            i = next;
        }
#pragma unroll
        for (int k = 0; k < K; k++) {
            at[k] += i * strides[k][box.dims - 1];
        }
    }
};

// Whether every pack of N lies within one run of the innermost dimension, the first being at `head`.
template <int N> __device__ __forceinline__ bool packsStayInRuns(const Box& box, int64 head) {
    return box.dims == 1 || (head == 0 && box.size[0].divisor % N == 0);
}

// Whether a strided operand can be loaded by packs wherever packs lie that stay in runs.
template <int N, class T>
__device__ __forceinline__ bool loadsPacks(const Box& box, const int64 (&strides)[MAX_DIMS], const T* data, int64 head) {
    bool aligned = strides[0] == 1 && headOf<N>(data) == head;
    for (int d = 1; d < box.dims; d++) {
        aligned = aligned && strides[d] % N == 0;
    }
    return aligned;
}

// M elements of an operand from `at` on, `step` apart.
template <int M, class T>
__device__ __forceinline__ Pack<T, M> loadRun(const T* data, int64 at, int64 step, bool packed) {
    if (packed) {
        return loadPack<M>(data + at);
    }
    Pack<T, M> pack;
#pragma unroll
    for (int k = 0; k < M; k++) {
        pack.at[k] = data[at + k * step];
    }
    return pack;
}
