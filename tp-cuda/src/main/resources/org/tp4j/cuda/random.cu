// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC'11): uniform and normal numbers, dropout. RandomKernels.java says which
// element gets which number. Uniforms and masks equal the CPU's bit for bit, hence the products and sums that may not be
// contracted.
#include "loops.cuh"

typedef Computed<SCALAR>::type C;

// The region is rows of `length` elements that are contiguous in the global tensor; the box holds the rows, with their
// strides there. One thread draws the four numbers of one counter, in the middle of which a row may begin or end.
#include "random_args.cuh"

struct Words {
    uint32 at[4];
};

__device__ __forceinline__ Words philox(uint64 key, uint64 counterLow, uint64 counterHigh) {
    uint32 k0 = (uint32)key;
    uint32 k1 = (uint32)(key >> 32);
    uint32 c0 = (uint32)counterLow;
    uint32 c1 = (uint32)(counterLow >> 32);
    uint32 c2 = (uint32)counterHigh;
    uint32 c3 = (uint32)(counterHigh >> 32);
#pragma unroll
    for (int round = 0; round < 10; round++) {
        uint64 p0 = (uint64)0xD2511F53u * c0;
        uint64 p1 = (uint64)0xCD9E8D57u * c2;
        c0 = (uint32)(p1 >> 32) ^ c1 ^ k0;
        c2 = (uint32)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32)p1;
        c3 = (uint32)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return Words{{c0, c1, c2, c3}};
}

// draw(words) gives the four numbers of a counter, finish(x, number) the element. The elements of one counter are moved at
// once where they are whole and aligned.
template <bool READS, class Draw, class Finish>
__device__ __forceinline__ void forCounters(const RandomArgs& a, Draw draw, Finish finish) {
    uint64 stream = (uint64)a.stream.get();
    for (int64 t = threadOfGrid(); t < a.work; t += threadsOfGrid()) {
        uint32 row = a.counters.quotient((uint32)t);
        Place<1> place(a.box, a.strides, row);
        int64 begin = a.first + place.at[0]; // global index of the row's first element
        int64 counter = (begin >> 2) + ((uint32)t - row * a.counters.divisor);
        int64 from = counter * 4 - begin; // where lane 0 lies in the row; may be negative
        if (from >= a.length) {
            continue; // this row needs one counter less than others
        }
        auto numbers = draw(philox(a.seed, (uint64)counter, stream));
        int64 at = row * a.pitch + from;
        if (from >= 0 && from + 4 <= a.length && headOf<4>(a.out + at) == 0) {
            Pack<SCALAR, 4> pack;
            if (READS) {
                pack = loadRun<4>(a.x, at, 1, headOf<4>(a.x + at) == 0);
            }
#pragma unroll
            for (int lane = 0; lane < 4; lane++) {
                pack.at[lane] = finish(pack.at[lane], numbers.at[lane]);
            }
            storePack(a.out + at, pack);
        } else {
#pragma unroll
            for (int lane = 0; lane < 4; lane++) {
                if (from + lane >= 0 && from + lane < a.length) {
                    a.out[at + lane] = finish(READS ? a.x[at + lane] : SCALAR(), numbers.at[lane]);
                }
            }
        }
    }
}

constexpr double UNIT = 5.9604644775390625e-8; // 2^-24

extern "C" __global__ void uniform(RandomArgs a) {
    forCounters<false>(
        a, [](Words words) { return words; },
        [&](SCALAR, uint32 word) {
            return store<SCALAR>(__dadd_rn(a.low, __dmul_rn(a.width, (double)(word >> 8) * UNIT)));
        });
}

extern "C" __global__ void normal(RandomArgs a) {
    forCounters<false>(
        a,
        [](Words words) {
            Pack<double, 4> normals;
#pragma unroll
            for (int pair = 0; pair < 4; pair += 2) {
                double r = sqrt(-2 * log((double)((words.at[pair] >> 8) + 1) * UNIT));
                double sine, cosine;
                sincos(__dmul_rn(6.283185307179586, (double)(words.at[pair + 1] >> 8) * UNIT), &sine, &cosine);
                normals.at[pair] = __dmul_rn(r, cosine);
                normals.at[pair + 1] = __dmul_rn(r, sine);
            }
            return normals;
        },
        [&](SCALAR, double number) { return store<SCALAR>(__dadd_rn(a.low, __dmul_rn(a.width, number))); });
}

extern "C" __global__ void dropout(RandomArgs a) {
    C scale = (C)(1 / (1 - a.low));
    C rest = (C)(1 - a.low);
    forCounters<true>(
        a, [](Words words) { return words; },
        [&](SCALAR x, uint32 word) {
            C kept = sizeof(C) == 8 ? load(x) / rest : load(x) * scale; // as on the CPU
            return store<SCALAR>((word >> 8) >= a.threshold ? kept : (C)0);
        });
}
