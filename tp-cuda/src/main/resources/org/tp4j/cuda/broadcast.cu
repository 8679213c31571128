// Elementwise functions of two arguments that broadcast, and comparisons.
#include "arithmetic.cuh"

// ---- out = f(a, b), broadcast

#include "broadcast_args.cuh"

// each(i, left pack, right pack) for all elements of out, `head` being its first aligned one. There is code for every way
// an operand can be aligned, so the function is chosen inside, once per pack; the choice is the same for all threads.
template <class Each> __device__ __forceinline__ void forBroadcast(const BroadcastArgs& a, int64 head, Each each) {
    bool inRuns = packsStayInRuns<N>(a.box, head);
    bool aPacked = loadsPacks<N>(a.box, a.strides[0], a.left, head);
    bool bPacked = loadsPacks<N>(a.box, a.strides[1], a.right, head);
    forPacks<N>(a.n, head, [&](int64 i, auto count) {
        constexpr int M = decltype(count)::value;
        Pack<SCALAR, M> x;
        Pack<SCALAR, M> y;
        if (M > 1 && inRuns) {
            Place<2> place(a.box, a.strides, (uint32)i);
            x = loadRun<M>(a.left, place.at[0], a.strides[0][0], aPacked);
            y = loadRun<M>(a.right, place.at[1], a.strides[1][0], bPacked);
        } else {
#pragma unroll
            for (int k = 0; k < M; k++) {
                Place<2> place(a.box, a.strides, (uint32)(i + k));
                x.at[k] = a.left[place.at[0]];
                y.at[k] = a.right[place.at[1]];
            }
        }
        each(i, x, y);
    });
}

extern "C" __global__ void binaryBroadcast(BroadcastArgs a) {
    SCALAR* out = (SCALAR*)a.out;
    forBroadcast(a, headOf<N>(out), [&](int64 i, auto x, auto y) {
        constexpr int M = sizeof(x) / sizeof(SCALAR);
        withBinary(a.function, [&](auto f) {
#pragma unroll
            for (int k = 0; k < M; k++) {
                x.at[k] = store<SCALAR>(f((C)load(x.at[k]), (C)load(y.at[k])));
            }
        });
        storePack(out + i, x);
    });
}

// out = f(a, b) as truth values.
extern "C" __global__ void compare(BroadcastArgs a) {
    bool8* out = (bool8*)a.out;
    forBroadcast(a, headOf<N>(out), [&](int64 i, auto x, auto y) {
        constexpr int M = sizeof(x) / sizeof(SCALAR);
        Pack<bool8, M> result;
#pragma unroll
        for (int k = 0; k < M; k++) {
            result.at[k] = holds(a.function, (C)load(x.at[k]), (C)load(y.at[k])) ? 1 : 0;
        }
        storePack(out + i, result);
    });
}
