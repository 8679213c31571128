// Elementwise functions of one argument.
#include "arithmetic.cuh"

// ---- out = f(x; a, b)

#include "unary_args.cuh"

extern "C" __global__ void unary(UnaryArgs a) {
    int64 head = headOf<N>(a.out);
    Source<SCALAR, N> x(a.x, 1, head);
    withUnary(a.function, a.factors, [&](auto f) {
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
