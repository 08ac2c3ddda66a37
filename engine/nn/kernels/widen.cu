// Dequantizes stored weights, eight consecutive values per thread. The operations are those of `precision` on
// the CPU in the same order, and none are fused, so that results are bit-identical.
#include "common.cuh"

/// Values per thread.
constexpr int RUN = 8;

/// Neighbouring bytes, in as few reads as their alignment allows.
struct Bytes {
    uint8_t values[RUN];

    FUNCTION static Bytes from(const uint8_t *place) {
        Bytes bytes;
        if (reinterpret_cast<uintptr_t>(place) % RUN == 0) {
            uint64_t all = *reinterpret_cast<const uint64_t *>(place);
            for (int each = 0; each < RUN; each++) bytes.values[each] = static_cast<uint8_t>(all >> (8 * each));
        } else if (reinterpret_cast<uintptr_t>(place) % 2 == 0) {
            for (int each = 0; each < RUN; each += 2) {
                uint16_t both = *reinterpret_cast<const uint16_t *>(place + each);
                bytes.values[each] = static_cast<uint8_t>(both);
                bytes.values[each + 1] = static_cast<uint8_t>(both >> 8);
            }
        } else {
            for (int each = 0; each < RUN; each++) bytes.values[each] = place[each];
        }
        return bytes;
    }
};

FUNCTION float as_float(uint32_t bits) { return __uint_as_float(bits); }

/// A little-endian f16 at any alignment.
FUNCTION float half_at(const uint8_t *place) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(place[0] | place[1] << 8)));
}

/// A little-endian f32 at any alignment.
FUNCTION float float_at(const uint8_t *place) {
    if (reinterpret_cast<uintptr_t>(place) % 4 == 0) return *reinterpret_cast<const float *>(place);
    return as_float(place[0] | place[1] << 8 | place[2] << 16 | static_cast<uint32_t>(place[3]) << 24);
}

/// An 8-bit float with 4 exponent bits, whose only special value is NaN.
FUNCTION float e4m3(uint8_t bits) {
    uint32_t magnitude = bits & 0x7f, sign = static_cast<uint32_t>(bits & 0x80) << 24;
    if (magnitude == 0x7f) return as_float(sign | 0x7fc00000);
    // Removes the implicit leading one, which a number with a zero exponent lacks.
    constexpr uint32_t ONE = 121u << 23;
    uint32_t small = __float_as_uint(__fsub_rn(as_float((magnitude << 20) + ONE), as_float(ONE)));
    return as_float(sign | (magnitude < 8 ? small : (magnitude << 20) + (120u << 23)));
}

FUNCTION float e5m2(uint8_t bits) { return __half2float(__ushort_as_half(static_cast<unsigned short>(bits << 8))); }

/// `scale · code`.
FUNCTION void write(float (&out)[RUN], const int (&codes)[RUN], float scale) {
    for (int each = 0; each < RUN; each++) out[each] = __fmul_rn(scale, static_cast<float>(codes[each]));
}

/// `scale · code + offset`.
FUNCTION void write(float (&out)[RUN], const int (&codes)[RUN], float scale, float offset) {
    write(out, codes, scale);
    for (int each = 0; each < RUN; each++) out[each] = __fadd_rn(out[each], offset);
}

/// The bits of a mask from several bytes.
FUNCTION void bits(int (&codes)[RUN], const uint8_t *place, int shift, int mask) {
    Bytes bytes = Bytes::from(place);
    for (int each = 0; each < RUN; each++) codes[each] = bytes.values[each] >> shift & mask;
}

/// Adds one bit of each byte, with the value `worth`.
FUNCTION void add_bit(int (&codes)[RUN], const uint8_t *place, int shift, int worth) {
    Bytes bytes = Bytes::from(place);
    for (int each = 0; each < RUN; each++) codes[each] += (bytes.values[each] >> shift & 1) * worth;
}

FUNCTION void less(int (&codes)[RUN], int by) {
    for (int each = 0; each < RUN; each++) codes[each] -= by;
}

