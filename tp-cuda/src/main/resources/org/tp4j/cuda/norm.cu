// Layer norm and RMS norm: the latter is the former with a mean of 0.
//
// A row is taken by a group of threads and kept in registers where it fits. The variance is taken from differences to the
// mean. Sums are in 32 bits, in 64 for doubles; over rows, for the gradients of weight and bias, their rounding is kept.
#include "rows.cuh"

typedef Computed<SCALAR>::type C;
typedef Row<SCALAR> Elements;

constexpr int N = Elements::N;

#include "norm_args.cuh"

__device__ __forceinline__ C sumOf(const Pack<SCALAR>& v) {
    C terms[N];
#pragma unroll
    for (int e = 0; e < N; e++) {
        terms[e] = load(v.at[e]);
    }
    return pairwise<N>(terms);
}

// The squares of differences to the mean; what a partial pack has beyond the row does not count.
__device__ __forceinline__ C squaresOf(const Elements& row, int pack, const Pack<SCALAR>& v, C mean) {
    int j = row.first(pack);
    C terms[N];
#pragma unroll
    for (int e = 0; e < N; e++) {
        C d = load(v.at[e]) - mean;
        terms[e] = j + e >= 0 && j + e < row.n ? d * d : (C)0;
    }
    return pairwise<N>(terms);
}

__device__ __forceinline__ void putNormal(
    const NormArgs& a, const Elements& x, const Elements& out, int pack, const Pack<SCALAR>& v, C mean, C rstd) {
    Pack<SCALAR> w;
    Pack<SCALAR> b;
    if (a.weight != nullptr) {
        w = Elements(a.weight, x).load(pack, zero<SCALAR>());
    }
    if (a.bias != nullptr) {
        b = Elements(a.bias, x).load(pack, zero<SCALAR>());
    }
    Pack<SCALAR> r;
#pragma unroll
    for (int e = 0; e < N; e++) {
        C y = (load(v.at[e]) - mean) * rstd;
        y = a.weight != nullptr ? y * load(w.at[e]) : y;
        y = a.bias != nullptr ? y + load(b.at[e]) : y;
        r.at[e] = store<SCALAR>(y);
    }
    out.store(pack, r);
}

template <bool CENTRED, bool LONG> __device__ __forceinline__ void normalizeRow(const NormArgs& a) {
    Group group(a.group);
    bool here = group.row < a.rows;
    Elements x(a.x + group.row * a.n, here ? a.n : 0);
    Elements out(a.out + group.row * a.n, x);
    int packs = x.packs();
    Pack<SCALAR> v[KEPT];
    if constexpr (!LONG) {
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
            v[u] = x.load(group.rank + u * group.size, zero<SCALAR>());
        }
    }
    C mean = 0;
    if constexpr (CENTRED) {
        // With its rounding kept: numbers far from zero leave the variance no room for an error of the mean.
        Sum<C> sum{0, 0};
        if constexpr (LONG) {
            for (int k = group.rank; k < packs; k += group.size) {
                sum.add(sumOf(x.load(k, zero<SCALAR>())));
            }
        } else {
#pragma unroll
            for (int u = 0; u < KEPT; u++) {
                sum.add(sumOf(v[u]));
            }
        }
        sum = reduceGroup(sum, group, AddSums());
        mean = (sum.value + sum.lost()) / (C)a.n;
    }
    C squares = 0;
    if constexpr (LONG) {
        for (int k = group.rank; k < packs; k += group.size) {
            squares += squaresOf(x, k, x.load(k, zero<SCALAR>()), mean);
        }
    } else {
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
            squares += squaresOf(x, group.rank + u * group.size, v[u], mean);
        }
    }
    squares = reduceGroup(squares, group, Plus());
    C rstd = 1 / squareRoot(squares / (C)a.n + (C)a.eps);
    if (here && group.rank == 0) {
        if (CENTRED) {
            a.mean[group.row] = mean;
        }
        a.rstd[group.row] = rstd;
    }
    if constexpr (LONG) {
        for (int k = group.rank; k < packs; k += group.size) {
            putNormal(a, x, out, k, x.load(k, zero<SCALAR>()), mean, rstd);
        }
    } else {
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
            putNormal(a, x, out, group.rank + u * group.size, v[u], mean, rstd);
        }
    }
}

