// Softmax along rows and cross entropy, which is its fused loss.
//
// A row is taken by a group of threads. Where it fits, it is kept in registers between passes; otherwise the running
// maximum and the sum relative to it are found in one pass (Milakov and Gimelshein, arXiv 1805.02867). Statistics are in 32
// bits, in 64 for doubles.
#include "rows.cuh"

typedef Computed<SCALAR>::type C;
typedef Row<SCALAR> Elements;

constexpr int N = Elements::N;
// Blocks on a multiprocessor: doubles get the registers they need, for the others the compiler weighs.
constexpr int MIN_BLOCKS = sizeof(C) == 8 ? 1 : 0;

__device__ __forceinline__ SCALAR lowest() {
    return store<SCALAR>((C)-infinity());
}

// The sum of e^x over some numbers: their maximum and the sum relative to it.
struct ExpSum {
    C top;
    C sum;
};

template <> __device__ __forceinline__ ExpSum shuffleXor(ExpSum v, int mask) {
    return ExpSum{shuffleXor(v.top, mask), shuffleXor(v.sum, mask)};
}

struct MergeExpSums {
    __device__ __forceinline__ ExpSum operator()(ExpSum a, ExpSum b) const {
        C top = Larger()(a.top, b.top);
        C from = top == -infinity() ? (C)0 : top; // so that nothing plus nothing is nothing
        return ExpSum{top, a.sum * exponential(a.top - from) + b.sum * exponential(b.top - from)};
    }
};

// The sum of e^x over a row in one pass, and that of x if asked for.
__device__ __forceinline__ ExpSum expSum(const Elements& row, const Group& group, bool plain, C& sum) {
    ExpSum all{(C)-infinity(), (C)0};
    int packs = row.packs();
    C added = 0;
    for (int k = group.rank; k < packs; k += KEPT * group.size) {
        Pack<SCALAR> v[KEPT];
        C top = all.top;
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
            v[u] = row.load(k + u * group.size, lowest());
        }
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
#pragma unroll
            for (int e = 0; e < N; e++) {
                top = Larger()(top, load(v[u].at[e]));
            }
        }
        C from = top == -infinity() ? (C)0 : top;
        C sums[KEPT];
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
            C terms[N];
#pragma unroll
            for (int e = 0; e < N; e++) {
                terms[e] = exponential(load(v[u].at[e]) - from);
            }
            sums[u] = pairwise<N>(terms);
        }
        all.sum = all.sum * exponential(all.top - from) + pairwise<KEPT>(sums);
        all.top = top;
        if (plain) {
#pragma unroll
            for (int u = 0; u < KEPT; u++) {
                int j = row.first(k + u * group.size);
                C terms[N];
#pragma unroll
                for (int e = 0; e < N; e++) {
                    terms[e] = j + e >= 0 && j + e < row.n ? load(v[u].at[e]) : (C)0;
                }
                sums[u] = pairwise<N>(terms);
            }
            added += pairwise<KEPT>(sums);
        }
    }
    sum = plain ? reduceGroup(added, group, Plus()) : (C)0;
    return reduceGroup(all, group, MergeExpSums());
}

#include "softmax_args.cuh"

template <bool LOG> __device__ __forceinline__ Pack<SCALAR> softmaxOf(const Pack<SCALAR>& x, C top, C scale) {
    Pack<SCALAR> y;
#pragma unroll
    for (int e = 0; e < N; e++) {
        C shifted = load(x.at[e]) - top;
        y.at[e] = store<SCALAR>(LOG ? shifted - scale : exponential(shifted) * scale);
    }
    return y;
}

