// Optimizer steps for many parameters at once. A launch is given a table of parameters; each block changes one chunk of one
// of them. SCALAR is the parameters' type.
#include "loops.cuh"

typedef Computed<SCALAR>::type C; // of state and master, and what the step is computed in

constexpr int N = 4;

#include "optimizer_args.cuh"

// The parameter that this block works on.
__device__ __forceinline__ const Slot& slotOfBlock(const OptimizerArgs& a) {
    int low = 0;
    int high = a.slots - 1;
    while (low < high) { // the last slot whose first chunk is not beyond the block
        int middle = (low + high + 1) / 2;
        if (a.slot[middle].firstChunk <= (int64)blockIdx.x) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return a.slot[low];
}

// step(w, gradient, first, second) changes an element's weight and state in registers.
template <class G, class Step>
__device__ __forceinline__ void forChunk(const OptimizerArgs& a, const Slot& s, bool usesFirst, bool usesSecond, Step step) {
    int64 begin = ((int64)blockIdx.x - s.firstChunk) * a.chunk;
    int64 end = begin + a.chunk < s.n ? begin + a.chunk : s.n;
    const G* gradient = (const G*)s.gradient;
    bool packed = headOf<N>(s.parameter) == 0 && headOf<N>(s.master) == 0 && headOf<N>(gradient) == 0
        && headOf<N>(s.first) == 0 && headOf<N>(s.second) == 0;
    auto body = [&](int64 i, auto count) {
        constexpr int M = decltype(count)::value;
        Pack<SCALAR, M> parameter;
        Pack<C, M> w;
        Pack<C, M> first;
        Pack<C, M> second;
        if (s.master) {
            w = loadPack<M>(s.master + i);
        } else {
            parameter = loadPack<M>(s.parameter + i);
#pragma unroll
            for (int k = 0; k < M; k++) {
                w.at[k] = load(parameter.at[k]);
            }
        }
        Pack<G, M> g = loadPack<M>(gradient + i);
        if (usesFirst) {
            first = loadPack<M>(s.first + i);
        }
        if (usesSecond) {
            second = loadPack<M>(s.second + i);
        }
#pragma unroll
        for (int k = 0; k < M; k++) {
            step(w.at[k], (C)load(g.at[k]), first.at[k], second.at[k]);
            parameter.at[k] = store<SCALAR>(w.at[k]);
        }
        storePack(s.parameter + i, parameter);
        if (s.master) {
            storePack(s.master + i, w);
        }
        if (usesFirst) {
            storePack(s.first + i, first);
        }
        if (usesSecond) {
            storePack(s.second + i, second);
        }
    };
    int64 packs = packed ? (end - begin) / N : 0;
    for (int64 p = threadIdx.x; p < packs; p += blockDim.x) {
        body(begin + p * N, Count<N>());
    }
    for (int64 i = begin + packs * N + threadIdx.x; i < end; i += blockDim.x) {
        body(i, Count<1>());
    }
}

template <class Step>
__device__ __forceinline__ void forGradients(
    const OptimizerArgs& a, const Slot& s, bool usesFirst, bool usesSecond, Step step) {
    withFloat(a.gradientType, [&](auto type) {
        forChunk<typename decltype(type)::type>(a, s, usesFirst, usesSecond, step);
    });
}

// g' = gradScale g + decay w; v = momentum v + g' (v = g' at the first step); w -= rate (nesterov ? g' + momentum v : v).
extern "C" __global__ void sgd(OptimizerArgs a) {
    const Slot& s = slotOfBlock(a);
    C scale = (C)a.gradScale;
    C decay = (C)s.weightDecay;
    C rate = (C)s.rate.getDouble();
    C momentum = (C)a.beta1;
    bool buffered = s.first != nullptr;
    bool begins = s.count.get() == 1;
    bool nesterov = a.decoupled != 0;
    forGradients(a, s, buffered, false, [=](C& w, C gradient, C& v, C&) {
        C g = scale * gradient + decay * w;
        if (buffered) {
            v = begins ? g : momentum * v + g; // at the first step the old content does not count
            g = nesterov ? g + momentum * v : v;
        }
        w -= rate * g;
    });
}

// The factors that all elements of a parameter's step share.
struct AdamFactors {
    C keep;  // of the weight, after decoupled decay
    C decay; // coupled: a part of the weight added to the gradient
    C rate;  // lr / (1 - beta1^step)
    C root;  // 1 / sqrt(1 - beta2^step)
};

extern "C" __global__ void adam(OptimizerArgs a) {
    __shared__ AdamFactors shared;
    const Slot& s = slotOfBlock(a);
    // one thread each of two warps, since powers take a microsecond
    if (threadIdx.x == 0) {
        double rate = s.rate.getDouble();
        shared.keep = (C)(a.decoupled ? 1 - rate * s.weightDecay : 1);
        shared.decay = (C)(a.decoupled ? 0 : s.weightDecay);
        shared.rate = (C)(rate / (1 - pow(a.beta1, (double)s.count.get())));
    } else if (threadIdx.x == 32) {
        shared.root = (C)(1 / sqrt(1 - pow(a.beta2, (double)s.count.get())));
    }
    __syncthreads();
    AdamFactors f = shared;
    C scale = (C)a.gradScale;
    C beta1 = (C)a.beta1;
    C rest1 = (C)(1 - a.beta1);
    C beta2 = (C)a.beta2;
    C rest2 = (C)(1 - a.beta2);
    C eps = (C)a.eps;
    forGradients(a, s, true, true, [=](C& w, C gradient, C& m, C& v) {
        C g = scale * gradient + f.decay * w;
        m = beta1 * m + rest1 * g;
        v = beta2 * v + rest2 * g * g;
        w = f.keep * w - f.rate * m / ((C)sqrt(v) * f.root + eps);
    });
}
