// Reductions and arg-max.
//
// A reduction is brought to rows (the reduced elements are neighbours) or columns ([outer, m, inner], reduced over m), in
// one or several passes; Java decides on them (ReductionPasses). Between passes there are states: a value and, for sums of
// floats, what it has lost by rounding. A few numbers are added pairwise, then to a state: a sum of any length is as
// accurate as a sum of those few. The order of the additions depends on sizes alone, so that results are the same each
// time.
#include "rows.cuh"

typedef Accumulated<SCALAR>::type C;
typedef Row<SCALAR> Elements;

constexpr int N = Elements::N;

// The value of a maximum is kept as a sum without error.
typedef Sum<C> State;

__device__ __forceinline__ C magnitude(C x) {
    return x < 0 ? -x : x;
}

// One kind of reduction: what it takes of an element, how two numbers become one, and how a state takes up a number.
template <int KIND> struct Reduction {
    static constexpr bool IS_SUM = KIND == SUM || KIND == SUM_SQUARES || KIND == SUM_ABS;

    static __device__ __forceinline__ C of(SCALAR x) {
        C value = (C)load(x);
        return KIND == SUM_SQUARES ? value * value : KIND == SUM_ABS || KIND == MAX_ABS ? magnitude(value) : value;
    }

    // An element that changes nothing.
    static __device__ __forceinline__ SCALAR nothing() {
        return store<SCALAR>(KIND == MAX ? Limits<SCALAR>::lowest() : KIND == MIN ? Limits<SCALAR>::highest() : (C)0);
    }

    static __device__ __forceinline__ State begin() {
        return State{KIND == MAX ? Limits<SCALAR>::lowest() : KIND == MIN ? Limits<SCALAR>::highest() : (C)0, (C)0};
    }

    // A NaN among the two stays.
    static __device__ __forceinline__ C both(C a, C b) {
        if (IS_SUM) {
            return a + b;
        }
        return (KIND == MIN ? a < b : a > b) || a != a ? a : b;
    }

    static __device__ __forceinline__ void add(State& state, C x) {
        if (IS_SUM) {
            state.add(x);
        } else {
            state.value = both(state.value, x);
        }
    }

    __device__ __forceinline__ State operator()(State a, State b) const {
        if (IS_SUM) {
            return AddSums()(a, b);
        }
        add(a, b.value);
        return a;
    }

    template <int M> static __device__ __forceinline__ C all(const C* x) {
        if constexpr (M == 1) {
            return x[0];
        } else {
            return both(all<M / 2>(x), all<M / 2>(x + M / 2));
        }
    }
};

__device__ __forceinline__ void put(void* out, int as, int64 i, State s) {
    if (as == AS_STATE) {
        ((State*)out)[i] = s;
    } else if (as == AS_SCALAR) {
        ((SCALAR*)out)[i] = store<SCALAR>(s.value + s.lost());
    } else if (as == AS_FLOAT) {
        ((float*)out)[i] = (float)(s.value + s.lost());
    } else {
        ((double*)out)[i] = (double)s.value + (double)s.lost();
    }
}

#include "reduce_args.cuh"

template <int KIND> __device__ __forceinline__ void rows(const ReduceRowsArgs& a) {
    typedef Reduction<KIND> R;
    Group group(a.group);
    int64 piece = group.row / a.rows;
    int64 row = group.row - piece * a.rows;
    bool here = piece < a.parts;
    int64 start = piece * a.part;
    int64 left = a.n - start;
    int length = !here || left <= 0 ? 0 : left < a.part ? (int)left : a.part;
    Elements x(a.x + row * a.n + start, length);
    State state = R::begin();
    int packs = x.packs();
    for (int k = group.rank; k < packs; k += AHEAD * group.size) {
        Pack<SCALAR> v[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            v[u] = x.load(k + u * group.size, R::nothing());
        }
        C some[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            C of[N];
#pragma unroll
            for (int e = 0; e < N; e++) {
                of[e] = R::of(v[u].at[e]);
            }
            some[u] = R::template all<N>(of);
        }
        R::add(state, R::template all<AHEAD>(some));
    }
    state = reduceGroup(state, group, R());
    if (here && group.rank == 0) {
        put(a.out, a.as, group.row, state);
    }
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS) reduceRows(ReduceRowsArgs a) {
    switch (a.kind) {
    case SUM: return rows<SUM>(a);
    case SUM_SQUARES: return rows<SUM_SQUARES>(a);
    case SUM_ABS: return rows<SUM_ABS>(a);
    case MAX: return rows<MAX>(a);
    case MIN: return rows<MIN>(a);
    default: return rows<MAX_ABS>(a);
    }
}

// Columns per thread when it loads 16 bytes at once; a block's states must fit the shared memory that needs no opt-in.
constexpr int WIDE = N < 8 ? N : 8;

// Elements, M at once.
template <int KIND, int M> struct FromElements {
    typedef Pack<SCALAR, M> Loaded;
    static __device__ __forceinline__ Loaded load(const void* x, int64 i) {
        return *(const Loaded*)((const SCALAR*)x + i);
    }
    static __device__ __forceinline__ Loaded nothing() {
        Loaded r;
#pragma unroll
        for (int e = 0; e < M; e++) {
            r.at[e] = Reduction<KIND>::nothing();
        }
        return r;
    }
    static __device__ __forceinline__ void add(State* states, const Loaded* v) {
#pragma unroll
        for (int e = 0; e < M; e++) {
            C some[AHEAD];
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                some[u] = Reduction<KIND>::of(v[u].at[e]);
            }
            Reduction<KIND>::add(states[e], Reduction<KIND>::template all<AHEAD>(some));
        }
    }
};

