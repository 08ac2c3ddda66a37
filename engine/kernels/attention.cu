// Scaled dot-product attention on tensor cores, without materializing the score matrix. Each block of the
// grid handles a few queries of one head and goes through the keys tile by tile, with a running softmax (Dao
// 2023, arXiv:2307.08691).
#include "tensor_cores.cuh"

constexpr int WARPS = 4, THREADS = WARPS * LANES;
/// Rows of a matrix instruction, and twice its columns: the size of four 8 by 8 matrices.
constexpr int SIDE = 16;
constexpr float LOG2_E = 1.4426950408889634f;

/// The strides of batch items, tokens and heads.
struct Strides {
    long long batch, token, head;
};

template <typename T> struct Problem {
    const T *q, *k, *v;
    /// `[batch, tokens, heads, width]`.
    T *out;
    /// Bias of the scores by key position minus query position, `[heads, tokens + keys − 1]`, or null.
    const float *bias;
    int tokens, keys, heads, kv_heads;
    Strides of_q, of_k, of_v;
    /// Factor of the products.
    float scale;
    /// Whether later keys are masked.
    bool causal;
};

/// The work sizes of a block for a head width: as many queries per warp as keep the sums in registers.
template <int WIDTH_> struct Tile {
    static constexpr int WIDTH = WIDTH_;
    /// Padded with zeros to the size of a matrix instruction.
    static constexpr int DEPTH = (WIDTH + SIDE - 1) / SIDE * SIDE;
    /// Row stride in shared memory; eight rows begin in different banks.
    static constexpr int PITCH = DEPTH + 8;
    static constexpr int KEYS = 64, STRIPS = WIDTH > 128 ? 1 : 2, OF_WARP = STRIPS * SIDE, QUERIES = WARPS * OF_WARP;
};

/// Starts to copy rows, of which `there` exist; the others are zero.
template <typename Tile, int ROWS, typename T>
FUNCTION void copy_rows(T *to, const T *from, long long stride, int there) {
    constexpr int CHUNKS = Tile::WIDTH / 8;
    for (int index = threadIdx.x; index < ROWS * CHUNKS; index += THREADS) {
        int row = index / CHUNKS, first = index % CHUNKS * 8;
        bool is_there = row < there;
        copy_ahead(to + row * Tile::PITCH + first, from + (is_there ? row * stride : 0) + first, is_there);
    }
}

/// The state of sixteen queries; a thread has parts of two rows, eight apart.
template <typename Tile> struct Strip {
    float scores[Tile::KEYS / 8][4];
    float sums[Tile::WIDTH / 8][4];
    float highest[2], total[2];
};

/// The position of a thread's values in the result of a matrix instruction.
struct Place {
    int row, column;
};

FUNCTION Place own_place() {
    int lane = threadIdx.x % LANES;
    return {lane / 4, lane % 4 * 2};
}

/// The products of the warp's queries with a tile of keys.
template <typename Tile, typename T>
FUNCTION void score(Strip<Tile> (&strips)[Tile::STRIPS], const T *queries, const T *keys) {
    int lane = threadIdx.x % LANES;
    for (auto &strip : strips) {
#pragma unroll
        for (auto &scores : strip.scores) {
            for (float &score : scores) score = 0.0f;
        }
    }
#pragma unroll
    for (int depth = 0; depth < Tile::DEPTH; depth += SIDE) {
        uint32_t left[Tile::STRIPS][4];
#pragma unroll
        for (int strip = 0; strip < Tile::STRIPS; strip++) {
            const T *row = queries + (strip * SIDE + lane % SIDE) * Tile::PITCH;
            load_matrices(left[strip], row + depth + lane / SIDE * 8);
        }
#pragma unroll
        for (int key = 0; key < Tile::KEYS; key += SIDE) {
            uint32_t right[4];
            const T *row = keys + (key + lane % 8 + lane / SIDE * 8) * Tile::PITCH;
            load_matrices(right, row + depth + lane / 8 % 2 * 8);
#pragma unroll
            for (int strip = 0; strip < Tile::STRIPS; strip++) {
                multiply_add<T>(strips[strip].scores[key / 8], left[strip], right[0], right[1]);
                multiply_add<T>(strips[strip].scores[key / 8 + 1], left[strip], right[2], right[3]);
            }
        }
    }
}

/// Scales scores for base 2, adds the bias and applies the mask. `query` is the position of the strip's first
/// query, `start` that of the tile's first key.
template <typename Tile, typename T>
FUNCTION void adjust(Strip<Tile> &strip, const Problem<T> &problem, const float *bias, int query, int start, int end) {
    Place own = own_place();
    bool hides = start + Tile::KEYS > end || (problem.causal && start + Tile::KEYS > query);
#pragma unroll
    for (int tile = 0; tile < Tile::KEYS / 8; tile++) {
#pragma unroll
        for (int each = 0; each < 4; each++) {
            float &score = strip.scores[tile][each];
            score *= problem.scale * LOG2_E;
            if (!bias && !hides) continue;
            int at = query + own.row + each / 2 * 8, key = start + tile * 8 + own.column + each % 2;
            if (bias && at < problem.tokens && key < end) {
                score += bias[key - at + problem.tokens - 1] * LOG2_E;
            }
            if (key >= end || (problem.causal && key > at)) score = -INFINITY;
        }
    }
}

