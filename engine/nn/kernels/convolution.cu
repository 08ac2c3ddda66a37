// 3×3 convolutions of planes with stride 1, as matrix products of kernels and pixels, without materializing the patches of
// the input (im2col). Each block of the grid computes a tile of pixels for some output channels: it keeps the input
// around the tile in shared memory, some channels at a time, and reads it there once for each of the nine places of the
// kernel.
#include "convolution.cuh"

/// Rows of a matrix instruction, and twice its columns.
constexpr int SIDE = 16;
/// Input channels that are in shared memory together, and those that fill 16 bytes.
constexpr int CHANNELS = 32, CHUNK = 8, CHUNKS = CHANNELS / CHUNK;

/// The work of a block: `DOWN_` warps along the outputs, each with `STRIPS_` times 16 of them, and `ALONG_` warps along the
/// pixels of a tile, each with `PAIRS_` times 16 of them. `STAGES_` tiles of kernels are in shared memory, or on their way.
template <int STRIPS_, int PAIRS_, int DOWN_, int ALONG_, int STAGES_> struct Shape {
    static constexpr int STRIPS = STRIPS_, PAIRS = PAIRS_, PARTS = 2 * PAIRS, DOWN = DOWN_, ALONG = ALONG_;
    static constexpr int WARPS = DOWN * ALONG, THREADS = WARPS * LANES, STAGES = STAGES_;
    static constexpr int OUTPUTS = DOWN * STRIPS * SIDE, TILE = ALONG * PAIRS * SIDE;
    /// Pixels of a tile with their neighbours; small tiles are 16 by 8 or 8 by 16, others 32 by 8 or 16 by 16.
    static constexpr int AROUND = TILE == 128 ? 180 : 340;
    /// Pairs of neighbouring pixels among these, those that are copied at once, and how often that happens.
    static constexpr int ALL_PAIRS = TILE == 128 ? 108 : 180, AT_ONCE = WARPS / CHUNKS * LANES;
    static constexpr int TURNS = (ALL_PAIRS + AT_ONCE - 1) / AT_ONCE;
    static_assert(WARPS % CHUNKS == 0 && TURNS < PLACES && (TILE == 128 || TILE == 256) && PARTS % 4 == 0);
};

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
    int left, top, width, around_width, around_height;
};

template <int TILE, typename T> FUNCTION Tile own_tile(const Convolution<T> &of) {
    int width = 1 << of.log_width, height = TILE >> of.log_width;
    int across = (of.out_width + width - 1) / width;
    int column = blockIdx.x % across, row = blockIdx.x / across;
    return {column * width, row * height, width, width + ACROSS - 1, height + ACROSS - 1};
}

/// Where a chunk of the channels of a row is in shared memory. The same chunk of eight rows that follow each other is in
/// different banks.
FUNCTION int place_of(int row, int chunk) { return row * CHANNELS + (chunk ^ (row >> 1 & (CHUNKS - 1))) * CHUNK; }

/// The pairs of neighbouring pixels that a thread copies: where the first one is in a plane, and 16 times its row in shared
/// memory, plus what is to be done.
template <int TURNS> struct Pairs {
    int from[TURNS], to[TURNS];
};
constexpr int KEEP_FIRST = 1, KEEP_SECOND = 2, READ_FIRST = 4, READ_SECOND = 8, ROWS = 16;

/// Pairs begin at even places of a row, so that both pixels can be read together where all rows have an even width.
template <typename Of, typename T> FUNCTION Pairs<Of::TURNS> own_pairs(const Convolution<T> &of, const Tile &tile) {
    Pairs<Of::TURNS> pairs;
    int skew = of.padding % 2, across = tile.around_width / 2 + skew;
#pragma unroll
    for (int turn = 0; turn < Of::TURNS; turn++) {
        int pair = turn * Of::AT_ONCE + threadIdx.x / (CHUNKS * LANES) * LANES + threadIdx.x % LANES;
        int row = pair / across, column = pair % across * 2 - skew;
        int y = tile.top - of.padding + row, x = tile.left - of.padding + column;
        int flags = 0;
        if (row < tile.around_height) {
            if (column >= 0) flags |= KEEP_FIRST;
            if (column + 1 < tile.around_width) flags |= KEEP_SECOND;
            bool inside = y >= 0 && y < of.height;
            if (inside && x >= 0 && x < of.width) flags |= READ_FIRST;
            if (inside && x + 1 >= 0 && x + 1 < of.width) flags |= READ_SECOND;
        }
        pairs.from[turn] = y * of.width + x;
        pairs.to[turn] = (row * tile.around_width + column) * ROWS + flags;
    }
    return pairs;
}

