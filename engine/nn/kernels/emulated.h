// Emulates the GPU features used by the kernels in this folder on the CPU, so that they can be tested without
// a GPU. The threads of a block are fibres that run one after the other until they wait for each other.
// Tensor core instructions follow the layouts of the PTX ISA. Blocks run one after the other.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
// One block runs at a time.
#define __shared__ static
#define __launch_bounds__(...)
#define SHARED_BYTES(name) unsigned char *name = emulated::shared_bytes()

struct dim3 {
    unsigned x, y, z;
};

extern dim3 gridDim, blockDim, blockIdx, threadIdx;

struct __half {
    uint16_t bits;
};

struct __nv_bfloat16 {
    uint16_t bits;
};

inline uint32_t __float_as_uint(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float __uint_as_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

inline __half __ushort_as_half(unsigned short bits) { return {bits}; }

inline float __half2float(__half value) {
    int exponent = value.bits >> 10 & 31, mantissa = value.bits & 1023;
    uint32_t sign = static_cast<uint32_t>(value.bits & 0x8000) << 16;
    if (exponent == 31) return mantissa ? NAN : __uint_as_float(sign | 0x7f800000);
    if (exponent == 0) return sign ? -ldexpf(mantissa, -24) : ldexpf(mantissa, -24);
    return __uint_as_float(sign | static_cast<uint32_t>(exponent + 112) << 23 | mantissa << 13);
}

inline __half __float2half_rn(float value) {
    uint16_t sign = static_cast<uint16_t>(__float_as_uint(value) >> 16 & 0x8000);
    float magnitude = fabsf(value);
    if (std::isnan(value)) return {0x7fff};
    if (magnitude >= 65520.0f) return {static_cast<uint16_t>(sign | 0x7c00)};
    // Steps depend on the exponent, and are not smaller than the smallest number.
    int exponent = magnitude < 6.1035156e-5f ? -14 : ilogbf(magnitude);
    auto steps = static_cast<int>(nearbyintf(ldexpf(magnitude, 10 - exponent)));
    return {static_cast<uint16_t>(sign | (((exponent + 14) << 10) + steps))};
}

inline float __bfloat162float(__nv_bfloat16 value) { return __uint_as_float(static_cast<uint32_t>(value.bits) << 16); }

inline __nv_bfloat16 __float2bfloat16_rn(float value) {
    uint32_t bits = __float_as_uint(value);
    if (std::isnan(value)) return {0x7fff};
    return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

inline float __expf(float x) { return expf(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline int min(int a, int b) { return a < b ? a : b; }

namespace emulated {

/// The most bytes that a thread passes to its warp at once.
constexpr size_t PARCEL = 32;

/// Data that threads of a warp exchange. There are two parcels, so that one can be read while the next is
/// written.
struct Warp {
    alignas(PARCEL) unsigned char parcels[2][32][PARCEL];
};

unsigned char *shared_bytes();
/// Warp and lane of the current thread.
Warp &own_warp();
int own_lane();
/// The parcel of a warp that is in use; the next call uses the other one.
int next_parcel();
/// Waits for all threads of the warp or of the block.
void wait_for_warp();
void wait_for_block();
/// Copies that a thread has started, in groups.
void begin_copy(void *to, const void *from, size_t bytes);
void end_group();
/// Finishes all groups but the newest.
void finish_groups_but(size_t newest);
void finish_copies();
[[noreturn]] void fail(const std::string &what);

/// The data of all threads of the warp, by lane.
template <typename T> const unsigned char (&exchange(const T &own))[32][PARCEL] {
    static_assert(sizeof(T) <= PARCEL);
    auto &parcels = own_warp().parcels[next_parcel()];
    memcpy(parcels[own_lane()], &own, sizeof(T));
    wait_for_warp();
    return parcels;
}

template <typename T> const T &parcel(const unsigned char (&parcels)[32][PARCEL], int lane) {
    return *reinterpret_cast<const T *>(parcels[lane]);
}

/// Reads the arguments of a launch.
struct Arguments {
    const struct Request *request;
    size_t next;

    void *pointer();
    int64_t whole(int bytes);
    float number();
    /// Fails if there are more.
    void finish() const;

    template <typename A> A take() {
        if constexpr (std::is_pointer_v<A>) {
            return static_cast<A>(pointer());
        } else if constexpr (std::is_same_v<A, float>) {
            return number();
        } else {
            return static_cast<A>(whole(sizeof(A)));
        }
    }
};

using Kernel = std::function<std::function<void()>(Arguments)>;

void remember(const char *name, Kernel kernel);

/// Registers a kernel under its name.
struct Remembered {
    template <typename... A> Remembered(const char *name, void (*kernel)(A...)) {
        remember(name, [kernel](Arguments arguments) -> std::function<void()> {
            // In the order of the parameters.
            std::tuple<A...> all{arguments.take<A>()...};
            arguments.finish();
            return [kernel, all] { std::apply(kernel, all); };
        });
    }
};

} // namespace emulated

#define EMULATED(kernel) static emulated::Remembered kernel##_remembered(#kernel, kernel);

inline void __syncthreads() { emulated::wait_for_block(); }
inline void __syncwarp() { emulated::wait_for_warp(); }

template <typename T> T __shfl_xor_sync(unsigned, T value, int with) {
    return emulated::parcel<T>(emulated::exchange(value), emulated::own_lane() ^ with);
}

inline int __any_sync(unsigned, bool own) {
    auto &all = emulated::exchange(own);
    int any = 0;
    for (int lane = 0; lane < 32; lane++) any |= emulated::parcel<bool>(all, lane);
    return any;
}

template <typename T> float value_of(uint32_t both, int half) {
    T value = {static_cast<uint16_t>(both >> (16 * half))};
    if constexpr (std::is_same_v<T, __half>) {
        return __half2float(value);
    } else {
        return __bfloat162float(value);
    }
}

/// `mma.m16n8k16`: rows `lane / 4` and `lane / 4 + 8`, columns `lane % 4 * 2` and the next, and both plus 8.
template <typename T> void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    struct Fragments {
        uint32_t a[4], b[2];
    };
    auto &all = emulated::exchange(Fragments{{a[0], a[1], a[2], a[3]}, {b0, b1}});
    int lane = emulated::own_lane();
    for (int each = 0; each < 4; each++) {
        int row = lane / 4 + each / 2 * 8, column = lane % 4 * 2 + each % 2;
        for (int k = 0; k < 16; k++) {
            auto &left = emulated::parcel<Fragments>(all, row % 8 * 4 + k % 8 / 2);
            auto &right = emulated::parcel<Fragments>(all, column * 4 + k % 8 / 2);
            c[each] += value_of<T>(left.a[row / 8 + k / 8 * 2], k % 2) * value_of<T>(right.b[k / 8], k % 2);
        }
    }
}

/// `ldmatrix.x4`: thread `i` has values `i % 4 * 2` and the next of row `i / 4` of each matrix, or of its
/// column.
inline void load_matrices(uint32_t (&out)[4], const void *row) {
    auto &rows = emulated::exchange(row);
    int lane = emulated::own_lane();
    for (int matrix = 0; matrix < 4; matrix++) {
        auto own = emulated::parcel<const uint16_t *>(rows, matrix * 8 + lane / 4);
        if (reinterpret_cast<uintptr_t>(own) % 16 != 0) emulated::fail("a row of a matrix is not aligned");
        memcpy(&out[matrix], own + lane % 4 * 2, sizeof(uint32_t));
    }
}

inline void load_transposed(uint32_t (&out)[4], const void *row) {
    auto &rows = emulated::exchange(row);
    int lane = emulated::own_lane();
    for (int matrix = 0; matrix < 4; matrix++) {
        uint32_t values[2];
        for (int each = 0; each < 2; each++) {
            values[each] = emulated::parcel<const uint16_t *>(rows, matrix * 8 + lane % 4 * 2 + each)[lane / 4];
        }
        out[matrix] = values[0] | values[1] << 16;
    }
}

inline void copy_ahead(void *to, const void *from, bool there) {
    if (reinterpret_cast<uintptr_t>(to) % 16 != 0 || reinterpret_cast<uintptr_t>(from) % 16 != 0) {
        emulated::fail("a copy of 16 bytes is not aligned");
    }
    emulated::begin_copy(to, from, there ? 16 : 0);
}

inline void wait_for_copies() { emulated::finish_copies(); }
inline void end_group() { emulated::end_group(); }
template <int COUNT> void wait_for_groups_but() { emulated::finish_groups_but(COUNT); }

inline int anew(int value) { return value; }

inline float exp2_near(float x) { return exp2f(x); }
