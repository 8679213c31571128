// Elements of one type, SCALAR, as those of another.
#include "loops.cuh"

struct CastArgs {
    const SCALAR* x;
    void* out;
    int64 n;
    int type; // of out
};

// What SCALAR is widened to before it is rounded.
#if defined(SCALAR_IS_INT32) || defined(SCALAR_IS_INT64) || defined(SCALAR_IS_BOOL)
typedef int64 Wide;
#else
typedef Computed<SCALAR>::type Wide;
#endif

template <class T> __device__ __forceinline__ void castTo(const CastArgs& a) {
    constexpr int N = 16 / (sizeof(T) > sizeof(SCALAR) ? sizeof(T) : sizeof(SCALAR));
    T* out = (T*)a.out;
    int64 head = headOf<N>(out);
    Source<SCALAR, N> x(a.x, 1, head);
    forPacks<N>(a.n, head, [&](int64 i, auto count) {
        constexpr int M = decltype(count)::value;
        Pack<SCALAR, M> from = x.get(i, count);
        Pack<T, M> to;
#pragma unroll
        for (int k = 0; k < M; k++) {
            to.at[k] = store<T>((Wide)load(from.at[k]));
        }
        storePack(out + i, to);
    });
}

extern "C" __global__ void cast(CastArgs a) {
    switch (a.type) { // the order of DType.java
        case 0:
            return castTo<float>(a);
        case 1:
            return castTo<double>(a);
        case 2:
            return castTo<bfloat16>(a);
        case 3:
            return castTo<float16>(a);
        case 4:
            return castTo<int>(a);
        case 5:
            return castTo<int64>(a);
        default:
            return castTo<bool8>(a);
    }
}