/// 4-bit codes of a block of 32: the first 16 values are the lower halves.
FUNCTION void halves(int (&codes)[RUN], const uint8_t *low, int at) { bits(codes, low + at % 16, at / 16 * 4, 15); }

/// The same with bits of 4 bytes as their fifth bits.
FUNCTION void five_bits(int (&codes)[RUN], const uint8_t *high, const uint8_t *low, int at) {
    halves(codes, low, at);
    for (int each = 0; each < RUN; each++) codes[each] += (high[at / 8] >> each & 1) << 4;
}

/// The non-uniform steps of the IQ4 types.
static __device__ const float UNEVEN[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

FUNCTION void uneven(float (&out)[RUN], const uint8_t *packed, int at, float scale) {
    int codes[RUN];
    halves(codes, packed, at);
    for (int each = 0; each < RUN; each++) out[each] = __fmul_rn(scale, UNEVEN[codes[each]]);
}

/// Twice the values of 4-bit floats, as GGUF's programs have them.
static __device__ const float DOUBLED[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// The sixteen NF4 values of bitsandbytes.
static __device__ const float NORMAL[16] = {
    -1.0f,        -0.6961928f, -0.52507305f, -0.3949175f, -0.28444138f, -0.18477343f, -0.091050036f, 0.0f,
    0.0795803f,   0.1609302f,  0.2461123f,   0.33791524f, 0.44070983f,  0.562617f,    0.72295684f,   1.0f,
};

/// The sixteen FP4 values of bitsandbytes.
static __device__ const float TREE[16] = {
    0.0f, 0.0052083333f,  0.6666667f,  1.0f,  0.33333334f,  0.5f,  0.16666667f,  0.25f,
    0.0f, -0.0052083333f, -0.6666667f, -1.0f, -0.33333334f, -0.5f, -0.16666667f, -0.25f,
};

/// The sixteen floats with 2 exponent bits and 1 mantissa bit.
static __device__ const float TINY[16] = {
    0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f, -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f,
};

// A format has blocks of `VALUES` values in `BYTES` bytes. `run` computes the values from `at` on, which is a
// multiple of 8. At the end of a tensor there may be fewer than 8; it reads no more than there are.

struct F8E4m3 {
    static constexpr int VALUES = 1, BYTES = 1;
    FUNCTION static float value(uint8_t code) { return e4m3(code); }
};

struct F8E5m2 {
    static constexpr int VALUES = 1, BYTES = 1;
    FUNCTION static float value(uint8_t code) { return e5m2(code); }
};

struct I8 {
    static constexpr int VALUES = 1, BYTES = 1;
    FUNCTION static float value(uint8_t code) { return static_cast<float>(static_cast<int8_t>(code)); }
};

struct I4 {
    static constexpr int VALUES = 2, BYTES = 1;
    FUNCTION static float value(int code) { return static_cast<float>(code < 8 ? code : code - 16); }
};

struct Nf4 {
    static constexpr int VALUES = 2, BYTES = 1;
    FUNCTION static float value(int code) { return NORMAL[code]; }
};

struct Fp4 {
    static constexpr int VALUES = 2, BYTES = 1;
    FUNCTION static float value(int code) { return TREE[code]; }
};

struct E2m1 {
    static constexpr int VALUES = 2, BYTES = 1;
    FUNCTION static float value(int code) { return TINY[code]; }
};

template <typename Format> FUNCTION void codes_of_bytes(float (&out)[RUN], const uint8_t *place, int count) {
    if (count == RUN) {
        Bytes bytes = Bytes::from(place);
        for (int each = 0; each < RUN; each++) out[each] = Format::value(bytes.values[each]);
    } else {
        for (int each = 0; each < RUN; each++) out[each] = each < count ? Format::value(place[each]) : 0.0f;
    }
}

/// The first of two codes is in the upper half of a byte.
template <typename Format> FUNCTION void codes_of_halves(float (&out)[RUN], const uint8_t *place, int count) {
    for (int each = 0; each < RUN; each += 2) {
        int both = each < count ? place[each / 2] : 0;
        out[each] = Format::value(both >> 4);
        out[each + 1] = Format::value(both & 15);
    }
}

struct Q4_0 {
    static constexpr int VALUES = 32, BYTES = 18;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        int codes[RUN];
        halves(codes, block + 2, at);
        less(codes, 8);
        write(out, codes, half_at(block));
    }
};

struct Q4_1 {
    static constexpr int VALUES = 32, BYTES = 20;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        int codes[RUN];
        halves(codes, block + 4, at);
        write(out, codes, half_at(block), half_at(block + 2));
    }
};

