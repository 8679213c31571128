// The check of ids. SCALAR is their type.
#include "rows.cuh"

#include "ids_args.cuh"

struct Smaller {
    __device__ __forceinline__ int64 operator()(int64 a, int64 b) const {
        return min(a, b);
    }
};

// Each block's first id outside, or the largest number: the host takes the least of a few.
extern "C" __global__ void firstOutside(FirstOutsideArgs a) {
    int64 first = Limits<int64>::highest();
    int64 step = (int64)gridDim.x * blockDim.x;
    for (int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x; i < a.count; i += step) {
        int64 id = a.ids[i];
        if ((id < a.low || id >= a.high) && id != a.except) {
            first = i;
            break;
        }
    }
    first = reduceGroup(first, Group(blockDim.x), Smaller());
    if (threadIdx.x == 0) {
        a.first[blockIdx.x] = first;
    }
}
