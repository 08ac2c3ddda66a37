// Adaptive scales, shifts and gates. Each block of the grid handles a part of one row of `[rows, width]`. The
// `tokens` rows of a batch item share their factors; those of the next item are a stride away.
#include "common.cuh"

template <typename T> struct Factors {
    const T *values;
    long long stride;

    FUNCTION const T *of_row(int tokens) const {
        return values ? values + blockIdx.x / tokens * stride : nullptr;
    }
};

FUNCTION int column() { return blockIdx.y * blockDim.x + threadIdx.x; }

template <typename T, int N>
FUNCTION void modulate_some(const T *x, const T *scale, const T *shift, T *out, int width) {
    int place = column() * N;
    if (place >= width) return;
    auto values = Pack<T, N>::from(x + place), scales = Pack<T, N>::from(scale + place);
    float results[N];
    for (int each = 0; each < N; each++) {
        results[each] = wide(values.values[each]) * (1.0f + wide(scales.values[each]));
    }
    if (shift) {
        auto shifts = Pack<T, N>::from(shift + place);
        for (int each = 0; each < N; each++) results[each] += wide(shifts.values[each]);
    }
    for (int each = 0; each < N; each++) values.values[each] = narrow<T>(results[each]);
    values.to(out + place);
}

template <typename T, int N>
FUNCTION void gated_add_some(const T *x, const T *gate, const T *y, T *out, int width) {
    int place = column() * N;
    if (place >= width) return;
    auto values = Pack<T, N>::from(x + place), gates = Pack<T, N>::from(gate + place);
    auto added = Pack<T, N>::from(y + place);
    for (int each = 0; each < N; each++) {
        float sum = wide(values.values[each]) + wide(gates.values[each]) * wide(added.values[each]);
        values.values[each] = narrow<T>(sum);
    }
    values.to(out + place);
}

/// `x · (1 + scale) + shift`; the shift may be null.
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
    EMULATED(gated_add_##name)

MODULATION(f32, float)
MODULATION(f16, f16)
MODULATION(bf16, bf16)
