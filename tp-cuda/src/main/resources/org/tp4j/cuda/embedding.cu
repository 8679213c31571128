// Embedding look-up and its gradient.
#include "rows.cuh"

typedef Computed<SCALAR>::type C;
typedef Row<SCALAR> Elements;

constexpr int N = Elements::N;

// A row of the table that ids name, and where in the list the positions of these ids begin.
struct Named {
    int64 row;
    int start;
    int count;
};
static_assert(sizeof(Named) == NAMED_BYTES, "");

#include "embedding_args.cuh"

extern "C" __global__ void __launch_bounds__(MOST_THREADS) gatherRows(GatherRowsArgs a) {
    Group group(a.group);
    if (group.row >= a.count) {
        return;
    }
    int64 row = idAt(a.ids, a.wideIds, group.row) - a.firstRow;
    Elements out(a.out + group.row * a.n, a.n);
    int packs = out.packs();
    if (row >= 0 && row < a.tableRows) {
        Elements from(a.table + row * a.n, out);
        for (int k = group.rank; k < packs; k += group.size) {
            out.store(k, from.load(k, zero<SCALAR>()));
        }
    } else {
        Pack<SCALAR> none;
#pragma unroll
        for (int e = 0; e < N; e++) {
            none.at[e] = zero<SCALAR>();
        }
        for (int k = group.rank; k < packs; k += group.size) {
            out.store(k, none);
        }
    }
}

// Lists for each row of the table the positions of its ids in ascending order. Each thread has a row and each warp goes
// over all ids, so that the order needs no sorting. Where a row's piece of the list begins may vary; its content does not.
extern "C" __global__ void groupIds(GroupIdsArgs a) {
    int64 mine = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    int64 low = mine - lane;
    int count = 0;
    int at = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) {
            int end = count; // of the row's piece, counted from the first of the warp
            for (int step = 1; step < 32; step *= 2) {
                int before = __shfl_up_sync(0xffffffffu, end, step);
                end += lane >= step ? before : 0;
            }
            int all = __shfl_sync(0xffffffffu, end, 31);
            if (all == 0) {
                return;
            }
            int base = lane == 31 ? atomicAdd(&a.used[1], all) : 0;
            at = __shfl_sync(0xffffffffu, base, 31) + end - count;
            if (count > 0) {
                a.named[atomicAdd(&a.used[0], 1)] = Named{mine, at, count};
            }
        }
        for (int64 i = 0; i < a.count; i += 32 * AHEAD) {
            int64 row[AHEAD];
            unsigned hits[AHEAD];
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                int64 j = i + u * 32 + lane;
                row[u] = j < a.count ? idAt(a.ids, a.wideIds, j) : a.padding;
            }
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                bool counts = row[u] != a.padding && i + u * 32 + lane < a.count;
                row[u] -= a.firstRow;
                counts = counts && row[u] >= low && row[u] < low + 32 && row[u] < a.tableRows;
                hits[u] = __ballot_sync(0xffffffffu, counts);
            }
#pragma unroll
            for (int u = 0; u < AHEAD; u++) {
                while (hits[u] != 0) {
                    int source = __ffs(hits[u]) - 1;
                    hits[u] &= hits[u] - 1;
                    if (mine == __shfl_sync(0xffffffffu, row[u], source)) {
                        if (pass == 0) {
                            count++;
                        } else {
                            a.list[at++] = (int)i + u * 32 + source;
                        }
                    }
                }
            }
        }
    }
}

// table[row, :] += dy[i, :] for the listed i of each named row, one after another: a thread keeps the sums of a pack.
template <class T> __device__ __forceinline__ void addNamedRows(const AddRowsArgs& a) {
    Named named = a.named[blockIdx.x];
    int column = (blockIdx.y * blockDim.x + threadIdx.x) * N;
    if (column >= a.n) {
        return;
    }
    T* row = (T*)a.table + named.row * a.n + column;
    Elements from((const SCALAR*)nullptr, a.n); // rows of dy are cut at multiples of a pack, wherever they begin
    C sum[N];
#pragma unroll
    for (int e = 0; e < N; e++) {
        sum[e] = column + e < a.n ? load(row[e]) : (C)0;
    }
    const int* list = a.list + named.start;
    for (int i = 0; i < named.count; i += AHEAD) {
        Pack<SCALAR> v[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            if (i + u < named.count) {
                v[u] = Elements(a.dy + (int64)list[i + u] * a.n, from).load(column / N, zero<SCALAR>());
            }
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
            if (i + u < named.count) {
#pragma unroll
                for (int e = 0; e < N; e++) {
                    sum[e] += load(v[u].at[e]);
                }
            }
        }
    }
#pragma unroll
    for (int e = 0; e < N; e++) {
        if (column + e < a.n) {
            row[e] = store<T>(sum[e]);
        }
    }
}

extern "C" __global__ void __launch_bounds__(MOST_THREADS) addRows(AddRowsArgs a) {
    if (blockIdx.x >= a.used[0]) {
        return;
    }
    if (a.wide) {
        addNamedRows<C>(a);
    } else {
        addNamedRows<SCALAR>(a);
    }
}
