// The middle of an MLP in one pass: bias and activation, gates, and their gradients.
#include "functions.cuh"
#include "loops.cuh"

typedef Computed<SCALAR>::type C;
constexpr int N = 16 / sizeof(SCALAR);

#include "fused_args.cuh"

// each(i, x + bias) for every pack.
template <class Each> __device__ __forceinline__ void forBiased(const BiasedArgs& a, int64 head, Each each) {
    uint32 columns = a.columns.divisor;
    Source<SCALAR, N> from(a.x, 1, head);
    // packs do not cross rows, and begin at aligned places of the bias
    bool inRows = head == 0 && columns % N == 0 && headOf<N>(a.bias) == 0;
    forPacks<N>(a.n, head, [&](int64 i, auto count) {
        constexpr int M = decltype(count)::value;
        Pack<SCALAR, M> x = from.get(i, count);
        Pack<SCALAR, M> bias;
        uint32 column = (uint32)i - a.columns.quotient((uint32)i) * columns;
        if (inRows) {
            bias = loadPack<M>(a.bias + column);
        } else {
#pragma unroll
            for (int k = 0; k < M; k++) {
                bias.at[k] = a.bias[column];
                column = column + 1 == columns ? 0 : column + 1;
            }
        }
        Pack<C, M> z;
#pragma unroll
        for (int k = 0; k < M; k++) {
            z.at[k] = load(x.at[k]) + load(bias.at[k]);
        }
        each(i, z, count);
    });
}

extern "C" __global__ void biasActivation(BiasedArgs a) {
    withActivation(a.activation, [&](auto f) {
        forBiased(a, headOf<N>(a.out), [&](int64 i, auto z, auto count) {
            constexpr int M = decltype(count)::value;
            Pack<SCALAR, M> y;
#pragma unroll
            for (int k = 0; k < M; k++) {
                y.at[k] = store<SCALAR>(f(z.at[k]));
            }
            storePack(a.out + i, y);
        });
    });
}

extern "C" __global__ void biasActivationGrad(BiasedArgs a) {
    int64 head = headOf<N>(a.out);
    Source<SCALAR, N> upstream(a.dy, 1, head);
    withActivation(a.activation, [&](auto f) {
        forBiased(a, head, [&](int64 i, auto z, auto count) {
            constexpr int M = decltype(count)::value;
            Pack<SCALAR, M> dy = upstream.get(i, count);
#pragma unroll
            for (int k = 0; k < M; k++) {
                dy.at[k] = store<SCALAR>(f.gradient(z.at[k], load(dy.at[k])));
            }
            storePack(a.out + i, dy);
        });
    });
}

extern "C" __global__ void gated(GatedArgs a) {
    int64 head = headOf<N>(a.out);
    Source<SCALAR, N> gates(a.gate, 1, head);
    Source<SCALAR, N> ups(a.up, 1, head);
    withActivation(a.activation, [&](auto f) {
        forPacks<N>(a.n, head, [&](int64 i, auto count) {
            constexpr int M = decltype(count)::value;
            Pack<SCALAR, M> gate = gates.get(i, count);
            Pack<SCALAR, M> up = ups.get(i, count);
#pragma unroll
            for (int k = 0; k < M; k++) {
                gate.at[k] = store<SCALAR>(f(load(gate.at[k])) * load(up.at[k]));
            }
            storePack(a.out + i, gate);
        });
    });
}

extern "C" __global__ void gatedGrad(GatedArgs a) {
    int64 head = headOf<N>(a.out);
    Source<SCALAR, N> gates(a.gate, 1, head);
    Source<SCALAR, N> ups(a.up, 1, head);
    Source<SCALAR, N> upstream(a.dy, 1, head);
    bool packedUp = headOf<N>(a.dUp) == head;
    withActivation(a.activation, [&](auto f) {
        forPacks<N>(a.n, head, [&](int64 i, auto count) {
            constexpr int M = decltype(count)::value;
            Pack<SCALAR, M> gate = gates.get(i, count);
            Pack<SCALAR, M> up = ups.get(i, count);
            Pack<SCALAR, M> dy = upstream.get(i, count);
#pragma unroll
            for (int k = 0; k < M; k++) {
                C g = load(gate.at[k]);
                C d = load(dy.at[k]);
                gate.at[k] = store<SCALAR>(f.gradient(g, load(up.at[k]) * d));
                up.at[k] = store<SCALAR>(f(g) * d);
            }
            storePack(a.out + i, gate);
            if (packedUp) {
                storePack(a.dUp + i, up);
            } else {
#pragma unroll
                for (int k = 0; k < M; k++) {
                    a.dUp[i + k] = up.at[k];
                }
            }
        });
    });
}
