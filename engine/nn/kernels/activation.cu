// Activations times a factor: the middle of gated feed-forwards. Each block of the grid handles a part of one
// row, or several where values are read one by one. The rows of the gate and of the factor may be strided; those of the result are contiguous.
#include "common.cuh"

/// `x · sigmoid(x)`.
struct Silu {
    FUNCTION static float of(float x) { return gated(x, x); }
};

/// `x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))`: `(1 + tanh(y)) / 2` is `sigmoid(2 · y)`.
struct GeluTanh {
    FUNCTION static float of(float x) {
        constexpr float TWICE = 1.5957691216057308f;
        return gated(x, x * (TWICE + TWICE * 0.044715f * x * x));
    }
};

/// `x / 2 · (1 + erf(x / √2))`.
struct Gelu {
    FUNCTION static float of(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f)); }
};

template <typename Curve, typename T, int N>
FUNCTION void some(const T *gate, const T *up, T *out, int width) {
    for (int place = first_place<N>(); place < width; place += places<N>()) {
        auto values = Pack<T, N>::from(gate + place), factors = Pack<T, N>::from(up + place);
        for (int each = 0; each < N; each++) {
            values.values[each] = narrow<T>(Curve::of(wide(values.values[each])) * wide(factors.values[each]));
        }
        values.to(out + place);
    }
}

template <typename Curve, typename T>
FUNCTION void curve_mul(const T *gate, const T *up, T *out, int width, long long gate_stride, long long up_stride) {
    constexpr int N = TOGETHER<T>;
    gate += blockIdx.x * gate_stride;
    up += blockIdx.x * up_stride;
    out += static_cast<long long>(blockIdx.x) * width;
    if (width % N == 0 && aligned(gate) && aligned(up)) {
        some<Curve, T, N>(gate, up, out, width);
    } else {
        some<Curve, T, 1>(gate, up, out, width);
    }
}

#define CURVE(kernel, Curve, name, T)                                                                               \
    KERNEL kernel##_##name(const T *gate, const T *up, T *out, int width, long long gate_stride,                    \
                           long long up_stride) {                                                                   \
        curve_mul<Curve, T>(gate, up, out, width, gate_stride, up_stride);                                          \
    }                                                                                                               \
    EMULATED(kernel##_##name)
#define CURVES(name, T)                                                                                             \
    CURVE(silu_mul, Silu, name, T) CURVE(gelu_tanh_mul, GeluTanh, name, T) CURVE(gelu_mul, Gelu, name, T)

CURVES(f32, float)
CURVES(f16, f16)
CURVES(bf16, bf16)