// States of an earlier pass.
template <int KIND> struct FromStates {
    typedef State Loaded;
    static __device__ __forceinline__ Loaded load(const void* x, int64 i) {
        return ((const State*)x)[i];
    }
    static __device__ __forceinline__ Loaded nothing() {
        return Reduction<KIND>::begin();
    }
    static __device__ __forceinline__ void add(State* states, const Loaded* v) {
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            states[0] = Reduction<KIND>()(states[0], v[u]);
        }
    }
};

template <int KIND, int M, class From>
__device__ __forceinline__ void columns(const ReduceColumnsArgs& a, State (*parts)[COLUMN_THREADS]) {
    typedef Reduction<KIND> R;
    int x = threadIdx.x & (a.width - 1);
    int y = threadIdx.x / a.width;
    int height = COLUMN_THREADS / a.width;
    int64 packs = a.inner / M;
    int64 column = (int64)blockIdx.x * a.width + x;
    bool here = column < a.outer * packs;
    int64 outer = column / packs;
    int64 inner = (column - outer * packs) * M;
    int64 start = (int64)blockIdx.y * a.part;
    int64 end = here ? min(start + a.part, a.m) : start;
    int64 base = outer * a.m * a.inner + inner;

    State states[M];
#pragma unroll
    for (int e = 0; e < M; e++) {
        states[e] = R::begin();
    }
    for (int64 row = start + y; row < end; row += AHEAD * height) {
        typename From::Loaded v[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            int64 r = row + u * height;
            v[u] = r < end ? From::load(a.x, base + r * a.inner) : From::nothing();
        }
        From::add(states, v);
    }

#pragma unroll
    for (int e = 0; e < M; e++) {
        parts[e][threadIdx.x] = states[e];
    }
    for (int half = height / 2; half > 0; half /= 2) {
        __syncthreads();
        if (y < half) {
#pragma unroll
            for (int e = 0; e < M; e++) {
                states[e] = R()(states[e], parts[e][threadIdx.x + half * a.width]);
                parts[e][threadIdx.x] = states[e];
            }
        }
    }
    if (here && y == 0) {
#pragma unroll
        for (int e = 0; e < M; e++) {
            put(a.out, a.as, (int64)blockIdx.y * a.outer * a.inner + column * M + e, states[e]);
        }
    }
}

template <int M, template <int, int> class From> __device__ __forceinline__ void columnsOfKind(const ReduceColumnsArgs& a) {
    __shared__ State parts[M][COLUMN_THREADS];
    switch (a.kind) {
    case SUM: return columns<SUM, M, From<SUM, M>>(a, parts);
    case SUM_SQUARES: return columns<SUM_SQUARES, M, From<SUM_SQUARES, M>>(a, parts);
    case SUM_ABS: return columns<SUM_ABS, M, From<SUM_ABS, M>>(a, parts);
    case MAX: return columns<MAX, M, From<MAX, M>>(a, parts);
    case MIN: return columns<MIN, M, From<MIN, M>>(a, parts);
    default: return columns<MAX_ABS, M, From<MAX_ABS, M>>(a, parts);
    }
}

template <int KIND, int M> using States = FromStates<KIND>;

// For an inner size that is a multiple of WIDE, and an address aligned to as much.
extern "C" __global__ void __launch_bounds__(COLUMN_THREADS) reduceWideColumns(ReduceColumnsArgs a) {
    columnsOfKind<WIDE, FromElements>(a);
}

extern "C" __global__ void __launch_bounds__(COLUMN_THREADS) reduceColumns(ReduceColumnsArgs a) {
    columnsOfKind<1, FromElements>(a);
}

extern "C" __global__ void __launch_bounds__(COLUMN_THREADS) combineColumns(ReduceColumnsArgs a) {
    columnsOfKind<1, States>(a);
}

constexpr int NOWHERE = 2147483647;

struct Best {
    C value;
    int at;
};

template <> __device__ __forceinline__ Best shuffleXor(Best v, int mask) {
    return Best{shuffleXor(v.value, mask), shuffleXor(v.at, mask)};
}

// The larger, where NaN is above all numbers; among equals the one that comes first.
struct Better {
    __device__ __forceinline__ Best operator()(Best a, Best b) const {
        bool aNan = a.value != a.value;
        bool bNan = b.value != b.value;
        bool equal = a.value == b.value || (aNan && bNan);
        bool larger = a.value > b.value || (aNan && !bNan);
        return larger || (equal && a.at < b.at) ? a : b;
    }
};

extern "C" __global__ void __launch_bounds__(MOST_THREADS) argmax(ArgmaxArgs a) {
    Group group(a.group);
    bool here = group.row < a.rows;
    Elements x(a.x + group.row * a.n, here ? a.n : 0);
    Best best{Limits<SCALAR>::lowest(), NOWHERE};
    int packs = x.packs();
    for (int k = group.rank; k < packs; k += group.size) {
        Pack<SCALAR> v = x.load(k, Reduction<MAX>::nothing());
#pragma unroll
        for (int e = 0; e < N; e++) {
            int j = x.first(k) + e;
            best = Better()(best, Best{(C)load(v.at[e]), j >= 0 && j < x.n ? j : NOWHERE});
        }
    }
    best = reduceGroup(best, group, Better());
    if (here && group.rank == 0) {
        a.out[group.row] = best.at == NOWHERE ? 0 : best.at;
    }
}
