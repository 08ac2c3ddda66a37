// Norms over the last dimension, with modulation, and over groups of channels. Sums are in f32, around the
// mean if it is subtracted, and results are rounded once.
#include "common.cuh"

/// A row, its parameters and its modulation; null if absent.
template <typename T> struct Row {
    const T *x, *weight, *bias, *scale, *shift;
    T *out;
    int width;
};

template <typename T, int N> FUNCTION void norm_row(Row<T> row, float eps, bool centred) {
    using Values = Pack<T, N>;
    int first = threadIdx.x * N, step = blockDim.x * N;
    float mean = 0.0f;
    if (centred) {
        float sum = 0.0f;
        for (int place = first; place < row.width; place += step) {
            Values x = Values::from(row.x + place);
            for (int each = 0; each < N; each++) sum += wide(x.values[each]);
        }
        mean = sum_of_row(sum) / row.width;
    }
    float squares = 0.0f;
    for (int place = first; place < row.width; place += step) {
        Values x = Values::from(row.x + place);
        for (int each = 0; each < N; each++) {
            float value = wide(x.values[each]) - mean;
            squares += value * value;
        }
    }
    float factor = 1.0f / sqrtf(sum_of_row(squares) / row.width + eps);
    for (int place = first; place < row.width; place += step) {
        float values[N];
        Values x = Values::from(row.x + place);
        for (int each = 0; each < N; each++) values[each] = (wide(x.values[each]) - mean) * factor;
        if (row.weight) {
            Values weight = Values::from(row.weight + place);
            for (int each = 0; each < N; each++) values[each] *= wide(weight.values[each]);
        }
        if (row.bias) {
            Values bias = Values::from(row.bias + place);
            for (int each = 0; each < N; each++) values[each] += wide(bias.values[each]);
        }
        if (row.scale) {
            Values scale = Values::from(row.scale + place);
            for (int each = 0; each < N; each++) values[each] *= 1.0f + wide(scale.values[each]);
        }
        if (row.shift) {
            Values shift = Values::from(row.shift + place);
            for (int each = 0; each < N; each++) values[each] += wide(shift.values[each]);
        }
        for (int each = 0; each < N; each++) x.values[each] = narrow<T>(values[each]);
        x.to(row.out + place);
    }
}

/// One row of the grid's blocks per row of `x` `[rows, width]`. The `tokens` rows of a batch item share a
/// scale and a shift; those of the next item are a stride away.
template <typename T>
FUNCTION void norm_rows(Row<T> all, long long rows, int tokens, long long scale_stride, long long shift_stride,
                        float eps, int centred) {
    constexpr int N = TOGETHER<T>;
    long long index = static_cast<long long>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (index >= rows) return;
    long long item = index / tokens;
    Row<T> row = all;
    row.x += index * all.width;
    row.out += index * all.width;
    if (row.scale) row.scale += item * scale_stride;
    if (row.shift) row.shift += item * shift_stride;
    bool whole = all.width % N == 0 && aligned(row.x) && aligned(row.weight) && aligned(row.bias) &&
                 aligned(row.scale) && aligned(row.shift);
    if (whole) {
        norm_row<T, N>(row, eps, centred != 0);
    } else {
        norm_row<T, 1>(row, eps, centred != 0);
    }
}

/// Statistics of a piece of a group of channels.
struct Piece {
    float mean, squares;
};

FUNCTION long long smaller(long long one, long long other) { return one < other ? one : other; }

/// Packs that a thread reads before it needs the first of them.
constexpr int AHEAD = 4;

/// Statistics of the values that a thread has read: how many, their mean, and the sum of squares around it.
struct Found {
    float count, mean, squares;

    /// Adds those of other values, as in Chan et al. 1983.
    FUNCTION void add(const Found &other) {
        float all = count + other.count, distance = other.mean - mean, share = other.count / all;
        mean += distance * share;
        squares += other.squares + distance * distance * count * share;
        count = all;
    }
};