struct Q5_0 {
    static constexpr int VALUES = 32, BYTES = 22;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        int codes[RUN];
        five_bits(codes, block + 2, block + 6, at);
        less(codes, 16);
        write(out, codes, half_at(block));
    }
};

struct Q5_1 {
    static constexpr int VALUES = 32, BYTES = 24;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        int codes[RUN];
        five_bits(codes, block + 4, block + 8, at);
        write(out, codes, half_at(block), half_at(block + 2));
    }
};

struct Q8_0 {
    static constexpr int VALUES = 32, BYTES = 34;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        Bytes bytes = Bytes::from(block + 2 + at);
        int codes[RUN];
        for (int each = 0; each < RUN; each++) codes[each] = static_cast<int8_t>(bytes.values[each]);
        write(out, codes, half_at(block));
    }
};

struct Iq4Nl {
    static constexpr int VALUES = 32, BYTES = 18;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        uneven(out, block + 2, at, half_at(block));
    }
};

struct Mxfp4 {
    static constexpr int VALUES = 32, BYTES = 17;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        int codes[RUN];
        halves(codes, block + 1, at);
        uint32_t exponent = block[0];
        float scale = as_float(exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23);
        for (int each = 0; each < RUN; each++) out[each] = __fmul_rn(scale, DOUBLED[codes[each]]);
    }
};

// Of 256 values, each 128 have their own 32 bytes: bits of the first 32 values, of the next 32, and so on.

struct Q2K {
    static constexpr int VALUES = 256, BYTES = 84;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        int own = block[at / 16], codes[RUN];
        bits(codes, block + 16 + at / 128 * 32 + at % 32, at % 128 / 32 * 2, 3);
        float scale = __fmul_rn(half_at(block + 80), static_cast<float>(own & 15));
        write(out, codes, scale, -__fmul_rn(half_at(block + 82), static_cast<float>(own >> 4)));
    }
};

struct Q3K {
    static constexpr int VALUES = 256, BYTES = 110;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        int group = at / 16, codes[RUN];
        int low = block[96 + group % 8] >> (group / 8 * 4) & 15, high = block[104 + group % 4] >> (group / 4 * 2) & 3;
        bits(codes, block + 32 + at / 128 * 32 + at % 32, at % 128 / 32 * 2, 3);
        // A set third bit means that nothing is subtracted.
        add_bit(codes, block + at % 32, at / 32, 4);
        less(codes, 4);
        write(out, codes, __fmul_rn(half_at(block + 108), static_cast<float>((low | high << 4) - 32)));
    }
};

/// The scale and the minimum of 32 values; Q4_K and Q5_K pack eight of each into 12 bytes.
FUNCTION void write_with_minimum(float (&out)[RUN], const int (&codes)[RUN], const uint8_t *block, int index) {
    const uint8_t *packed = block + 4;
    int scale, minimum;
    if (index < 4) {
        scale = packed[index] & 63;
        minimum = packed[index + 4] & 63;
    } else {
        scale = (packed[index + 4] & 15) | (packed[index - 4] >> 2 & 48);
        minimum = packed[index + 4] >> 4 | (packed[index] >> 2 & 48);
    }
    float offset = -__fmul_rn(half_at(block + 2), static_cast<float>(minimum));
    write(out, codes, __fmul_rn(half_at(block), static_cast<float>(scale)), offset);
}