/// The bits of a chunk of the channels of two pixels, the first one in the lower half.
struct TwoPixels {
    uint32_t channels[CHUNK];
};

/// Reads a chunk of the channels of two pixels, of which `there` exist; the others are zero, as is what is outside.
FUNCTION TwoPixels read_pixels(const uint16_t *x, int to, int there, long long plane, bool together) {
    TwoPixels pixels;
    if (together) {
#pragma unroll
        for (int channel = 0; channel < CHUNK; channel++) {
            bool read = (to & READ_FIRST) && channel < there;
            pixels.channels[channel] = read ? *reinterpret_cast<const uint32_t *>(x + channel * plane) : 0;
        }
    } else {
#pragma unroll
        for (int channel = 0; channel < CHUNK; channel++) {
            uint16_t first = (to & READ_FIRST) && channel < there ? x[channel * plane] : 0;
            uint16_t second = (to & READ_SECOND) && channel < there ? x[channel * plane + 1] : 0;
            pixels.channels[channel] = first | static_cast<uint32_t>(second) << 16;
        }
    }
    return pixels;
}

/// Writes the pixels to their rows in shared memory.
template <typename T> FUNCTION void keep_pixels(T *to, const TwoPixels &pixels, int place, int chunk) {
    Pack<uint32_t, CHUNK / 2> first, second;
#pragma unroll
    for (int pair = 0; pair < CHUNK / 2; pair++) {
        uint32_t low = pixels.channels[2 * pair], high = pixels.channels[2 * pair + 1];
        first.values[pair] = lower_halves(low, high);
        second.values[pair] = upper_halves(low, high);
    }
    int row = place >> 4;
    if (place & KEEP_FIRST) first.to(reinterpret_cast<uint32_t *>(to + place_of(row, chunk)));
    if (place & KEEP_SECOND) second.to(reinterpret_cast<uint32_t *>(to + place_of(row + 1, chunk)));
}

/// Starts to copy a tile of kernels, rows of the input channels in shared memory. `kernels` is what the thread copies first;
/// its chunk is the same in all rows that it copies.
template <typename Of, typename T> FUNCTION void copy_kernels(T *to, const T *kernels, int stride) {
    constexpr int AT_ONCE = Of::THREADS / CHUNKS;
    int between = AT_ONCE * anew(stride);
    int own = threadIdx.x / CHUNKS;
    to += place_of(own, threadIdx.x % CHUNKS);
#pragma unroll
    for (int row = 0; row < Of::OUTPUTS; row += AT_ONCE) {
        if (Of::OUTPUTS % AT_ONCE == 0 || row + own < Of::OUTPUTS) copy_ahead(to + row * CHANNELS, kernels, true);
        kernels += between;
    }
}

template <typename Of> using Sums = float[Of::STRIPS][Of::PARTS][4];

/// Adds the products of kernels and pixels. `left` is where the thread's row of the first kernels is, and `right` are those of
/// the pixels, as `load_matrices` takes them. The kernels of the next strip are read before those of this one are needed.
template <typename Of, typename T>
FUNCTION void multiply(Sums<Of> &sums, const T *kernels, int left, const T *pixels, const int (&right)[Of::PAIRS]) {
#pragma unroll
    for (int depth = 0; depth < CHANNELS; depth += SIDE) {
        uint32_t of_pixels[Of::PAIRS][4], of_kernels[2][4];
        // The next chunks but one are in the place of these, with one bit changed.
        load_matrices(of_kernels[0], kernels + (left ^ depth));
#pragma unroll
        for (int pair = 0; pair < Of::PAIRS; pair++) load_matrices(of_pixels[pair], pixels + (right[pair] ^ depth));
#pragma unroll
        for (int strip = 0; strip < Of::STRIPS; strip++) {
            if (strip + 1 < Of::STRIPS) {
                load_matrices(of_kernels[(strip + 1) % 2], kernels + (left ^ depth) + (strip + 1) * SIDE * CHANNELS);
            }
#pragma unroll
            for (int part = 0; part < Of::PARTS; part++) {
                const uint32_t(&of_part)[4] = of_pixels[part / 2];
                multiply_add<T>(sums[strip][part], of_kernels[strip % 2], of_part[part % 2 * 2],
                                of_part[part % 2 * 2 + 1]);
            }
        }
    }
}

FUNCTION void write_pair(float *place, float first, float second) { Pack<float, 2>{{first, second}}.to(place); }
template <typename T> FUNCTION void write_pair(T *place, float first, float second) {
    *reinterpret_cast<uint32_t *>(place) = both<T>(first, second);
}