template <bool LOG> __device__ __forceinline__ void softmaxKept(const SoftmaxArgs& a) {
    Group group(a.group);
    Elements x(a.x + group.row * a.n, group.row < a.rows ? a.n : 0);
    Elements out(a.out + group.row * a.n, x);
    Pack<SCALAR> v[KEPT];
    C top = -infinity();
#pragma unroll
    for (int u = 0; u < KEPT; u++) {
        v[u] = x.load(group.rank + u * group.size, lowest());
#pragma unroll
        for (int e = 0; e < N; e++) {
            top = Larger()(top, load(v[u].at[e]));
        }
    }
    top = reduceGroup(top, group, Larger());
    C sum = 0;
#pragma unroll
    for (int u = 0; u < KEPT; u++) {
        C terms[N];
#pragma unroll
        for (int e = 0; e < N; e++) {
            terms[e] = exponential(load(v[u].at[e]) - top);
        }
        sum += pairwise<N>(terms);
    }
    sum = reduceGroup(sum, group, Plus());
    C scale = LOG ? logarithm(sum) : 1 / sum;
#pragma unroll
    for (int u = 0; u < KEPT; u++) {
        out.store(group.rank + u * group.size, softmaxOf<LOG>(v[u], top, scale));
    }
}

// Rows of at most KEPT packs per thread, including partial ones.
extern "C" __global__ void __launch_bounds__(MOST_THREADS, MIN_BLOCKS) softmax(SoftmaxArgs a) {
    if (a.logarithm) {
        softmaxKept<true>(a);
    } else {
        softmaxKept<false>(a);
    }
}

template <bool LOG> __device__ __forceinline__ void softmaxTwice(const SoftmaxArgs& a) {
    Group group(a.group);
    Elements x(a.x + group.row * a.n, group.row < a.rows ? a.n : 0);
    Elements out(a.out + group.row * a.n, x);
    C unused;
    ExpSum all = expSum(x, group, false, unused);
    C scale = LOG ? logarithm(all.sum) : 1 / all.sum;
    for (int k = group.rank; k < x.packs(); k += group.size) {
        out.store(k, softmaxOf<LOG>(x.load(k, lowest()), all.top, scale));
    }
}

// Rows of any length, read twice.
extern "C" __global__ void __launch_bounds__(MOST_THREADS, MIN_BLOCKS) softmaxLong(SoftmaxArgs a) {
    if (a.logarithm) {
        softmaxTwice<true>(a);
    } else {
        softmaxTwice<false>(a);
    }
}

// One row: what the sum takes of a pack, and the gradient of a pack once the sum is known.
template <bool LOG> __device__ __forceinline__ C softmaxGradTerms(const Pack<SCALAR>& y, const Pack<SCALAR>& dy) {
    C terms[N];
#pragma unroll
    for (int e = 0; e < N; e++) {
        terms[e] = LOG ? load(dy.at[e]) : load(y.at[e]) * load(dy.at[e]);
    }
    return pairwise<N>(terms);
}

template <bool LOG>
__device__ __forceinline__ Pack<SCALAR> softmaxGradOf(const Pack<SCALAR>& y, const Pack<SCALAR>& dy, C sum) {
    Pack<SCALAR> dx;
#pragma unroll
    for (int e = 0; e < N; e++) {
        C value = load(y.at[e]);
        C d = load(dy.at[e]);
        dx.at[e] = store<SCALAR>(LOG ? d - exponential(value) * sum : value * (d - sum));
    }
    return dx;
}

template <bool LOG, bool LONG> __device__ __forceinline__ void softmaxGradOf(const SoftmaxGradArgs& a) {
    Group group(a.group);
    Elements y(a.y + group.row * a.n, group.row < a.rows ? a.n : 0);
    Elements dy(a.dy + group.row * a.n, y);
    Elements dx(a.dx + group.row * a.n, y);
    C sum = 0;
    if constexpr (LONG) {
        for (int k = group.rank; k < y.packs(); k += group.size) {
            sum += softmaxGradTerms<LOG>(y.load(k, zero<SCALAR>()), dy.load(k, zero<SCALAR>()));
        }
        sum = reduceGroup(sum, group, Plus());
        for (int k = group.rank; k < y.packs(); k += group.size) {
            dx.store(k, softmaxGradOf<LOG>(y.load(k, zero<SCALAR>()), dy.load(k, zero<SCALAR>()), sum));
        }
    } else {
        Pack<SCALAR> values[KEPT];
        Pack<SCALAR> upstream[KEPT];
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
            values[u] = y.load(group.rank + u * group.size, zero<SCALAR>());
            upstream[u] = dy.load(group.rank + u * group.size, zero<SCALAR>());
        }
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
            sum += softmaxGradTerms<LOG>(values[u], upstream[u]);
        }
        sum = reduceGroup(sum, group, Plus());
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
            dx.store(group.rank + u * group.size, softmaxGradOf<LOG>(values[u], upstream[u], sum));
        }
    }
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS, MIN_BLOCKS) softmaxGrad(SoftmaxGradArgs a) {
    if (a.logarithm) {
        softmaxGradOf<true, false>(a);
    } else {
        softmaxGradOf<false, false>(a);
    }
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS, MIN_BLOCKS) softmaxGradLong(SoftmaxGradArgs a) {
    if (a.logarithm) {
        softmaxGradOf<true, true>(a);
    } else {
        softmaxGradOf<false, true>(a);
    }
}

