// 3×3 convolutions of planes with stride 1, as matrix products of kernels and pixels, without materializing the patches of
// the input (im2col). Each block of the grid computes a tile of pixels for some output channels: it keeps the input
// around the tile in shared memory, some channels at a time, and reads it there once for each of the nine places of the
// kernel.
#include "convolution.cuh"

constexpr int WARPS = 8, THREADS = WARPS * LANES;
/// Rows of a matrix instruction, and twice its columns.
constexpr int SIDE = 16;
/// Input channels that are in shared memory together, and those of one warp while they are copied there.
constexpr int CHANNELS = 32, OF_WARP = CHANNELS / WARPS;
/// Stride of pixels in shared memory; eight begin in different banks.
constexpr int PITCH = CHANNELS + 8;
/// Pixels of a tile, 16 by 8 or 8 by 16, and with their neighbours.
constexpr int TILE = 128, AROUND = 180;
/// Pixels that a thread copies.
constexpr int COPIED = (AROUND + LANES - 1) / LANES;
/// Tiles of kernels that are in shared memory, or on their way to it.
constexpr int STAGES = 3;
/// Warps next to each other along the pixels of a tile, and pixels of each.
constexpr int WARPS_ACROSS = 4, PIXELS = TILE / WARPS_ACROSS;

template <typename T> struct Convolution {
    /// `[batch, channels, height, width]`.
    const T *x;
    /// `[9, outputs, channels]`, with outputs and channels padded with zeros to whole tiles.
    const T *kernels;
    /// `[outputs]`, or null.
    const T *bias;
    /// `[batch, outputs, out_height, out_width]`.
    T *out;
    /// The sums of each share of the input channels, `[shares, batch, outputs, out_height, out_width]`, if there are several.
    float *sums;
    int channels, height, width, outputs, out_height, out_width, padding;
    /// Tiles of input channels, and outputs of the padded kernels.
    int tiles, kernel_outputs;
    /// The binary logarithm of a tile's width.
    int log_width;
    /// Shares of the input channels, each with blocks of its own.
    int shares;
};

/// A tile of pixels: its place in the result.
struct Tile {
    int left, top, width, around_width, around;
};

template <typename T> FUNCTION Tile own_tile(const Convolution<T> &of) {
    int width = 1 << of.log_width, height = TILE >> of.log_width;
    int across = (of.out_width + width - 1) / width;
    int around_width = width + ACROSS - 1;
    int column = blockIdx.x % across, row = blockIdx.x / across;
    return {column * width, row * height, width, around_width, around_width * (height + ACROSS - 1)};
}

/// Where a thread's pixels are in a plane, −1 where there are none.
template <typename T> FUNCTION void find_pixels(int (&places)[COPIED], const Convolution<T> &of, const Tile &tile) {
#pragma unroll
    for (int index = 0; index < COPIED; index++) {
        int pixel = index * LANES + threadIdx.x % LANES;
        int y = tile.top + pixel / tile.around_width - of.padding, x = tile.left + pixel % tile.around_width - of.padding;
        bool inside = pixel < tile.around && y >= 0 && y < of.height && x >= 0 && x < of.width;
        places[index] = inside ? y * of.width + x : -1;
    }
}

/// The bits of a thread's channels of one pixel.
struct Pixel {
    uint16_t values[OF_WARP];
};

/// Reads a thread's channels of a pixel, of which `there` exist; the others are zero, as is what has no place.
FUNCTION Pixel read_pixel(const uint16_t *x, int place, int there, long long plane) {
    Pixel pixel;
#pragma unroll
    for (int channel = 0; channel < OF_WARP; channel++) {
        pixel.values[channel] = place >= 0 && channel < there ? x[channel * plane + place] : 0;
    }
    return pixel;
}

/// The same in fewer registers.
using PackedPixel = Pack<uint32_t, OF_WARP / 2>;

FUNCTION PackedPixel packed(const Pixel &pixel) {
    PackedPixel pairs;
#pragma unroll
    for (int pair = 0; pair < OF_WARP / 2; pair++) {
        pairs.values[pair] = joined(pixel.values[2 * pair], pixel.values[2 * pair + 1]);
    }
    return pairs;
}

template <typename T> FUNCTION void keep_pixels(T *to, const PackedPixel (&pixels)[COPIED], int around) {
#pragma unroll
    for (int index = 0; index < COPIED; index++) {
        int pixel = index * LANES + threadIdx.x % LANES;
        T *place = to + pixel * PITCH + threadIdx.x / LANES * OF_WARP;
        if (pixel < around) pixels[index].to(reinterpret_cast<uint32_t *>(place));
    }
}

