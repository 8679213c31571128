// Conversion of elements of one type, SCALAR, to another.
#include "loops.cuh"

#include "cast_args.cuh"

// What SCALAR is widened to before it is rounded.
#ifdef SCALAR_IS_WHOLE
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
    withType(a.type, [&](auto type) { castTo<typename decltype(type)::type>(a); });
}
