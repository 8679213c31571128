// Moves elements of any type of SCALAR's size, bit by bit.
#include "loops.cuh"

#include "copy_args.cuh"

template <class T> __device__ __forceinline__ void copyAs(const CopyArgs& a) {
    T* dst = (T*)a.dst;
    const T* src = (const T*)a.src;
    for (int64 i = threadOfGrid(); i < a.n; i += threadsOfGrid()) {
        Place<2> place(a.box, a.strides, (uint32)i);
        dst[place.at[0]] = src[place.at[1]];
    }
}

extern "C" __global__ void copyStrided(CopyArgs a) {
    copyAs<SCALAR>(a);
}

// Strides and sizes in units of 16 bytes, whatever SCALAR is.
extern "C" __global__ void copyWide(CopyArgs a) {
    copyAs<Pack<int, 4>>(a);
}

// Elements of src, each repeated over 16 bytes of dst; sizes and dst's strides in units of 16 bytes.
extern "C" __global__ void repeat(CopyArgs a) {
    constexpr int N = 16 / sizeof(SCALAR);
    Pack<SCALAR, N>* dst = (Pack<SCALAR, N>*)a.dst;
    const SCALAR* src = (const SCALAR*)a.src;
    for (int64 i = threadOfGrid(); i < a.n; i += threadsOfGrid()) {
        Place<2> place(a.box, a.strides, (uint32)i);
        SCALAR element = src[place.at[1]];
        Pack<SCALAR, N> pack;
#pragma unroll
        for (int k = 0; k < N; k++) {
            pack.at[k] = element;
        }
        storeWhole((SCALAR*)(dst + place.at[0]), pack);
    }
}

// dst[r dstRow + c] = src[r + c srcColumn] for every matrix of a batch: rows of dst are columns of src. A block turns one
// tile after another in shared memory, so that both sides are touched along their rows.
constexpr int TILE = sizeof(SCALAR) < 4 ? TILE_OF_SMALL : TILE_OF_LARGE;
constexpr int WIDTH = 32; // threads along a row, and 8 rows of threads
constexpr int HEIGHT = 8;

extern "C" __global__ void transpose(TransposeArgs a) {
    // the padding sends the elements of a column to different banks
    __shared__ SCALAR tile[TILE][TILE + (sizeof(SCALAR) < 4 ? 4 / sizeof(SCALAR) : 1)];
    int x = threadIdx.x % WIDTH;
    int y = threadIdx.x / WIDTH;
    for (int64 t = blockIdx.x; t < a.tiles; t += gridDim.x) {
        uint32 above = a.rowTiles.quotient((uint32)t);
        uint32 matrix = a.columnTiles.quotient(above);
        int row = (int)((uint32)t - above * a.rowTiles.divisor) * TILE;
        int column = (int)(above - matrix * a.columnTiles.divisor) * TILE;
        Place<2> place(a.batch, a.strides, matrix);
        SCALAR* dst = a.dst + place.at[0];
        const SCALAR* src = a.src + place.at[1];
#pragma unroll
        for (int c = y; c < TILE; c += HEIGHT) {
#pragma unroll
            for (int r = x; r < TILE; r += WIDTH) {
                if (row + r < a.rows && column + c < a.columns) {
                    tile[c][r] = src[row + r + (column + c) * a.srcColumn];
                }
            }
        }
        __syncthreads();
#pragma unroll
        for (int r = y; r < TILE; r += HEIGHT) {
#pragma unroll
            for (int c = x; c < TILE; c += WIDTH) {
                if (row + r < a.rows && column + c < a.columns) {
                    dst[(row + r) * a.dstRow + column + c] = tile[c][r];
                }
            }
        }
        __syncthreads();
    }
}

extern "C" __global__ void fill(FillArgs a) {
    constexpr int N = 16 / sizeof(SCALAR);
    SCALAR value = *reinterpret_cast<const SCALAR*>(&a.bits);
    forPacks<N>(a.n, headOf<N>(a.out), [&](int64 i, auto count) {
        constexpr int M = decltype(count)::value;
        Pack<SCALAR, M> pack;
#pragma unroll
        for (int k = 0; k < M; k++) {
            pack.at[k] = value;
        }
        storePack(a.out + i, pack);
    });
}

// out = condition ? left : right, broadcast.
extern "C" __global__ void where(WhereArgs a) {
    constexpr int N = 16 / sizeof(SCALAR);
    int64 head = headOf<N>(a.out);
    bool inRuns = packsStayInRuns<N>(a.box, head);
    bool conditionPacked = loadsPacks<N>(a.box, a.strides[0], a.condition, head);
    bool aPacked = loadsPacks<N>(a.box, a.strides[1], a.left, head);
    bool bPacked = loadsPacks<N>(a.box, a.strides[2], a.right, head);
    forPacks<N>(a.n, head, [&](int64 i, auto count) {
        constexpr int M = decltype(count)::value;
        Pack<SCALAR, M> result;
        if (M > 1 && inRuns) {
            Place<3> place(a.box, a.strides, (uint32)i);
            Pack<bool8, M> condition = loadRun<M>(a.condition, place.at[0], a.strides[0][0], conditionPacked);
            result = loadRun<M>(a.left, place.at[1], a.strides[1][0], aPacked);
            Pack<SCALAR, M> other = loadRun<M>(a.right, place.at[2], a.strides[2][0], bPacked);
#pragma unroll
            for (int k = 0; k < M; k++) {
                result.at[k] = condition.at[k] ? result.at[k] : other.at[k];
            }
        } else {
#pragma unroll
            for (int k = 0; k < M; k++) {
                Place<3> place(a.box, a.strides, (uint32)(i + k));
                result.at[k] = a.condition[place.at[0]] ? a.left[place.at[1]] : a.right[place.at[2]];
            }
        }
        storePack(a.out + i, result);
    });
}