/// Replaces scores by exponentials relative to the highest so far, and rescales earlier sums.
template <typename Tile> FUNCTION void exponentiate(Strip<Tile> &strip) {
    float factors[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
        float high = strip.highest[half];
#pragma unroll
        for (auto &scores : strip.scores) high = fmaxf(high, fmaxf(scores[2 * half], scores[2 * half + 1]));
        // Four threads share a row.
        high = fmaxf(high, __shfl_xor_sync(ALL_LANES, high, 1));
        high = fmaxf(high, __shfl_xor_sync(ALL_LANES, high, 2));
        // If everything is masked so far, there is nothing to subtract.
        float base = high == -INFINITY ? 0.0f : high;
        factors[half] = exp2_near(strip.highest[half] - base);
        strip.highest[half] = high;
        float total = strip.total[half] * factors[half];
#pragma unroll
        for (auto &scores : strip.scores) {
#pragma unroll
            for (int each = 2 * half; each < 2 * half + 2; each++) {
                scores[each] = exp2_near(scores[each] - base);
                total += scores[each];
            }
        }
        strip.total[half] = total;
    }
    // After the first tiles the highest score rarely changes.
    if (__any_sync(ALL_LANES, factors[0] != 1.0f || factors[1] != 1.0f)) {
#pragma unroll
        for (auto &sums : strip.sums) {
#pragma unroll
            for (int each = 0; each < 4; each++) sums[each] *= factors[each / 2];
        }
    }
}

/// Adds the products of exponentials and a tile of values to the sums.
template <typename Tile, typename T>
FUNCTION void add_values(Strip<Tile> (&strips)[Tile::STRIPS], const T *values) {
    int lane = threadIdx.x % LANES;
#pragma unroll
    for (int key = 0; key < Tile::KEYS; key += SIDE) {
        uint32_t left[Tile::STRIPS][4];
#pragma unroll
        for (int strip = 0; strip < Tile::STRIPS; strip++) {
            // The results of two products in a thread are its operands of the next one.
#pragma unroll
            for (int part = 0; part < 4; part++) {
                const float(&scores)[4] = strips[strip].scores[key / 8 + part / 2];
                left[strip][part] = both<T>(scores[part % 2 * 2], scores[part % 2 * 2 + 1]);
            }
        }
#pragma unroll
        for (int column = 0; column < Tile::WIDTH; column += SIDE) {
            uint32_t right[4];
            load_transposed(right, values + (key + lane % SIDE) * Tile::PITCH + column + lane / SIDE * 8);
#pragma unroll
            for (int strip = 0; strip < Tile::STRIPS; strip++) {
                multiply_add<T>(strips[strip].sums[column / 8], left[strip], right[0], right[1]);
                if (column + 8 < Tile::WIDTH) {
                    multiply_add<T>(strips[strip].sums[column / 8 + 1], left[strip], right[2], right[3]);
                }
            }
        }
    }
}

/// Writes the warp's rows, of which `there` exist, through the shared memory of its queries.
template <typename Tile, typename T>
FUNCTION void write_rows(Strip<Tile> (&strips)[Tile::STRIPS], T *queries, T *out, long long stride, int there) {
    Place own = own_place();
    __syncwarp();
#pragma unroll
    for (int index = 0; index < Tile::STRIPS; index++) {
        Strip<Tile> &strip = strips[index];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float total = strip.total[half];
            total += __shfl_xor_sync(ALL_LANES, total, 1);
            total += __shfl_xor_sync(ALL_LANES, total, 2);
            float factor = 1.0f / total;
            T *row = queries + (index * SIDE + own.row + half * 8) * Tile::PITCH + own.column;
#pragma unroll
            for (int tile = 0; tile < Tile::WIDTH / 8; tile++) {
                const float *sums = strip.sums[tile] + 2 * half;
                *reinterpret_cast<uint32_t *>(row + tile * 8) = both<T>(sums[0] * factor, sums[1] * factor);
            }
        }
    }
    __syncwarp();
    constexpr int CHUNKS = Tile::WIDTH / 8;
    for (int index = threadIdx.x % LANES; index < Tile::OF_WARP * CHUNKS; index += LANES) {
        int row = index / CHUNKS, first = index % CHUNKS * 8;
        if (row < there) Pack<T, 8>::from(queries + row * Tile::PITCH + first).to(out + row * stride + first);
    }
}