// loss = log S - (1 - s) (z_label - m) - s (mean(z) - m) + w (m + log S)^2, in one pass over the logits.
extern "C" __global__ void __launch_bounds__(MOST_THREADS, MIN_BLOCKS) crossEntropy(CrossEntropyArgs a) {
    Group group(a.group);
    bool here = group.row < a.rows;
    Elements z(a.logits + group.row * a.n, here ? a.n : 0);
    C sum;
    ExpSum all = expSum(z, group, a.smoothing != 0, sum);
    if (here && group.rank == 0) {
        // Of nothing but -inf the softmax is not defined, and its logarithm is NaN.
        C total = all.top == -infinity() ? all.top - all.top : all.sum;
        a.top[group.row] = all.top;
        a.sum[group.row] = total;
        int64 label = idAt(a.labels, a.wideLabels, group.row);
        C loss = 0;
        if (label != a.ignored) {
            // A label that no class has is the caller's error; it must not become an access past the row.
            C hot = label >= 0 && label < a.n ? load(z.elements[label]) : infinity() - infinity();
            C smooth = a.smoothing == 0 ? (C)0 : (C)a.smoothing * (sum / (C)a.n - all.top);
            C logSum = logarithm(total);
            C lse = all.top + logSum;
            C square = a.zLoss == 0 ? (C)0 : (C)a.zLoss * lse * lse;
            loss = logSum - (C)(1 - a.smoothing) * (hot - all.top) - smooth + square;
        }
        a.loss[group.row] = loss;
    }
}

// dLogits = (e^(z - m) / S (1 + 2 w (m + log S)) - (1 - s) 1[label] - s/n) dLoss; the blocks of a column of the grid share a row.
extern "C" __global__ void __launch_bounds__(MOST_THREADS, MIN_BLOCKS) crossEntropyGrad(CrossEntropyGradArgs a) {
    Group group(a.group);
    if (group.row >= a.rows) {
        return;
    }
    Elements z(a.logits + group.row * a.n, a.n);
    Elements dz(a.dLogits + group.row * a.n, z);
    int64 label = idAt(a.labels, a.wideLabels, group.row);
    bool ignored = label == a.ignored;
    C top = a.top[group.row];
    C sum = a.sum[group.row];
    C scale = (1 + (a.zLoss == 0 ? (C)0 : (C)(2 * a.zLoss) * (top + logarithm(sum)))) / sum;
    C d = a.dLoss[group.row];
    C peak = (C)(1 - a.smoothing);
    C share = (C)(a.smoothing / (double)a.n);
    int packs = z.packs();
    for (int k = blockIdx.y * group.size + group.rank; k < packs; k += gridDim.y * group.size) {
        Pack<SCALAR> r;
        if (ignored) {
#pragma unroll
            for (int e = 0; e < N; e++) {
                r.at[e] = zero<SCALAR>();
            }
        } else {
            Pack<SCALAR> v = z.load(k, zero<SCALAR>());
            int64 hot = label - z.first(k);
#pragma unroll
            for (int e = 0; e < N; e++) {
                C p = exponential(load(v.at[e]) - top) * scale;
                r.at[e] = store<SCALAR>((p - (e == hot ? peak : (C)0) - share) * d);
            }
        }
        dz.store(k, r);
    }
}
