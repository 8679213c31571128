// Elementwise functions of two arguments of one shape.
#include "arithmetic.cuh"

// ---- out = f(a, b), each operand of out's size or one number

#include "binary_args.cuh"

extern "C" __global__ void binary(BinaryArgs a) {
    int64 head = headOf<N>(a.out);
    Source<SCALAR, N> left(a.left, a.leftStep, head);
    Source<SCALAR, N> right(a.right, a.rightStep, head);
    withBinary(a.function, [&](auto f) {
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

// ---- y += alpha x

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