struct Q4K {
    static constexpr int VALUES = 256, BYTES = 144;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        int codes[RUN];
        bits(codes, block + 16 + at / 64 * 32 + at % 32, at % 64 / 32 * 4, 15);
        write_with_minimum(out, codes, block, at / 32);
    }
};

struct Q5K {
    static constexpr int VALUES = 256, BYTES = 176;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        int codes[RUN];
        bits(codes, block + 48 + at / 64 * 32 + at % 32, at % 64 / 32 * 4, 15);
        add_bit(codes, block + 16 + at % 32, at / 32, 16);
        write_with_minimum(out, codes, block, at / 32);
    }
};

struct Q6K {
    static constexpr int VALUES = 256, BYTES = 210;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        // Each 128 values have 64 bytes of halves, first all lower halves, then all upper halves; and 32
        // bytes of 2-bit parts.
        int part = at / 128, quarter = at % 128 / 32, codes[RUN];
        bits(codes, block + 64 * part + at % 64, quarter / 2 * 4, 15);
        Bytes pairs = Bytes::from(block + 128 + 32 * part + at % 32);
        for (int each = 0; each < RUN; each++) codes[each] += (pairs.values[each] >> (2 * quarter) & 3) << 4;
        less(codes, 32);
        write(out, codes, __fmul_rn(half_at(block + 208), static_cast<float>(static_cast<int8_t>(block[192 + at / 16]))));
    }
};

struct Iq4Xs {
    static constexpr int VALUES = 256, BYTES = 136;
    FUNCTION static void run(float (&out)[RUN], const uint8_t *block, int at) {
        int index = at / 32, high = block[2 + index / 4] >> (index % 4 * 2) & 3;
        int own = (block[4 + index / 2] >> (index % 2 * 4) & 15) | high << 4;
        uneven(out, block + 8 + 16 * index, at % 32, __fmul_rn(half_at(block), static_cast<float>(own - 32)));
    }
};

/// `count` values of a format from index `start` on.
template <typename Format> struct Stored {
    FUNCTION static void run(float (&out)[RUN], const uint8_t *bytes, long long start, int count) {
        if constexpr (Format::VALUES == 1) {
            codes_of_bytes<Format>(out, bytes + start, count);
        } else if constexpr (Format::VALUES == 2) {
            codes_of_halves<Format>(out, bytes + start / 2, count);
        } else {
            const uint8_t *block = bytes + start / Format::VALUES * Format::BYTES;
            Format::run(out, block, static_cast<int>(start % Format::VALUES));
        }
    }
};

/// Threads per block.
constexpr int THREADS = 256;

/// Rotates the integers of the block's threads, `rotation` neighbours together: a step for each power of four.
/// Their sums are exact.
FUNCTION void turn(float (&values)[RUN], int rotation) {
    __shared__ float all[THREADS * RUN];
    int first = static_cast<int>(threadIdx.x) * RUN;
    for (int each = 0; each < RUN; each++) all[first + each] = values[each];
    for (int step = 1; step < rotation; step *= 4) {
        __syncthreads();
        for (int each = 0; each < RUN; each++) {
            int place = first + each, part = place / step % 4, start = place - part * step;
            float sum = all[start] + all[start + step] + all[start + 2 * step] + all[start + 3 * step];
            values[each] = sum - 2.0f * all[start + (3 - part) * step];
        }
        __syncthreads();
        for (int each = 0; each < RUN; each++) all[first + each] = values[each];
    }
}

/// What follows the values: scales and zero points in f32, one per `group` values, if there is a group. Zero points
/// are subtracted before the product with the scale, or `added` after it.
struct Tail {
    const uint8_t *scales, *zeros;
    long long group;
    int added;