template <typename Tile, typename T> FUNCTION void attend(const Problem<T> &problem) {
    SHARED_BYTES(shared);
    T *queries = reinterpret_cast<T *>(shared);
    T *keys = queries + Tile::QUERIES * Tile::PITCH, *values = keys + Tile::KEYS * Tile::PITCH;
    int first = blockIdx.x * Tile::QUERIES, head = blockIdx.y, kv_head = head / (problem.heads / problem.kv_heads);
    int count = min(Tile::QUERIES, problem.tokens - first);
    int end = problem.causal ? min(problem.keys, first + count) : problem.keys;
    const T *q = problem.q + blockIdx.z * problem.of_q.batch + head * problem.of_q.head;
    const T *k = problem.k + blockIdx.z * problem.of_k.batch + kv_head * problem.of_k.head;
    const T *v = problem.v + blockIdx.z * problem.of_v.batch + kv_head * problem.of_v.head;
    const float *bias =
        problem.bias ? problem.bias + static_cast<long long>(head) * (problem.tokens + problem.keys - 1) : nullptr;

    copy_rows<Tile, Tile::QUERIES>(queries, q + first * problem.of_q.token, problem.of_q.token, count);
    copy_rows<Tile, Tile::KEYS>(keys, k, problem.of_k.token, end);
    if constexpr (Tile::DEPTH > Tile::WIDTH) {
        // Rows of queries, keys and values, one after the other.
        for (int row = threadIdx.x; row < Tile::QUERIES + 2 * Tile::KEYS; row += THREADS) {
            for (int place = Tile::WIDTH; place < Tile::DEPTH; place++) {
                queries[row * Tile::PITCH + place] = narrow<T>(0.0f);
            }
        }
    }

    Strip<Tile> strips[Tile::STRIPS];
#pragma unroll
    for (auto &strip : strips) {
#pragma unroll
        for (auto &sums : strip.sums) {
            for (float &sum : sums) sum = 0.0f;
        }
        for (int half = 0; half < 2; half++) {
            strip.highest[half] = -INFINITY;
            strip.total[half] = 0.0f;
        }
    }

    int of_warp = threadIdx.x / LANES * Tile::OF_WARP;
    T *own = queries + of_warp * Tile::PITCH;
    for (int start = 0; start < end; start += Tile::KEYS) {
        // The keys have arrived, and no thread needs the previous values any more.
        wait_for_copies();
        __syncthreads();
        copy_rows<Tile, Tile::KEYS>(values, v + start * problem.of_v.token, problem.of_v.token, end - start);
        score<Tile>(strips, own, keys);
        // The values have arrived, and no thread needs the keys any more.
        wait_for_copies();
        __syncthreads();
        int next = start + Tile::KEYS;
        if (next < end) {
            copy_rows<Tile, Tile::KEYS>(keys, k + next * problem.of_k.token, problem.of_k.token, end - next);
        }
#pragma unroll
        for (int strip = 0; strip < Tile::STRIPS; strip++) {
            adjust(strips[strip], problem, bias, first + of_warp + strip * SIDE, start, end);
            exponentiate(strips[strip]);
        }
        add_values<Tile>(strips, values);
    }

    long long stride = static_cast<long long>(problem.heads) * Tile::WIDTH;
    long long row = static_cast<long long>(blockIdx.z) * problem.tokens + first + of_warp;
    write_rows<Tile>(strips, own, problem.out + row * stride + head * Tile::WIDTH, stride, count - of_warp);
}

#define ATTENTION(name, T, WIDTH)                                                                                   \
    extern "C" __global__ void __launch_bounds__(THREADS) attention_##name##_##WIDTH(                               \
        const T *q, const T *k, const T *v, const float *bias, T *out, int tokens, int keys, int heads,             \
        int kv_heads, long long q_batch, long long q_token, long long q_head, long long k_batch, long long k_token, \
        long long k_head, long long v_batch, long long v_token, long long v_head, float scale, int causal) {        \
        Problem<T> problem = {q,                                                                                    \
                              k,                                                                                    \
                              v,                                                                                    \
                              out,                                                                                  \
                              bias,                                                                                 \
                              tokens,                                                                               \
                              keys,                                                                                 \
                              heads,                                                                                \
                              kv_heads,                                                                             \
                              {q_batch, q_token, q_head},                                                           \
                              {k_batch, k_token, k_head},                                                           \
                              {v_batch, v_token, v_head},                                                           \
                              scale,                                                                                \
                              causal != 0};                                                                         \
        attend<Tile<WIDTH>>(problem);                                                                               \
    }                                                                                                               \
    EMULATED(attention_##name##_##WIDTH)
#define ATTENTIONS(name, T)                                                                                         \
    ATTENTION(name, T, 40) ATTENTION(name, T, 64) ATTENTION(name, T, 72) ATTENTION(name, T, 80)                     \
    ATTENTION(name, T, 96) ATTENTION(name, T, 128) ATTENTION(name, T, 160)

ATTENTIONS(f16, f16)
ATTENTIONS(bf16, bf16)