/// The statistics of `PACKS` packs of values, `step` apart, around a first estimate of their mean.
template <typename T, int N, int PACKS> FUNCTION Found packs_statistics(const T *x, int step, float guess) {
    Pack<T, N> packs[PACKS];
#pragma unroll
    for (int pack = 0; pack < PACKS; pack++) packs[pack] = Pack<T, N>::from(x + pack * step);
    float sum = 0.0f, squares = 0.0f;
#pragma unroll
    for (auto &pack : packs) {
        for (int each = 0; each < N; each++) sum += wide(pack.values[each]) - guess;
    }
    float mean = guess + sum / (PACKS * N);
#pragma unroll
    for (auto &pack : packs) {
        for (int each = 0; each < N; each++) {
            float value = wide(pack.values[each]) - mean;
            squares += value * value;
        }
    }
    return {PACKS * N, mean, squares};
}

/// The mean of each piece of a group, and the sum of squares around it. Each value is read once.
template <typename T, int N> FUNCTION Piece piece_statistics(const T *x, int count) {
    // Around a first estimate, so that a mean far from zero costs no precision.
    float guess = wide(x[0]);
    Found own = {0.0f, guess, 0.0f};
    int place = threadIdx.x * N, step = blockDim.x * N;
    for (; place + (AHEAD - 1) * step < count; place += AHEAD * step) {
        own.add(packs_statistics<T, N, AHEAD>(x + place, step, guess));
    }
    for (; place < count; place += step) own.add(packs_statistics<T, N, 1>(x + place, step, guess));
    float mean = guess + sum_of_row((own.mean - guess) * own.count) / count, distance = own.mean - mean;
    return {mean, sum_of_row(own.squares + distance * distance * own.count)};
}

/// Computes the statistics of each piece of each group. Groups are `size` consecutive values, pieces `piece`
/// of them. The grid has a column per piece and a row per group.
template <typename T>
FUNCTION void group_statistics(const T *x, Piece *pieces, long long size, int piece) {
    constexpr int N = TOGETHER<T>;
    long long start = static_cast<long long>(blockIdx.x) * piece;
    int count = static_cast<int>(smaller(piece, size - start));
    x += blockIdx.y * size + start;
    Piece found = count % N == 0 && aligned(x) ? piece_statistics<T, N>(x, count) : piece_statistics<T, 1>(x, count);
    if (threadIdx.x == 0) pieces[static_cast<long long>(blockIdx.y) * gridDim.x + blockIdx.x] = found;
}

/// The sum of a value over the threads of a warp. All of them get the result.
FUNCTION float sum_of_warp(float value) {
    for (int with = LANES / 2; with > 0; with /= 2) value += __shfl_xor_sync(ALL_LANES, value, with);
    return value;
}

/// The mean and the variance of a group of `size` values from those of its `count` pieces. All of them but the last have the
/// same length. Each warp computes this for itself, which takes less time than waiting for others.
FUNCTION Piece whole_group(const Piece *pieces, int count, int piece, long long size) {
    // They are combined as in Chan et al. 1983.
    float guess = pieces[0].mean, sum = 0.0f, squares = 0.0f, inverse = 1.0f / size;
    int lane = threadIdx.x % LANES;
    for (int index = lane; index < count; index += LANES) {
        float share = static_cast<float>(smaller(piece, size - static_cast<long long>(index) * piece)) * inverse;
        sum += (pieces[index].mean - guess) * share;
    }
    float offset = sum_of_warp(sum);
    for (int index = lane; index < count; index += LANES) {
        float share = static_cast<float>(smaller(piece, size - static_cast<long long>(index) * piece)) * inverse;
        float distance = pieces[index].mean - guess - offset;
        squares += pieces[index].squares * inverse + distance * distance * share;
    }
    return {guess + offset, sum_of_warp(squares)};
}

