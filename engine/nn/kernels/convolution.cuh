// What convolutions in all dtypes share: the input channels of a result with few pixels are shared by several blocks, so that
// all of the GPU computes, and their sums are added in a second pass.
#pragma once

#include "tensor_cores.cuh"

/// Places of a kernel, and those in a row of it.
constexpr int PLACES = 9, ACROSS = 3;

/// What a block computes: tiles of the input channels of an image.
struct Share {
    int first, end, image;
    /// Among all shares and images.
    int place;
};

FUNCTION Share own_share(int tiles, int shares) {
    int batch = gridDim.z / shares, image = blockIdx.z % batch, share = blockIdx.z / batch;
    return {tiles * share / shares, tiles * (share + 1) / shares, image, static_cast<int>(blockIdx.z)};
}

/// Adds the sums of all shares, `[shares, batch, outputs, plane]`, and a bias for each output, or none.
template <typename T>
FUNCTION void add_shares(const float *sums, const T *bias, T *out, long long values, int shares, int outputs,
                         long long plane) {
    long long place = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= values) return;
    float sum = 0.0f;
    for (int share = 0; share < shares; share++) sum += sums[share * values + place];
    out[place] = narrow<T>(bias ? sum + wide(bias[place / plane % outputs]) : sum);
}

#define ADD_SHARES(name, T)                                                                                         \
    KERNEL add_shares_##name(const float *sums, const T *bias, T *out, long long values, int shares, int outputs,   \
                             long long plane) {                                                                     \
        add_shares(sums, bias, out, values, shares, outputs, plane);                                                \
    }                                                                                                               \
    EMULATED(add_shares_##name)
