// Shared code of the kernels. Each file is compiled by nvcc for the GPU, and as C++ for tests, with
// `emulated.h` in place of the GPU.
#pragma once

#ifdef __CUDACC__
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
/// Registers a kernel with the emulation under its name.
#define EMULATED(kernel)
/// Shared memory of a block, of the size given at launch.
#define SHARED_BYTES(name) extern __shared__ __align__(16) unsigned char name[]
#else
#include "emulated.h"
#endif

#define KERNEL extern "C" __global__ void
#define FUNCTION __device__ __forceinline__

using f16 = __half;
using bf16 = __nv_bfloat16;

constexpr unsigned ALL_LANES = 0xffffffff;
constexpr int LANES = 32;

FUNCTION float wide(float value) { return value; }
FUNCTION float wide(f16 value) { return __half2float(value); }
FUNCTION float wide(bf16 value) { return __bfloat162float(value); }

/// Rounds a value to the nearest of its type, ties to even.
template <typename T> FUNCTION T narrow(float value);
template <> FUNCTION float narrow<float>(float value) { return value; }
template <> FUNCTION f16 narrow<f16>(float value) { return __float2half_rn(value); }
template <> FUNCTION bf16 narrow<bf16>(float value) { return __float2bfloat16_rn(value); }

/// Neighbouring values that are read or written together.
template <typename T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
    T values[N];

    FUNCTION static Pack from(const T *place) { return *reinterpret_cast<const Pack *>(place); }
    FUNCTION void to(T *place) const { *reinterpret_cast<Pack *>(place) = *this; }
};

/// Number of values in 16 bytes.
template <typename T> constexpr int TOGETHER = 16 / sizeof(T);

/// Whether an address is aligned to 16 bytes. Null counts as aligned.
FUNCTION bool aligned(const void *place) { return reinterpret_cast<uintptr_t>(place) % 16 == 0; }

/// The first place in a row of the `N` values that a thread handles, where the grid has a row of blocks for it, and how far
/// on the next ones are. A grid made for whole packs has too few threads to read each value by itself at once.
template <int N> FUNCTION int first_place() { return (blockIdx.y * blockDim.x + threadIdx.x) * N; }
template <int N> FUNCTION int places() { return gridDim.y * blockDim.x * N; }

/// The sum of a value over the `blockDim.x` threads of a row of the block: one warp, or several in a block of
/// one row. All of them get the result.
FUNCTION float sum_of_row(float value) {
    __shared__ float of_warps[LANES];
    for (int with = LANES / 2; with > 0; with /= 2) value += __shfl_xor_sync(ALL_LANES, value, with);
    if (blockDim.x == LANES) return value;
    int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    // All threads have read the previous sums.
    __syncthreads();
    if (lane == 0) of_warps[warp] = value;
    __syncthreads();
    value = lane < static_cast<int>(blockDim.x) / LANES ? of_warps[lane] : 0.0f;
    for (int with = LANES / 2; with > 0; with /= 2) value += __shfl_xor_sync(ALL_LANES, value, with);
    return value;
}

/// `x · sigmoid(y)`.
FUNCTION float gated(float x, float y) { return x / (1.0f + expf(-y)); }

/// `x · sigmoid(x)`, as precise as a type needs it.
template <typename T> FUNCTION float silu_of(float x) { return __fdividef(x, 1.0f + __expf(-x)); }
template <> FUNCTION float silu_of<float>(float x) { return gated(x, x); }