// Rows of at most KEPT packs per thread, including partial ones.
extern "C" __global__ void __launch_bounds__(MOST_THREADS) normalize(NormArgs a) {
    if (a.mean != nullptr) {
        normalizeRow<true, false>(a);
    } else {
        normalizeRow<false, false>(a);
    }
}

// Rows of any length, read again for each pass.
extern "C" __global__ void __launch_bounds__(MOST_THREADS) normalizeLong(NormArgs a) {
    if (a.mean != nullptr) {
        normalizeRow<true, true>(a);
    } else {
        normalizeRow<false, true>(a);
    }
}

// One row's mean and rstd, and with x^ = (x - mean) rstd and g = dy weight the means of g and g x^.
struct RowGrad {
    C mean;
    C rstd;
    C g;
    C along;
};

__device__ __forceinline__ Pack<SCALAR> weightOf(const NormGradArgs& a, const Elements& x, int pack) {
    Pack<SCALAR> w;
#pragma unroll
    for (int e = 0; e < N; e++) {
        w.at[e] = store<SCALAR>((C)1);
    }
    return a.weight != nullptr ? Elements(a.weight, x).load(pack, zero<SCALAR>()) : w;
}

__device__ __forceinline__ void addGrad(
    RowGrad& sums, const Pack<SCALAR>& x, const Pack<SCALAR>& dy, const Pack<SCALAR>& w) {
    C g[N];
    C along[N];
#pragma unroll
    for (int e = 0; e < N; e++) {
        g[e] = load(dy.at[e]) * load(w.at[e]);
        along[e] = g[e] * ((load(x.at[e]) - sums.mean) * sums.rstd);
    }
    sums.g += pairwise<N>(g);
    sums.along += pairwise<N>(along);
}

__device__ __forceinline__ Pack<SCALAR> gradOf(
    const RowGrad& means, const Pack<SCALAR>& x, const Pack<SCALAR>& dy, const Pack<SCALAR>& w) {
    Pack<SCALAR> r;
#pragma unroll
    for (int e = 0; e < N; e++) {
        C normal = (load(x.at[e]) - means.mean) * means.rstd;
        r.at[e] = store<SCALAR>(means.rstd * (load(dy.at[e]) * load(w.at[e]) - means.g - normal * means.along));
    }
    return r;
}

// dx = rstd (g - mean(g) - x^ mean(g x^)), where RMS norm has no mean(g).
template <bool LONG> __device__ __forceinline__ void normRowGrad(const NormGradArgs& a) {
    Group group(a.group);
    bool here = group.row < a.rows;
    Elements x(a.x + group.row * a.n, here ? a.n : 0);
    Elements dy(a.dy + group.row * a.n, x);
    Elements dx(a.dx + group.row * a.n, x);
    RowGrad row{here && a.mean != nullptr ? a.mean[group.row] : (C)0, here ? a.rstd[group.row] : (C)0, 0, 0};
    int packs = x.packs();
    Pack<SCALAR> v[KEPT];
    Pack<SCALAR> d[KEPT];
    if constexpr (LONG) {
        for (int k = group.rank; k < packs; k += group.size) {
            addGrad(row, x.load(k, zero<SCALAR>()), dy.load(k, zero<SCALAR>()), weightOf(a, x, k));
        }
    } else {
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
            v[u] = x.load(group.rank + u * group.size, zero<SCALAR>());
            d[u] = dy.load(group.rank + u * group.size, zero<SCALAR>());
        }
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
            addGrad(row, v[u], d[u], weightOf(a, x, group.rank + u * group.size));
        }
    }
    C g = reduceGroup(row.g, group, Plus());
    row.g = a.mean != nullptr ? g / (C)a.n : (C)0;
    row.along = reduceGroup(row.along, group, Plus()) / (C)a.n;
    if constexpr (LONG) {
        for (int k = group.rank; k < packs; k += group.size) {
            dx.store(k, gradOf(row, x.load(k, zero<SCALAR>()), dy.load(k, zero<SCALAR>()), weightOf(a, x, k)));
        }
    } else {
#pragma unroll
        for (int u = 0; u < KEPT; u++) {
            int k = group.rank + u * group.size;
            dx.store(k, gradOf(row, v[u], d[u], weightOf(a, x, k)));
        }
    }
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS) normGrad(NormGradArgs a) {
    normRowGrad<false>(a);
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS) normGradLong(NormGradArgs a) {
    normRowGrad<true>(a);
}