/// Swaps values between four threads, so that each gets from all of them those at the index of its own place.
FUNCTION void transpose(uint32_t (&values)[4]) {
    bool odd = threadIdx.x % 2 != 0, late = threadIdx.x % 4 >= 2;
    auto swap = [](uint32_t &one, uint32_t &other, bool second, int with) {
        uint32_t got = __shfl_xor_sync(ALL_LANES, second ? one : other, with);
        one = second ? got : one;
        other = second ? other : got;
    };
    swap(values[0], values[2], late, 2);
    swap(values[1], values[3], late, 2);
    swap(values[0], values[1], odd, 1);
    swap(values[2], values[3], odd, 1);
}

/// Stride of a warp's rows of sums in shared memory; those of eight rows that are written together are in different banks.
template <typename Of> constexpr int SUMS_PITCH = Of::PARTS * 8 + 8;

/// Writes the results of a warp to `out`, the planes of an image, from `output` and `pixel` on. They go through shared memory,
/// so that loops instead of long code write the results of all threads.
template <typename Of, typename T, typename Out>
FUNCTION void write_pairs(Out *out, float *shared, const Sums<Of> &sums, const Convolution<T> &of, const Tile &tile,
                          int output, int pixel) {
    constexpr int PITCH = SUMS_PITCH<Of>, PAIRS = Of::PARTS * 4;
    int lane = threadIdx.x % LANES;
    bool in_pairs = of.out_width % 2 == 0, biased = of.bias && of.shares == 1;
    float *rows = shared + threadIdx.x / LANES * SIDE * PITCH;
    // No thread needs what was in shared memory any more.
    __syncthreads();
#pragma unroll
    for (int strip = 0; strip < Of::STRIPS; strip++) {
#pragma unroll
        for (int part = 0; part < Of::PARTS; part++) {
            const float(&values)[4] = sums[strip][part];
            float *place = rows + lane / 4 * PITCH + part * 8 + lane % 4 * 2;
            write_pair(place, values[0], values[1]);
            write_pair(place + 8 * PITCH, values[2], values[3]);
        }
        __syncwarp();
#pragma unroll 1
        for (int index = lane; index < SIDE * PAIRS; index += LANES) {
            int row = index / PAIRS, pair = index % PAIRS * 2;
            int channel = output + strip * SIDE + row, own = pixel + pair;
            int y = tile.top + (own >> of.log_width), x = tile.left + (own & (tile.width - 1));
            if (channel >= of.outputs || y >= of.out_height || x >= of.out_width) continue;
            float bias = biased ? wide(of.bias[channel]) : 0.0f;
            float first = rows[row * PITCH + pair] + bias, second = rows[row * PITCH + pair + 1] + bias;
            Out *place = out + (static_cast<long long>(channel) * of.out_height + y) * of.out_width + x;
            if (in_pairs) {
                write_pair(place, first, second);
            } else {
                place[0] = narrow<Out>(first);
                if (x + 1 < of.out_width) place[1] = narrow<Out>(second);
            }
        }
        __syncwarp();
    }
}

/// The same without shared memory, for planes whose width is a multiple of 8: four threads swap their results, so that each
/// writes 8 pixels.
template <typename Of, typename T>
FUNCTION void write_eights(T *out, const Sums<Of> &sums, const Convolution<T> &of, const Tile &tile, int output,
                           int pixel) {
    int lane = threadIdx.x % LANES;
#pragma unroll
    for (int row = 0; row < 2 * Of::STRIPS; row++) {
        int channel = output + row * 8 + lane / 4;
        bool there = channel < of.outputs;
        float bias = there && of.bias ? wide(of.bias[channel]) : 0.0f;
        T *plane = out + static_cast<long long>(channel) * of.out_height * of.out_width;
#pragma unroll
        for (int first = 0; first < Of::PARTS; first += 4) {
            Pack<uint32_t, 4> eight;
#pragma unroll
            for (int part = 0; part < 4; part++) {
                const float *values = sums[row / 2][first + part] + row % 2 * 2;
                eight.values[part] = both<T>(values[0] + bias, values[1] + bias);
            }
            transpose(eight.values);
            int own = pixel + (first + lane % 4) * 8;
            int y = tile.top + (own >> of.log_width), x = tile.left + (own & (tile.width - 1));
            T *place = plane + static_cast<long long>(y) * of.out_width + x;
            if (there && y < of.out_height && x < of.out_width) eight.to(reinterpret_cast<uint32_t *>(place));
        }
    }
}