/// Starts to copy a tile of kernels, `OUTPUTS` rows of the input channels in shared memory.
template <int OUTPUTS, typename T> FUNCTION void copy_kernels(T *to, const T *kernels, long long stride) {
    constexpr int CHUNKS = CHANNELS / 8;
#pragma unroll
    for (int index = threadIdx.x; index < OUTPUTS * CHUNKS; index += THREADS) {
        int row = index / CHUNKS, first = index % CHUNKS * 8;
        copy_ahead(to + row * PITCH + first, kernels + row * stride + first, true);
    }
}

/// Adds the products of kernels and pixels. `right` are the places of the thread's rows of the two pairs of matrices.
template <int STRIPS, typename T>
FUNCTION void multiply(float (&sums)[STRIPS][PIXELS / 8][4], const T *left, const T *const (&right)[2]) {
#pragma unroll
    for (int depth = 0; depth < CHANNELS; depth += SIDE) {
        uint32_t pixels[2][4];
#pragma unroll
        for (int pair = 0; pair < 2; pair++) load_matrices(pixels[pair], right[pair] + depth);
#pragma unroll
        for (int strip = 0; strip < STRIPS; strip++) {
            uint32_t kernels[4];
            load_matrices(kernels, left + strip * SIDE * PITCH + depth);
#pragma unroll
            for (int part = 0; part < PIXELS / 8; part++) {
                const uint32_t(&of_part)[4] = pixels[part / 2];
                multiply_add<T>(sums[strip][part], kernels, of_part[part % 2 * 2], of_part[part % 2 * 2 + 1]);
            }
        }
    }
}

FUNCTION void write_pair(float *place, float first, float second) { Pack<float, 2>{{first, second}}.to(place); }
template <typename T> FUNCTION void write_pair(T *place, float first, float second) {
    *reinterpret_cast<uint32_t *>(place) = both<T>(first, second);
}

/// Writes a thread's results to `out`, the planes of an image, those of neighbouring pixels together.
template <int STRIPS, typename T, typename Out>
FUNCTION void write_sums(Out *out, const float (&sums)[STRIPS][PIXELS / 8][4], const Convolution<T> &of, const Tile &tile,
                         int output, int pixel) {
    int lane = threadIdx.x % LANES;
    bool in_pairs = of.out_width % 2 == 0;
#pragma unroll
    for (int row = 0; row < 2 * STRIPS; row++) {
        int channel = output + row * 8 + lane / 4;
        if (channel >= of.outputs) continue;
        float bias = of.bias && of.shares == 1 ? wide(of.bias[channel]) : 0.0f;
        Out *plane = out + static_cast<long long>(channel) * of.out_height * of.out_width;
#pragma unroll
        for (int part = 0; part < PIXELS / 8; part++) {
            int own = pixel + part * 8 + lane % 4 * 2;
            int y = tile.top + (own >> of.log_width), x = tile.left + (own & (tile.width - 1));
            if (y >= of.out_height || x >= of.out_width) continue;
            const float *values = sums[row / 2][part] + row % 2 * 2;
            Out *place = plane + static_cast<long long>(y) * of.out_width + x;
            if (in_pairs) {
                write_pair(place, values[0] + bias, values[1] + bias);
            } else {
                place[0] = narrow<Out>(values[0] + bias);
                if (x + 1 < of.out_width) place[1] = narrow<Out>(values[1] + bias);
            }
        }
    }
}

