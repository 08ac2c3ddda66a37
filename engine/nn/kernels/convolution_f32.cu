// 3×3 convolutions of planes in f32 with stride 1, without materializing the patches of the input (im2col). Each block of the
// grid computes a tile of pixels for some output channels; each of its warps computes all pixels of a few of them.
#include "convolution.cuh"

constexpr int WARPS = 8, THREADS = WARPS * LANES;
/// Input channels that are in shared memory together.
constexpr int CHANNELS = 4;
/// Neighbouring pixels of a thread, and pixels of a tile, 16 by 8 or 8 by 16.
constexpr int OF_THREAD = 4, TILE = OF_THREAD * LANES;
/// Outputs of a warp and of a block.
constexpr int OF_WARP = 8, OUTPUTS = WARPS * OF_WARP;
/// Values of a tile with its neighbours, in rows that begin at multiples of 16 bytes, and of the kernels.
constexpr int AROUND = 216, KERNELS = CHANNELS * PLACES * OUTPUTS;
/// Values that a thread copies.
constexpr int COPIED = (CHANNELS * AROUND + THREADS - 1) / THREADS;
/// Values of a stage in shared memory.
constexpr int STAGE = KERNELS + CHANNELS * AROUND;

using Four = Pack<float, 4>;

/// Starts to copy the kernels of some channels, rows of outputs.
FUNCTION void copy_kernels(float *to, const float *kernels, long long stride) {
    constexpr int CHUNKS = OUTPUTS / 4;
    for (int index = threadIdx.x; index < KERNELS / 4; index += THREADS) {
        int row = index / CHUNKS, first = index % CHUNKS * 4;
        copy_ahead(to + row * OUTPUTS + first, kernels + row * stride + first, true);
    }
}

/// Adds the products of kernels and pixels of one channel; `pixels` is the first that the thread's first result depends on.
FUNCTION void multiply(float (&sums)[OF_WARP][OF_THREAD], const float *kernels, const float *pixels, int pitch) {
#pragma unroll
    for (int row = 0; row < ACROSS; row++) {
        auto near = Four::from(pixels + row * pitch);
        auto far = Pack<float, 2>::from(pixels + row * pitch + 4);
        float values[OF_THREAD + ACROSS - 1] = {near.values[0], near.values[1], near.values[2],
                                                near.values[3], far.values[0],  far.values[1]};
#pragma unroll
        for (int column = 0; column < ACROSS; column++) {
#pragma unroll
            for (int half = 0; half < OF_WARP; half += 4) {
                auto factors = Four::from(kernels + (row * ACROSS + column) * OUTPUTS + half);
#pragma unroll
                for (int output = 0; output < 4; output++) {
#pragma unroll
                    for (int pixel = 0; pixel < OF_THREAD; pixel++) {
                        float &sum = sums[half + output][pixel];
                        sum = fmaf(factors.values[output], values[pixel + column], sum);
                    }
                }
            }
        }
    }
}