// The sums of dy x^ and dy over a part of the rows, M columns per thread.
template <int M> __device__ __forceinline__ void normColumns(const NormWeightGradArgs& a) {
    typedef Pack<SCALAR, M> Columns;
    int x = threadIdx.x & (a.width - 1);
    int y = threadIdx.x / a.width;
    int height = COLUMN_THREADS / a.width;
    int column = (blockIdx.x * a.width + x) * M;
    bool here = column < a.n;
    int64 start = (int64)blockIdx.y * a.part;
    int64 end = here ? min(start + a.part, a.rows) : start;

    Sum<C> weights[M];
    Sum<C> biases[M];
#pragma unroll
    for (int e = 0; e < M; e++) {
        weights[e] = biases[e] = Sum<C>{0, 0};
    }
    for (int64 row = start + y; row < end; row += AHEAD * height) {
        Columns v[AHEAD];
        Columns d[AHEAD];
        C mean[AHEAD];
        C rstd[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            int64 r = row + u * height;
            if (r < end) {
                v[u] = *(const Columns*)(a.x + r * a.n + column);
                d[u] = *(const Columns*)(a.dy + r * a.n + column);
                mean[u] = a.mean != nullptr ? a.mean[r] : (C)0;
                rstd[u] = a.rstd[r];
            } else {
#pragma unroll
                for (int e = 0; e < M; e++) {
                    v[u].at[e] = d[u].at[e] = zero<SCALAR>();
                }
                mean[u] = rstd[u] = 0;
            }
        }
#pragma unroll
        for (int e = 0; e < M; e++) {
            C w[AHEAD];
            C b[AHEAD];
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                b[u] = load(d[u].at[e]);
                w[u] = b[u] * ((load(v[u].at[e]) - mean[u]) * rstd[u]);
            }
            weights[e].add(pairwise<AHEAD>(w));
            biases[e].add(pairwise<AHEAD>(b));
        }
    }

    __shared__ Sum<C> weightParts[M][COLUMN_THREADS];
    __shared__ Sum<C> biasParts[M][COLUMN_THREADS];
#pragma unroll
    for (int e = 0; e < M; e++) {
        weightParts[e][threadIdx.x] = weights[e];
        biasParts[e][threadIdx.x] = biases[e];
    }
    for (int half = height / 2; half > 0; half /= 2) {
        __syncthreads();
        if (y < half) {
            int other = threadIdx.x + half * a.width;
#pragma unroll
            for (int e = 0; e < M; e++) {
                weights[e] = AddSums()(weights[e], weightParts[e][other]);
                biases[e] = AddSums()(biases[e], biasParts[e][other]);
                weightParts[e][threadIdx.x] = weights[e];
                biasParts[e][threadIdx.x] = biases[e];
            }
        }
    }
    if (here && y == 0) {
        int64 at = (int64)blockIdx.y * a.n + column;
#pragma unroll
        for (int e = 0; e < M; e++) {
            if (a.weights != nullptr) {
                a.weights[at + e] = weights[e];
            }
            if (a.biases != nullptr) {
                a.biases[at + e] = biases[e];
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(COLUMN_THREADS) normWeightGrad(NormWeightGradArgs a) {
    normColumns<1>(a);
}

// For rows of a multiple of N elements, and addresses aligned to 16 bytes.
extern "C" __global__ void __launch_bounds__(COLUMN_THREADS) normWideWeightGrad(NormWeightGradArgs a) {
    normColumns<N>(a);
}