/// The grid has a block for each tile of pixels, tile of outputs, and share of the input channels of an image.
template <typename Of, typename T> FUNCTION void convolve(const Convolution<T> &of) {
    constexpr int STAGES = Of::STAGES, STAGE = Of::OUTPUTS * CHANNELS, AROUND = Of::AROUND * CHANNELS;
    SHARED_BYTES(shared);
    // There are two tiles of pixels: those that are multiplied, and the next ones.
    T *kernels = reinterpret_cast<T *>(shared), *pixels = kernels + STAGES * STAGE;
    int warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    Tile tile = own_tile<Of::TILE>(of);
    Share share = own_share(of.tiles, of.shares);

    auto pairs = own_pairs<Of>(of, tile);
    bool together = of.width % 2 == 0;
    int plane = of.height * of.width, chunk = warp % CHUNKS, first_channel = share.first * CHANNELS + chunk * CHUNK;
    // The planes that are read next.
    auto *x = reinterpret_cast<const uint16_t *>(of.x) +
              (static_cast<long long>(share.image) * of.channels + first_channel) * plane;
    int there = of.channels - first_channel;
    auto read = [&](int turn) { return read_pixels(x + pairs.from[turn], pairs.to[turn], there, anew(plane), together); };

    int stride = of.tiles * CHANNELS;
    long long of_place = static_cast<long long>(of.kernel_outputs) * stride;
    // Steps come one after the other, and so do their kernels.
    const T *coming_kernels = of.kernels + share.first * CHANNELS + threadIdx.x % CHUNKS * CHUNK +
                              static_cast<long long>(blockIdx.y * Of::OUTPUTS + threadIdx.x / CHUNKS) * stride;
    auto copy = [&](int place, int stage) {
        copy_kernels<Of>(kernels + stage * STAGE, coming_kernels, stride);
        coming_kernels += place % PLACES < PLACES - 1 ? of_place : CHANNELS - (PLACES - 1) * of_place;
    };
#pragma unroll
    for (int step = 0; step < STAGES - 1; step++) {
        copy(step, step);
        end_group();
    }
#pragma unroll
    for (int turn = 0; turn < Of::TURNS; turn++) keep_pixels(pixels, read(turn), pairs.to[turn], chunk);

    // The thread's rows in shared memory, as `load_matrices` takes them.
    int output = warp / Of::ALONG * Of::STRIPS * SIDE, pixel = warp % Of::ALONG * Of::PAIRS * SIDE;
    int left = place_of(output + lane % SIDE, lane / SIDE), own[Of::PAIRS];
#pragma unroll
    for (int pair = 0; pair < Of::PAIRS; pair++) {
        int at = pixel + pair * SIDE + lane % 8 + lane / SIDE * 8;
        own[pair] = (at >> of.log_width) * tile.around_width + (at & (tile.width - 1));
    }

    Sums<Of> sums;
#pragma unroll
    for (auto &strip : sums) {
#pragma unroll
        for (auto &part : strip) {
            for (float &sum : part) sum = 0.0f;
        }
    }
    for (int channels = share.first; channels < share.end; channels++) {
        int begin = (channels - share.first) * PLACES;
        bool more = channels + 1 < share.end;
        int of_round = (channels - share.first) % 2 * AROUND;
        const T *now = pixels + of_round;
        T *next = pixels + AROUND - of_round;
        TwoPixels coming;
        x += static_cast<long long>(CHANNELS) * plane;
        there -= CHANNELS;
#pragma unroll
        for (int place = 0; place < PLACES; place++) {
            int step = PLACES % STAGES == 0 ? place : begin + place;
            // These kernels have arrived, and no thread needs the previous ones any more, nor the pixels of the last round.
            wait_for_groups_but<STAGES - 2>();
            __syncthreads();
            if (more || place + STAGES - 1 < PLACES) copy(place + STAGES - 1, (step + STAGES - 1) % STAGES);
            end_group();
            if (more && place > 0 && place <= Of::TURNS) keep_pixels(next, coming, pairs.to[place - 1], chunk);
            if (more && place < Of::TURNS) coming = read(place);
            int shift = place / ACROSS * anew(tile.around_width) + place % ACROSS, right[Of::PAIRS];
#pragma unroll
            for (int pair = 0; pair < Of::PAIRS; pair++) right[pair] = place_of(own[pair] + shift, lane / 8 % 2);
            multiply<Of>(sums, kernels + step % STAGES * STAGE, left, now, right);
        }
    }
    static_assert(Of::WARPS * SIDE * SUMS_PITCH<Of> * sizeof(float) <= (STAGES * STAGE + 2 * AROUND) * sizeof(T));
    float *through = reinterpret_cast<float *>(shared);
    long long values = static_cast<long long>(of.outputs) * of.out_height * of.out_width;
    output += blockIdx.y * Of::OUTPUTS;
    if (of.shares > 1) {
        write_pairs<Of>(of.sums + share.place * values, through, sums, of, tile, output, pixel);
    } else if (of.out_width % 8 == 0) {
        write_eights<Of>(of.out + share.image * values, sums, of, tile, output, pixel);
    } else {
        write_pairs<Of>(of.out + share.image * values, through, sums, of, tile, output, pixel);
    }
}