/// Convolves `x` `[batch, channels, height, width]` with `kernels` `[tiles · 4, 9, kernel_outputs]`, padded with zeros to whole
/// tiles. `bias` is `[outputs]`, or null. The grid has a block for each tile of pixels, tile of outputs, and share of the input
/// channels of an image; if there are several shares, their sums go to `shared_sums`.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    convolution_f32(const float *x, const float *kernels, const float *bias, float *out, float *shared_sums, int channels,
                    int height, int width, int outputs, int out_height, int out_width, int padding, int tiles,
                    int kernel_outputs, int log_width, int shares) {
    SHARED_BYTES(bytes);
    float *shared = reinterpret_cast<float *>(bytes);
    int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    int tile_width = 1 << log_width, tile_height = TILE >> log_width;
    int across = (out_width + tile_width - 1) / tile_width;
    int left = static_cast<int>(blockIdx.x) % across * tile_width;
    int top = static_cast<int>(blockIdx.x) / across * tile_height;
    int pitch = tile_width + 4, around = pitch * (tile_height + ACROSS - 1);
    long long plane = static_cast<long long>(height) * width;
    Share share = own_share(tiles, shares);
    x += static_cast<long long>(share.image) * channels * plane;
    kernels += blockIdx.y * OUTPUTS;

    // Where the values are that the thread copies, −1 where there are none.
    int places[COPIED];
#pragma unroll
    for (int index = 0; index < COPIED; index++) {
        int value = index * THREADS + threadIdx.x, pixel = value % around;
        int at_y = top + pixel / pitch - padding, at_x = left + pixel % pitch - padding;
        bool inside = value < CHANNELS * around && at_y >= 0 && at_y < height && at_x >= 0 && at_x < width;
        places[index] = inside ? at_y * width + at_x : -1;
    }
    float ahead[COPIED];
    auto read = [&](int first) {
#pragma unroll
        for (int index = 0; index < COPIED; index++) {
            int channel = first + static_cast<int>(index * THREADS + threadIdx.x) / around;
            ahead[index] = places[index] >= 0 && channel < channels ? x[channel * plane + places[index]] : 0.0f;
        }
    };
    auto keep = [&](float *to) {
#pragma unroll
        for (int index = 0; index < COPIED; index++) {
            int value = index * THREADS + threadIdx.x;
            if (value < CHANNELS * around) to[value] = ahead[index];
        }
    };

    float sums[OF_WARP][OF_THREAD] = {};
    int own = (lane * OF_THREAD >> log_width) * pitch + (lane * OF_THREAD & (tile_width - 1));
    auto copy = [&](float *to, int first) {
        copy_kernels(to, kernels + static_cast<long long>(first) * PLACES * kernel_outputs, kernel_outputs);
    };
    read(share.first * CHANNELS);
    copy(shared, share.first * CHANNELS);
    keep(shared + KERNELS);
    for (int tile = 0; tile < share.end - share.first; tile++) {
        // This stage has arrived, and no thread needs the previous one any more.
        wait_for_copies();
        __syncthreads();
        const float *stage = shared + tile % 2 * STAGE;
        float *next = shared + (tile + 1) % 2 * STAGE;
        bool more = share.first + tile + 1 < share.end;
        if (more) {
            int first = (share.first + tile + 1) * CHANNELS;
            read(first);
            copy(next, first);
        }
#pragma unroll
        for (int channel = 0; channel < CHANNELS; channel++) {
            const float *of_channel = stage + channel * PLACES * OUTPUTS + warp * OF_WARP;
            multiply(sums, of_channel, stage + KERNELS + channel * around + own, pitch);
        }
        if (more) keep(next + KERNELS);
    }

    int at_y = top + (lane * OF_THREAD >> log_width), at_x = left + (lane * OF_THREAD & (tile_width - 1));
    if (at_y >= out_height || at_x >= out_width) return;
#pragma unroll
    for (int each = 0; each < OF_WARP; each++) {
        int output = blockIdx.y * OUTPUTS + warp * OF_WARP + each;
        if (output >= outputs) return;
        float base = bias && shares == 1 ? bias[output] : 0.0f;
        long long row = (static_cast<long long>(share.place) * outputs + output) * out_height + at_y;
        float *place = (shares == 1 ? out : shared_sums) + row * out_width + at_x;
#pragma unroll
        for (int pixel = 0; pixel < OF_THREAD; pixel++) sums[each][pixel] += base;
        if (out_width % 4 == 0) {
            Four{{sums[each][0], sums[each][1], sums[each][2], sums[each][3]}}.to(place);
        } else {
            for (int pixel = 0; pixel < OF_THREAD && at_x + pixel < out_width; pixel++) place[pixel] = sums[each][pixel];
        }
    }
}
EMULATED(convolution_f32)
ADD_SHARES(f32, float)

/// Lays kernels `[outputs, channels, 3, 3]` out as `[…, 9, kernel_outputs]`, padded with zeros. The grid has a row of blocks per
/// channel of the result.
KERNEL lay_out_kernels_f32(const float *kernels, float *out, int outputs, int channels, int kernel_outputs) {
    int channel = blockIdx.y, output = blockIdx.x * blockDim.x + threadIdx.x;
    if (output >= kernel_outputs) return;
    bool there = output < outputs && channel < channels;
    const float *kernel = kernels + (static_cast<long long>(output) * channels + channel) * PLACES;
    for (int place = 0; place < PLACES; place++) {
        out[(static_cast<long long>(channel) * PLACES + place) * kernel_outputs + output] = there ? kernel[place] : 0.0f;
    }
}
EMULATED(lay_out_kernels_f32)
