// Adaptive scales, shifts and gates, and biases. Each block of the grid handles a part of one row of `[rows, width]`;
// where values are read one by one, several parts. The `tokens` rows of a batch item share their factors; those of the
// next item are a stride away.
#include "common.cuh"

template <typename T> struct Factors {
    const T *values;
    long long stride;

    FUNCTION const T *of_row(int tokens) const {
        return values ? values + blockIdx.x / tokens * stride : nullptr;
    }
};


template <typename T, int N>
FUNCTION void modulate_some(const T *x, const T *scale, const T *shift, T *out, int width) {
    for (int place = first_place<N>(); place < width; place += places<N>()) {
        auto values = Pack<T, N>::from(x + place);
        float results[N];
        for (int each = 0; each < N; each++) results[each] = wide(values.values[each]);
        if (scale) {
            auto scales = Pack<T, N>::from(scale + place);
            for (int each = 0; each < N; each++) results[each] *= 1.0f + wide(scales.values[each]);
        }
        if (shift) {
            auto shifts = Pack<T, N>::from(shift + place);
            for (int each = 0; each < N; each++) results[each] += wide(shifts.values[each]);
        }
        for (int each = 0; each < N; each++) values.values[each] = narrow<T>(results[each]);
        values.to(out + place);
    }
}

template <typename T, int N>
FUNCTION void gated_add_some(const T *x, const T *gate, const T *y, T *out, int width) {
    for (int place = first_place<N>(); place < width; place += places<N>()) {
        auto values = Pack<T, N>::from(x + place), gates = Pack<T, N>::from(gate + place);
        auto added = Pack<T, N>::from(y + place);
        for (int each = 0; each < N; each++) {
            float sum = wide(values.values[each]) + wide(gates.values[each]) * wide(added.values[each]);
            values.values[each] = narrow<T>(sum);
        }
        values.to(out + place);
    }
}

/// `x · (1 + scale) + shift`; the scale and the shift may be null.
template <typename T>
FUNCTION void modulate(const T *x, Factors<T> scales, Factors<T> shifts, T *out, int width, int tokens) {
    constexpr int N = TOGETHER<T>;
    const T *scale = scales.of_row(tokens), *shift = shifts.of_row(tokens);
    long long row = static_cast<long long>(blockIdx.x) * width;
    if (width % N == 0 && aligned(x) && aligned(scale) && aligned(shift)) {
        modulate_some<T, N>(x + row, scale, shift, out + row, width);
    } else {
        modulate_some<T, 1>(x + row, scale, shift, out + row, width);
    }
}

/// `x + gate · y`.
template <typename T>
FUNCTION void gated_add(const T *x, Factors<T> gates, const T *y, T *out, int width, int tokens) {
    constexpr int N = TOGETHER<T>;
    const T *gate = gates.of_row(tokens);
    long long row = static_cast<long long>(blockIdx.x) * width;
    if (width % N == 0 && aligned(x) && aligned(gate) && aligned(y)) {
        gated_add_some<T, N>(x + row, gate, y + row, out + row, width);
    } else {
        gated_add_some<T, 1>(x + row, gate, y + row, out + row, width);
    }
}

/// Adds a value to each channel of `x` `[batch, channels, plane]`. The grid has a row for each channel of each batch
/// item.
template <typename T, int N>
FUNCTION void add_to_channel_some(const T *x, float added, T *out, long long plane) {
    long long step = static_cast<long long>(gridDim.x) * blockDim.x * N;
    long long place = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * N;
    for (; place < plane; place += step) {
        auto values = Pack<T, N>::from(x + place);
        for (int each = 0; each < N; each++) values.values[each] = narrow<T>(wide(values.values[each]) + added);
        values.to(out + place);
    }
}

template <typename T>
FUNCTION void add_to_channels(const T *x, const T *added, T *out, int channels, long long plane) {
    constexpr int N = TOGETHER<T>;
    float value = wide(added[blockIdx.y % channels]);
    x += blockIdx.y * plane;
    out += blockIdx.y * plane;
    if (plane % N == 0 && aligned(x)) {
        add_to_channel_some<T, N>(x, value, out, plane);
    } else {
        add_to_channel_some<T, 1>(x, value, out, plane);
    }
}

#define MODULATION(name, T)                                                                                         \
    KERNEL modulate_##name(const T *x, const T *scale, const T *shift, T *out, int width, int tokens,               \
                           long long scale_stride, long long shift_stride) {                                        \
        modulate<T>(x, {scale, scale_stride}, {shift, shift_stride}, out, width, tokens);                           \
    }                                                                                                               \
    EMULATED(modulate_##name)                                                                                       \
    KERNEL gated_add_##name(const T *x, const T *gate, const T *y, T *out, int width, int tokens,                   \
                            long long gate_stride) {                                                                \
        gated_add<T>(x, {gate, gate_stride}, y, out, width, tokens);                                                \
    }                                                                                                               \
    EMULATED(gated_add_##name)                                                                                      \
    KERNEL add_to_channels_##name(const T *x, const T *added, T *out, int channels, long long plane) {              \
        add_to_channels<T>(x, added, out, channels, plane);                                                         \
    }                                                                                                               \
    EMULATED(add_to_channels_##name)

MODULATION(f32, float)
MODULATION(f16, f16)
MODULATION(bf16, bf16)
