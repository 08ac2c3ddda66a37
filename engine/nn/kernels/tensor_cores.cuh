// Matrix instructions of compute capability 8.0, and asynchronous copies. Fragments have the layouts of
// `mma.m16n8k16` and `ldmatrix` in the PTX ISA.
#pragma once

#include "common.cuh"

#ifdef __CUDACC__

/// `c += a · b` for a warp: `a` is 16 by 16, `b` 16 by 8.
template <typename T> FUNCTION void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);

#define MULTIPLY_ADD(T, name)                                                                                       \
    template <>                                                                                                     \
    FUNCTION void multiply_add<T>(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {                \
        asm("mma.sync.aligned.m16n8k16.row.col.f32." name "." name ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "   \
            "{%0,%1,%2,%3};"                                                                                        \
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                                        \
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                                        \
    }

MULTIPLY_ADD(f16, "f16")
MULTIPLY_ADD(bf16, "bf16")

FUNCTION uint32_t in_shared(const void *place) { return static_cast<uint32_t>(__cvta_generic_to_shared(place)); }

/// Loads four 8 by 8 matrices of 16-bit values from shared memory: thread `i` gives the address of row
/// `i % 8` of matrix `i / 8`.
FUNCTION void load_matrices(uint32_t (&out)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(in_shared(row))
                 : "memory");
}

/// The same, each matrix transposed.
FUNCTION void load_transposed(uint32_t (&out)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
                 : "r"(in_shared(row))
                 : "memory");
}

/// Starts to copy 16 bytes to shared memory, or to fill them with zeros if there is nothing to copy.
FUNCTION void copy_ahead(void *to, const void *from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(in_shared(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(there ? 16 : 0)
                 : "memory");
}

/// Waits for all copies that this thread has started.
FUNCTION void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Makes one group of the copies that this thread has started since the last group.
FUNCTION void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits for all groups of copies but the newest `COUNT`.
template <int COUNT> FUNCTION void wait_for_groups_but() {
    asm volatile("cp.async.wait_group %0;" ::"n"(COUNT) : "memory");
}

/// A value that the compiler takes for a new one each time, so that it computes what depends on it there, and keeps nothing of
/// that in registers from before a loop.
FUNCTION int anew(int value) {
    asm volatile("" : "+r"(value));
    return value;
}

/// `2^x`, zero for minus infinity.
FUNCTION float exp2_near(float x) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
}

#endif

/// The lower halves of two registers in one, and the upper ones.
FUNCTION uint32_t lower_halves(uint32_t first, uint32_t second) { return (first & 0xffff) | second << 16; }
FUNCTION uint32_t upper_halves(uint32_t first, uint32_t second) { return first >> 16 | (second & 0xffff0000); }

/// Two values in a register, the first in the lower half.
template <typename T> FUNCTION uint32_t both(float low, float high) {
    T values[2] = {narrow<T>(low), narrow<T>(high)};
    uint32_t bits;
    memcpy(&bits, values, sizeof bits);
    return bits;
}
#ifdef __CUDACC__
template <> FUNCTION uint32_t both<bf16>(float low, float high) {
    uint32_t bits;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}
template <> FUNCTION uint32_t both<f16>(float low, float high) {
    uint32_t bits;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    return bits;
}
#endif
