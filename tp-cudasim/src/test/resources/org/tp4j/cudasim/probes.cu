// Kernels that show what the CUDA simulator notices. Plain CUDA C++.
#include "probes.cuh"

// y[i] = factor * x[i]
struct ScaleArgs {
    const float* x;
    float* y;
    long long n;
    float factor;
};

extern "C" __global__ void scale(ScaleArgs a) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < a.n; i += (long long)gridDim.x * blockDim.x) {
        a.y[i] = a.factor * a.x[i];
    }
}

// The same after a long time, so that whoever does not wait most likely comes too early.
extern "C" __global__ void scaleLate(ScaleArgs a) {
    volatile float burn = 0;
    for (int i = 0; i < 60000000; i++) {
        burn = burn + 1.0f;
    }
    for (long long i = threadIdx.x; i < a.n; i += blockDim.x) {
        a.y[i] = a.factor * a.x[i] + (burn < 0 ? 1.0f : 0.0f);
    }
}

// The same once the gate is open: whoever does not wait comes too early, however slow the machine is.
struct ScaleHeldArgs {
    const float* x;
    float* y;
    long long n;
    float factor;
    const volatile float* gate;
};

extern "C" __global__ void scaleHeld(ScaleHeldArgs a) {
    while (*a.gate == 0) {
    }
    for (long long i = threadIdx.x; i < a.n; i += blockDim.x) {
        a.y[i] = a.factor * a.x[i];
    }
}

// Sum of one block, right and with barriers left out. Upwards through the threads the wrong one happens to be right.
struct SumArgs {
    const float* x;
    float* y;
};

extern "C" __global__ void sum(SumArgs a) {
    __shared__ float part[THREADS];
    const int t = threadIdx.x;
    part[t] = a.x[t];
    for (int step = 1; step < THREADS; step *= 2) {
        __syncthreads();
        if ((t + 1) % (2 * step) == 0) {
            part[t] += part[t - step];
        }
    }
    if (t == THREADS - 1) {
        *a.y = part[t];
    }
}

extern "C" __global__ void sumWithoutBarrier(SumArgs a) {
    __shared__ float part[THREADS];
    const int t = threadIdx.x;
    part[t] = a.x[t];
    for (int step = 1; step < THREADS; step *= 2) {
        if ((t + 1) % (2 * step) == 0) {
            part[t] += part[t - step];
        }
    }
    if (t == THREADS - 1) {
        *a.y = part[t];
    }
}

// Every block leaves its number; the last one to run wins.
extern "C" __global__ void lastBlock(SumArgs a) {
    if (threadIdx.x == 0) {
        *a.y = (float)blockIdx.x;
    }
}

// Reads shared memory that nobody wrote: static in y[0], dynamic in y[1].
extern "C" __global__ void unsetShared(SumArgs a) {
    __shared__ float fixed[32];
    extern __shared__ float rows[];
    if (threadIdx.x == 0) {
        a.y[0] = fixed[3];
        a.y[1] = rows[3];
        fixed[3] = 1;
        rows[3] = 1;
    }
}

extern "C" __global__ void overrunShared(SumArgs a) {
    extern __shared__ float rows[];
    rows[threadIdx.x + 1] = 1;
    __syncthreads();
    *a.y = rows[0];
}

extern "C" __global__ void divergentBarrier(SumArgs a) {
    if (threadIdx.x < 16) {
        __syncthreads();
    } else {
        *a.y = 1;
        __syncthreads();
    }
}

extern "C" __global__ void missingLanes(SumArgs a) {
    float v = 1;
    if (threadIdx.x < 16) {
        v = __shfl_xor_sync(0xffffffffu, v, 1);
    } else {
        __syncthreads();
    }
    *a.y = v;
}

extern "C" __global__ void outOfBounds(SumArgs a) {
    a.y[1 << 18] = 1;
}

extern "C" __global__ void trap(SumArgs a) {
    if (a.x[0] == 1.0f) {
        __trap();
    }
    *a.y = 2;
}

extern "C" __global__ void __launch_bounds__(64) bounded(SumArgs a) {
    *a.y = (float)blockDim.x;
}

// What lanes exchange: for each thread t of one warp, 8 values at y[8 * t].
extern "C" __global__ void lanes(SumArgs a) {
    const int t = threadIdx.x;
    const unsigned all = 0xffffffffu;
    float* y = a.y + 8 * t;
    y[0] = __shfl_xor_sync(all, (float)t, 5);
    y[1] = __shfl_down_sync(all, (float)t, 3);
    y[2] = __shfl_up_sync(all, (float)t, 3);
    y[3] = __shfl_sync(all, (float)t, 7, 8);
    y[4] = (float)__popc(__ballot_sync(all, t % 3 == 0));
    y[5] = (float)__any_sync(all, t == 31) + 2 * (float)__all_sync(all, t < 31);
    y[6] = (float)__shfl_xor_sync(all, (double)t, 1);
    y[7] = (float)__syncthreads_count(t < 10);
}

// How often each of eight values occurs, and the largest.
struct CountArgs {
    const int* x;
    unsigned* counts;
    int* most;
    int n;
};

extern "C" __global__ void count(CountArgs a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < a.n) {
        atomicAdd(a.counts + a.x[i] % 8, 1u);
        atomicMax(a.most, a.x[i]);
    }
}

// Functions and types of CUDA C++, one value each.
extern "C" __global__ void language(SumArgs a) {
    if (threadIdx.x != 0) {
        return;
    }
    float* y = a.y;
    const float4 v = *reinterpret_cast<const float4*>(a.x);
    double s, c;
    sincospi(1.25, &s, &c);
    y[0] = erff(v.x);
    y[1] = rsqrtf(v.y);
    y[2] = __fmaf_rn(v.x, v.y, v.z);
    y[3] = (float)s;
    y[4] = (float)c;
    y[5] = (float)(__umulhi(0x80000000u, 6u));
    y[6] = (float)(__mul64hi(1ll << 62, 12));
    y[7] = (float)(__brev(1u) >> 28);
    y[8] = max(1.0f, __uint_as_float(0x7fc00000u));
    y[9] = (float)__clz(255);
    y[10] = (float)min(7, 3) + (float)max(2u, 9u);
    y[11] = exp(v.x) - expf(v.x) + log(v.y) - logf(v.y);
    y[12] = (float)__float2int_rn(2.5f) + (float)__float2int_rz(-2.5f);
    y[13] = (float)make_int2(4, 5).y + (float)sizeof(longlong2) + (float)alignof(double2);
    y[14] = __ldg(a.x + 3) + v.w;
    y[15] = PROBE_CONSTANT;
}
