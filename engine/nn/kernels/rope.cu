// Rotary position embedding. Each block of the grid handles all heads of one token of
// `[batch, tokens, heads, width]`.
#include "common.cuh"

/// Cosines and sines of a token, f32 `[tokens, width / 2]` or `[tokens, width]` each.
struct Angles {
    const float *cos, *sin;

    FUNCTION Angles of_token(int tokens, int count) const {
        long long place = static_cast<long long>(blockIdx.x % tokens) * count;
        return {cos + place, sin + place};
    }
};

/// Rotates neighbouring values, in f32.
template <typename T, int N>
FUNCTION void rotate_neighbours(const T *x, Angles angles, T *out, int count, int width) {
    for (int place = threadIdx.x * N; place < count; place += blockDim.x * N) {
        auto values = Pack<T, N>::from(x + place);
        int pair = place % width / 2;
        for (int each = 0; each < N / 2; each++) {
            float a = wide(values.values[2 * each]), b = wide(values.values[2 * each + 1]);
            float cos = angles.cos[pair + each], sin = angles.sin[pair + each];
            values.values[2 * each] = narrow<T>(a * cos - b * sin);
            values.values[2 * each + 1] = narrow<T>(a * sin + b * cos);
        }
        values.to(out + place);
    }
}

/// The sum of two products, each rounded, as computed in the type of the values.
template <typename T> FUNCTION T rounded_sum(T a, T b, T c, T d, float sign) {
    T first = narrow<T>(wide(a) * wide(b)), second = narrow<T>(wide(c) * wide(d));
    return narrow<T>(wide(first) + sign * wide(second));
}

/// Rotates values of the first half of a head with those of the second half, in the type of the values. The angles of the
/// second half are `apart` from those of the first.
template <typename T, int N>
FUNCTION void rotate_halves(const T *x, Angles angles, T *out, int heads, int pairs, int apart) {
    int packs = pairs / N;
    for (int index = threadIdx.x; index < heads * packs; index += blockDim.x) {
        int pair = index % packs * N, place = index / packs * 2 * pairs + pair;
        auto a = Pack<T, N>::from(x + place), b = Pack<T, N>::from(x + place + pairs);
        auto first = a, second = b;
        for (int each = 0; each < N; each++) {
            int own = pair + apart + each;
            T cos = narrow<T>(angles.cos[pair + each]), sin = narrow<T>(angles.sin[pair + each]);
            first.values[each] = rounded_sum(a.values[each], cos, b.values[each], sin, -1.0f);
            cos = narrow<T>(angles.cos[own]), sin = narrow<T>(angles.sin[own]);
            second.values[each] = rounded_sum(b.values[each], cos, a.values[each], sin, 1.0f);
        }
        first.to(out + place);
        second.to(out + place + pairs);
    }
}

/// `x` is aligned to 16 bytes.
template <typename T>
FUNCTION void rope_interleaved(const T *x, Angles angles, T *out, int tokens, int heads, int width) {
    constexpr int N = TOGETHER<T>;
    int count = heads * width;
    long long row = static_cast<long long>(blockIdx.x) * count;
    Angles own = angles.of_token(tokens, width / 2);
    if (width % N == 0) {
        rotate_neighbours<T, N>(x + row, own, out + row, count, width);
    } else {
        rotate_neighbours<T, 2>(x + row, own, out + row, count, width);
    }
}

template <typename T>
FUNCTION void rope_half(const T *x, Angles angles, T *out, int tokens, int heads, int width, int apart) {
    constexpr int N = TOGETHER<T>;
    int pairs = width / 2;
    long long row = static_cast<long long>(blockIdx.x) * heads * width;
    Angles own = angles.of_token(tokens, pairs + apart);
    if (pairs % N == 0 && aligned(x)) {
        rotate_halves<T, N>(x + row, own, out + row, heads, pairs, apart);
    } else {
        rotate_halves<T, 1>(x + row, own, out + row, heads, pairs, apart);
    }
}

#define ROPE(name, T)                                                                                               \
    KERNEL rope_interleaved_##name(const T *x, const float *cos, const float *sin, T *out, int tokens, int heads,   \
                                   int width) {                                                                     \
        rope_interleaved<T>(x, {cos, sin}, out, tokens, heads, width);                                              \
    }                                                                                                               \
    EMULATED(rope_interleaved_##name)                                                                               \
    KERNEL rope_half_##name(const T *x, const float *cos, const float *sin, T *out, int tokens, int heads,          \
                            int width, int apart) {                                                                 \
        rope_half<T>(x, {cos, sin}, out, tokens, heads, width, apart);                                              \
    }                                                                                                               \
    EMULATED(rope_half_##name)

ROPE(f32, float)
ROPE(f16, f16)
ROPE(bf16, bf16)