/// What becomes of the values of a channel.
struct Normed {
    float mean, factor, bias;
    bool silu;

    template <typename T, int N> FUNCTION void write(T *place, Pack<T, N> values) const {
        for (int each = 0; each < N; each++) {
            float value = (wide(values.values[each]) - mean) * factor + bias;
            values.values[each] = narrow<T>(silu ? silu_of<T>(value) : value);
        }
        values.to(place);
    }
};

/// Normalizes a part of a channel; `together` channels are a group. The grid has a row per channel of each
/// batch item, each with `plane` values; each group has `count` pieces. A thread has up to `AHEAD` packs, which it reads before
/// it computes the statistics.
template <typename T, int N>
FUNCTION void normed_some(const T *x, T *out, const Piece *pieces, const float *weight, const float *bias, int count,
                          int piece, long long size, long long plane, float eps, bool silu) {
    long long step = static_cast<long long>(gridDim.x) * blockDim.x * N;
    long long place = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * N;
    Pack<T, N> ahead[AHEAD];
#pragma unroll
    for (int pack = 0; pack < AHEAD; pack++) {
        if (place + pack * step < plane) ahead[pack] = Pack<T, N>::from(x + place + pack * step);
    }
    Piece group = whole_group(pieces, count, piece, size);
    Normed normed = {group.mean, *weight / sqrtf(group.squares + eps), *bias, silu};
#pragma unroll
    for (int pack = 0; pack < AHEAD; pack++) {
        if (place + pack * step < plane) normed.write(out + place + pack * step, ahead[pack]);
    }
    // A grid made for whole packs has too few threads for single values.
    for (place += AHEAD * step; place < plane; place += step) normed.write(out + place, Pack<T, N>::from(x + place));
}

template <typename T>
FUNCTION void group_norm(const T *x, const Piece *pieces, const float *weight, const float *bias, T *out, int count,
                         int piece, int channels, int together, long long plane, float eps, int silu) {
    constexpr int N = TOGETHER<T>;
    long long size = plane * together;
    pieces += static_cast<long long>(blockIdx.y / together) * count;
    weight += blockIdx.y % channels;
    bias += blockIdx.y % channels;
    x += blockIdx.y * plane;
    out += blockIdx.y * plane;
    if (plane % N == 0 && aligned(x)) {
        normed_some<T, N>(x, out, pieces, weight, bias, count, piece, size, plane, eps, silu != 0);
    } else {
        normed_some<T, 1>(x, out, pieces, weight, bias, count, piece, size, plane, eps, silu != 0);
    }
}

#define NORMS(name, T)                                                                                              \
    KERNEL norm_rows_##name(const T *x, const T *weight, const T *bias, const T *scale, const T *shift, T *out,     \
                            long long rows, int width, int tokens, long long scale_stride, long long shift_stride,  \
                            float eps, int centred) {                                                               \
        Row<T> all = {x, weight, bias, scale, shift, out, width};                                                   \
        norm_rows<T>(all, rows, tokens, scale_stride, shift_stride, eps, centred);                                  \
    }                                                                                                               \
    EMULATED(norm_rows_##name)                                                                                      \
    KERNEL group_statistics_##name(const T *x, Piece *pieces, long long size, int piece) {                          \
        group_statistics<T>(x, pieces, size, piece);                                                                \
    }                                                                                                               \
    EMULATED(group_statistics_##name)                                                                               \
    KERNEL group_norm_##name(const T *x, const Piece *pieces, const float *weight, const float *bias, T *out,       \
                             int count, int piece, int channels, int together, long long plane, float eps,          \
                             int silu) {                                                                            \
        group_norm<T>(x, pieces, weight, bias, out, count, piece, channels, together, plane, eps, silu);            \
    }                                                                                                               \
    EMULATED(group_norm_##name)

NORMS(f32, float)
NORMS(f16, f16)
NORMS(bf16, bf16)