/// Channels of a block that lays kernels out, its threads, and the values that it reads.
constexpr int LAID_OUT = 256, LAYING = 96, LAID_VALUES = LAID_OUT * PLACES;

/// Lays kernels `[outputs, channels, 3, 3]` out as `[9, kernel_outputs, stride]`, padded with zeros. The grid has a row of
/// blocks per output. Values go through shared memory, so that neighbouring ones are read and written together.
template <typename T>
FUNCTION void lay_out(const T *kernels, T *out, int outputs, int channels, int kernel_outputs, int stride) {
    SHARED_BYTES(shared);
    T *values = reinterpret_cast<T *>(shared);
    int output = blockIdx.y, start = blockIdx.x * LAID_OUT;
    const T *from = kernels + (static_cast<long long>(output) * channels + start) * PLACES;
    int there = output < outputs ? min(channels - start, LAID_OUT) * PLACES : 0;
    if (there % CHUNK == 0 && aligned(from)) {
        for (int index = threadIdx.x * CHUNK; index < LAID_VALUES; index += LAYING * CHUNK) {
            copy_ahead(values + index, from + (index < there ? index : 0), index < there);
        }
        wait_for_copies();
    } else {
        for (int index = threadIdx.x; index < LAID_VALUES; index += LAYING) {
            values[index] = index < there ? from[index] : narrow<T>(0.0f);
        }
    }
    __syncthreads();
    int chunks = min(stride - start, LAID_OUT) / CHUNK;
    for (int index = threadIdx.x; index < chunks * PLACES; index += LAYING) {
        int place = index / chunks, first = index % chunks * CHUNK;
        Pack<T, CHUNK> chunk;
#pragma unroll
        for (int each = 0; each < CHUNK; each++) chunk.values[each] = values[(first + each) * PLACES + place];
        chunk.to(out + (static_cast<long long>(place) * kernel_outputs + output) * stride + start + first);
    }
}

/// `SIZE` are the outputs and the pixels of a block, `BLOCKS` those that share a multiprocessor.
#define CONVOLUTION(name, T, SIZE, BLOCKS, ...)                                                                     \
    extern "C" __global__ void __launch_bounds__(__VA_ARGS__::THREADS, BLOCKS) convolution_##name##_##SIZE(         \
        const T *x, const T *kernels, const T *bias, T *out, float *sums, int channels, int height, int width,      \
        int outputs, int out_height, int out_width, int padding, int tiles, int kernel_outputs, int log_width,      \
        int shares) {                                                                                               \
        Convolution<T> of = {x,          kernels,   bias,    out,   sums,           channels,  height, width,       \
                             outputs, out_height, out_width, padding, tiles, kernel_outputs, log_width, shares};    \
        convolve<__VA_ARGS__>(of);                                                                                  \
    }                                                                                                               \
    EMULATED(convolution_##name##_##SIZE)
#define CONVOLUTIONS(name, T)                                                                                        \
    KERNEL lay_out_kernels_##name(const T *kernels, T *out, int outputs, int channels, int kernel_outputs,           \
                                  int stride) {                                                                      \
        lay_out(kernels, out, outputs, channels, kernel_outputs, stride);                                            \
    }                                                                                                                \
    EMULATED(lay_out_kernels_##name)                                                                                 \
    ADD_SHARES(name, T)                                                                                              \
    CONVOLUTION(name, T, 16x256, 2, Shape<1, 2, 1, 8, 3>)                                                           \
    CONVOLUTION(name, T, 32x256, 2, Shape<2, 2, 1, 8, 3>)                                                           \
    CONVOLUTION(name, T, 64x128, 2, Shape<4, 2, 1, 4, 3>)                                                           \
    CONVOLUTION(name, T, 128x128, 2, Shape<4, 4, 2, 2, 3>)                                                          \
    CONVOLUTION(name, T, 160x128, 2, Shape<5, 4, 2, 2, 2>)

CONVOLUTIONS(f16, f16)
CONVOLUTIONS(bf16, bf16)