/// The grid has a block for each tile of pixels, tile of outputs, and share of the input channels of an image.
template <int STRIPS, typename T> FUNCTION void convolve(const Convolution<T> &of) {
    constexpr int OUTPUTS = WARPS / WARPS_ACROSS * STRIPS * SIDE, STAGE = OUTPUTS * PITCH;
    SHARED_BYTES(shared);
    T *kernels = reinterpret_cast<T *>(shared), *pixels = kernels + STAGES * STAGE;
    int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    Tile tile = own_tile(of);
    Share share = own_share(of.tiles, of.shares);

    int places[COPIED];
    find_pixels(places, of, tile);
    long long plane = static_cast<long long>(of.height) * of.width;
    const T *own_plane = of.x + (static_cast<long long>(share.image) * of.channels + warp * OF_WARP) * plane;
    auto read = [&](int channels, int index) {
        auto *x = reinterpret_cast<const uint16_t *>(own_plane + channels * CHANNELS * plane);
        return read_pixel(x, places[index], of.channels - channels * CHANNELS - warp * OF_WARP, plane);
    };
    PackedPixel ahead[COPIED];
#pragma unroll
    for (int index = 0; index < COPIED; index++) ahead[index] = packed(read(share.first, index));
    keep_pixels(pixels, ahead, tile.around);

    int stride = of.tiles * CHANNELS, steps = (share.end - share.first) * PLACES;
    const T *first = of.kernels + static_cast<long long>(blockIdx.y) * OUTPUTS * stride + share.first * CHANNELS;
    auto copy = [&](int step) {
        long long place = static_cast<long long>(step % PLACES) * of.kernel_outputs * stride + step / PLACES * CHANNELS;
        if (step < steps) copy_kernels<OUTPUTS>(kernels + step % STAGES * STAGE, first + place, stride);
        end_group();
    };
    for (int step = 0; step < STAGES - 1; step++) copy(step);

    // The thread's rows in shared memory, as `load_matrices` takes them.
    int output = warp / WARPS_ACROSS * STRIPS * SIDE, pixel = warp % WARPS_ACROSS * PIXELS;
    const T *left = kernels + (output + lane % SIDE) * PITCH + lane / SIDE * 8;
    const T *own[2];
    for (int pair = 0; pair < 2; pair++) {
        int at = pixel + pair * SIDE + lane % 8 + lane / SIDE * 8;
        int around = (at >> of.log_width) * tile.around_width + (at & (tile.width - 1));
        own[pair] = pixels + around * PITCH + lane / 8 % 2 * 8;
    }

    float sums[STRIPS][PIXELS / 8][4];
#pragma unroll
    for (auto &strip : sums) {
#pragma unroll
        for (auto &part : strip) {
            for (float &sum : part) sum = 0.0f;
        }
    }
    int step = 0;
    for (int channels = share.first; channels < share.end; channels++) {
        bool more = channels + 1 < share.end;
        Pixel coming;
#pragma unroll
        for (int place = 0; place < PLACES; place++, step++) {
            // These kernels have arrived, and no thread needs the previous ones any more.
            wait_for_groups_but<STAGES - 2>();
            __syncthreads();
            copy(step + STAGES - 1);
            if (more && place > 0 && place <= COPIED) ahead[place - 1] = packed(coming);
            if (more && place < COPIED) coming = read(channels + 1, place);
            int shift = (place / ACROSS * tile.around_width + place % ACROSS) * PITCH;
            const T *right[2] = {own[0] + shift, own[1] + shift};
            multiply<STRIPS>(sums, left + step % STAGES * STAGE, right);
        }
        // No thread needs these pixels any more.
        __syncthreads();
        if (more) keep_pixels(pixels, ahead, tile.around);
    }
    long long values = static_cast<long long>(of.outputs) * of.out_height * of.out_width;
    output += blockIdx.y * OUTPUTS;
    if (of.shares == 1) {
        write_sums<STRIPS>(of.out + share.image * values, sums, of, tile, output, pixel);
    } else {
        write_sums<STRIPS>(of.sums + share.place * values, sums, of, tile, output, pixel);
    }
}

/// Lays kernels `[outputs, channels, 3, 3]` out as `[9, kernel_outputs, stride]`, padded with zeros. The grid has a row of
/// blocks per output.
template <typename T>
FUNCTION void lay_out(const T *kernels, T *out, int outputs, int channels, int kernel_outputs, int stride) {
    int output = blockIdx.y, channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= stride) return;
    bool there = output < outputs && channel < channels;
    const T *kernel = kernels + (static_cast<long long>(output) * channels + channel) * PLACES;
    for (int place = 0; place < PLACES; place++) {
        T value = there ? kernel[place] : narrow<T>(0.0f);
        out[(static_cast<long long>(place) * kernel_outputs + output) * stride + channel] = value;
    }
}

#define CONVOLUTION(name, T, STRIPS)                                                                                \
    extern "C" __global__ void __launch_bounds__(THREADS, 2) convolution_##name##_##STRIPS(                         \
        const T *x, const T *kernels, const T *bias, T *out, float *sums, int channels, int height, int width,      \
        int outputs, int out_height, int out_width, int padding, int tiles, int kernel_outputs, int log_width,      \
        int shares) {                                                                                               \
        Convolution<T> of = {x,          kernels,   bias,    out,   sums,           channels,  height, width,       \
                             outputs, out_height, out_width, padding, tiles, kernel_outputs, log_width, shares};    \
        convolve<STRIPS>(of);                                                                                       \
    }                                                                                                               \
    EMULATED(convolution_##name##_##STRIPS)
#define CONVOLUTIONS(name, T)                                                                                       \
    KERNEL lay_out_kernels_##name(const T *kernels, T *out, int outputs, int channels, int kernel_outputs,          \
                                  int stride) {                                                                     \
        lay_out(kernels, out, outputs, channels, kernel_outputs, stride);                                           \
    }                                                                                                               \
    EMULATED(lay_out_kernels_##name)                                                                                \
    ADD_SHARES(name, T)                                                                                             \
    CONVOLUTION(name, T, 1) CONVOLUTION(name, T, 2) CONVOLUTION(name, T, 4)

CONVOLUTIONS(f16, f16)
CONVOLUTIONS(bf16, bf16)