    FUNCTION void apply(float (&values)[RUN], long long start, int count) const {
        if (group == 0) return;
        long long index = start / group, left = (index + 1) * group - start;
        float scale = float_at(scales + 4 * index), zero = zeros ? float_at(zeros + 4 * index) : 0.0f;
        for (int each = 0; each < count; each++) {
            if (left == 0) {
                index++;
                scale = float_at(scales + 4 * index);
                if (zeros) zero = float_at(zeros + 4 * index);
                left = group;
            }
            if (zeros && !added) values[each] = __fsub_rn(values[each], zero);
            values[each] = __fmul_rn(values[each], scale);
            if (zeros && added) values[each] = __fadd_rn(values[each], zero);
            left--;
        }
    }
};

template <typename T> FUNCTION void write_all(T *out, const float (&values)[RUN], int count) {
    if (count == RUN) {
        constexpr int N = RUN < TOGETHER<T> ? RUN : TOGETHER<T>;
        for (int first = 0; first < RUN; first += N) {
            Pack<T, N> pack;
            for (int each = 0; each < N; each++) pack.values[each] = narrow<T>(values[first + each]);
            pack.to(out + first);
        }
    } else {
        for (int each = 0; each < count; each++) out[each] = narrow<T>(values[each]);
    }
}

/// `count` values of `bytes`; `rotation` of them are rotated together, if it is not 0.
template <typename Format, bool TURNS, typename T>
FUNCTION void widen(const uint8_t *bytes, Tail tail, T *out, long long count, int rotation) {
    long long start = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) * RUN;
    int own = count - start < RUN ? static_cast<int>(count - start) : RUN;
    float values[RUN] = {};
    if (own > 0) Stored<Format>::run(values, bytes, start, own);
    if constexpr (TURNS) turn(values, rotation);
    if (own <= 0) return;
    tail.apply(values, start, own);
    write_all(out + start, values, own);
}

#define PARAMETERS(T)                                                                                               \
    const uint8_t *bytes, const uint8_t *scales, const uint8_t *zeros, T *out, long long count, long long group,     \
        int added, int rotation
#define WIDEN(Format, format, name, T)                                                                              \
    KERNEL widen_##format##_##name(PARAMETERS(T)) {                                                                 \
        widen<Format, false>(bytes, Tail{scales, zeros, group, added}, out, count, rotation);                       \
    }                                                                                                               \
    EMULATED(widen_##format##_##name)
#define TURN(Format, format, name, T)                                                                               \
    KERNEL turn_##format##_##name(PARAMETERS(T)) {                                                                  \
        widen<Format, true>(bytes, Tail{scales, zeros, group, added}, out, count, rotation);                        \
    }                                                                                                               \
    EMULATED(turn_##format##_##name)
#define WIDEN_ALL(name, T)                                                                                          \
    WIDEN(F8E4m3, f8_e4m3, name, T) WIDEN(F8E5m2, f8_e5m2, name, T) WIDEN(I8, i8, name, T) WIDEN(I4, i4, name, T)   \
    WIDEN(Nf4, nf4, name, T) WIDEN(Q4_0, q4_0, name, T) WIDEN(Q4_1, q4_1, name, T) WIDEN(Q5_0, q5_0, name, T)       \
    WIDEN(Q5_1, q5_1, name, T) WIDEN(Q8_0, q8_0, name, T) WIDEN(Q2K, q2_k, name, T) WIDEN(Q3K, q3_k, name, T)       \
    WIDEN(Q4K, q4_k, name, T) WIDEN(Q5K, q5_k, name, T) WIDEN(Q6K, q6_k, name, T) WIDEN(Iq4Nl, iq4_nl, name, T)     \
    WIDEN(Iq4Xs, iq4_xs, name, T) WIDEN(Fp4, fp4, name, T) WIDEN(E2m1, e2m1, name, T) WIDEN(Mxfp4, mxfp4, name, T)  \
    TURN(I8, i8, name, T) TURN(I4, i4, name, T)

WIDEN_ALL(f32, float)
WIDEN_ALL(f16, f16)
WIDEN_ALL(bf16, bf16)
