// Scaled dot-product attention on tensor cores, without materializing the score matrix. Each block of the
// grid handles a few queries of one head and goes through the keys tile by tile, with a running softmax (Dao
// 2023, arXiv:2307.08691).
#include "tensor_cores.cuh"

constexpr int WARPS = 4, THREADS = WARPS * LANES;
/// Rows of a matrix instruction, and twice its columns: the size of four 8 by 8 matrices.
constexpr int SIDE = 16;
/// Values that are copied together.
constexpr int CHUNK = 8;
/// Bytes of shared memory that a block may use. Then two blocks fit on a multiprocessor of every card, also of those that
/// have 100 KB: while the warps of one wait, those of the other one compute.
constexpr int SHARED = 48 << 10;
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
    static constexpr int KEYS = WIDTH == 64 ? 128 : WIDTH > 96 ? 32 : 64;
    static constexpr int STRIPS = WIDTH > 128 ? 1 : 2, OF_WARP = STRIPS * SIDE, QUERIES = WARPS * OF_WARP;
    /// Tiles of keys or values that are in shared memory, or on their way to it.
    static constexpr int FITTING = (SHARED / 2 / DEPTH - QUERIES) / KEYS, SLOTS = FITTING > 4 ? 4 : FITTING;
    static_assert(SLOTS >= 2);
    /// How many of eight rows in a row begin in the same banks.
    static constexpr int COMMON = DEPTH % 64 == 0 ? 8 : DEPTH % 32 == 0 ? 4 : 2;

    /// Where a chunk of a row is in shared memory: the order of chunks differs between rows that begin in the same banks, so
    /// that eight rows of a matrix are in different ones.
    FUNCTION static int place(int row, int chunk) { return row * DEPTH + (chunk ^ turn(row)) * CHUNK; }
    FUNCTION static int turn(int row) { return row / (8 / COMMON) % COMMON; }
};

/// Copies rows of a tensor to shared memory; a thread always has the same part of them.
template <typename Tile, typename T> struct Copier {
    static constexpr int CHUNKS = Tile::WIDTH / CHUNK, AT_ONCE = THREADS / CHUNKS;

    const T *from;
    long long stride;
    int row, chunk;

    FUNCTION Copier(const T *start, long long stride)
        : stride(stride), row(threadIdx.x / CHUNKS), chunk(threadIdx.x % CHUNKS) {
        from = start + row * stride + chunk * CHUNK;
    }

    /// Starts to copy the rows from `first` on, of which `there` exist; the others are zero.
    template <int ROWS> FUNCTION void copy(T *to, int first, int there) const {
        const T *start = from + first * stride;
        // Some threads have nothing to do if a row has no power of two of chunks.
        if (row >= AT_ONCE) return;
        if (there >= ROWS) {
            copy_rows<ROWS>(to, start, [](int) { return true; });
        } else {
            copy_rows<ROWS>(to, start, [&](int at) { return at < there; });
        }
    }

  private:
    template <int ROWS, typename There> FUNCTION void copy_rows(T *to, const T *start, There is_there) const {
#pragma unroll
        for (int step = 0; step < (ROWS + AT_ONCE - 1) / AT_ONCE; step++) {
            int at = row + step * AT_ONCE;
            if (ROWS % AT_ONCE != 0 && at >= ROWS) continue;
            bool there = is_there(at);
            copy_ahead(to + Tile::place(at, chunk), there ? start + step * AT_ONCE * stride : from, there);
        }
    }
};

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
            load_matrices(left[strip], queries + Tile::place(strip * SIDE + lane % SIDE, depth / CHUNK + lane / SIDE));
        }
#pragma unroll
        for (int key = 0; key < Tile::KEYS; key += SIDE) {
            uint32_t right[4];
            int row = key + lane % 8 + lane / SIDE * 8;
            load_matrices(right, keys + Tile::place(row, depth / CHUNK + lane / 8 % 2));
#pragma unroll
            for (int strip = 0; strip < Tile::STRIPS; strip++) {
                multiply_add<T>(strips[strip].scores[key / 8], left[strip], right[0], right[1]);
                multiply_add<T>(strips[strip].scores[key / 8 + 1], left[strip], right[2], right[3]);
            }
        }
    }
}

/// Adds the bias and applies the mask, if there is anything to do. `query` is the position of the strip's first query,
/// `start` that of the tile's first key.
template <typename Tile, typename T>
FUNCTION void adjust(Strip<Tile> &strip, const Problem<T> &problem, const float *bias, int query, int start, int end) {
    bool hides = start + Tile::KEYS > end || (problem.causal && start + Tile::KEYS > query);
    if (!bias && !hides) return;
    Place own = own_place();
    // Scores are scaled later.
    float unscaled = 1.0f / problem.scale;
#pragma unroll
    for (int tile = 0; tile < Tile::KEYS / 8; tile++) {
#pragma unroll
        for (int each = 0; each < 4; each++) {
            float &score = strip.scores[tile][each];
            int at = query + own.row + each / 2 * 8, key = start + tile * 8 + own.column + each % 2;
            if (bias && at < problem.tokens && key < end) score += bias[key - at + problem.tokens - 1] * unscaled;
            if (key >= end || (problem.causal && key > at)) score = -INFINITY;
        }
    }
}

/// Finds the highest scores so far, and rescales earlier sums. `bases` are the highest scores, scaled for base 2.
template <typename Tile>
FUNCTION void rescale(Strip<Tile> (&strips)[Tile::STRIPS], float (&bases)[Tile::STRIPS][2], float scale) {
    float factors[Tile::STRIPS][2];
    bool rises = false;
#pragma unroll
    for (int index = 0; index < Tile::STRIPS; index++) {
        Strip<Tile> &strip = strips[index];
#pragma unroll
        for (int half = 0; half < 2; half++) {
            float high = strip.highest[half];
#pragma unroll
            for (auto &scores : strip.scores) high = fmaxf(high, fmaxf(scores[2 * half], scores[2 * half + 1]));
            // Four threads share a row.
            high = fmaxf(high, __shfl_xor_sync(ALL_LANES, high, 1));
            high = fmaxf(high, __shfl_xor_sync(ALL_LANES, high, 2));
            // If everything is masked so far, there is nothing to subtract.
            // Products are rounded before they are subtracted, so that the factor is 1 where nothing rises.
            bases[index][half] = high == -INFINITY ? 0.0f : __fmul_rn(high, scale);
            factors[index][half] = exp2_near(__fmul_rn(strip.highest[half], scale) - bases[index][half]);
            rises = rises || high != strip.highest[half];
            strip.highest[half] = high;
        }
    }
    // After the first tiles the highest score rarely changes.
    if (!__any_sync(ALL_LANES, rises)) return;
#pragma unroll
    for (int index = 0; index < Tile::STRIPS; index++) {
        Strip<Tile> &strip = strips[index];
#pragma unroll
        for (int half = 0; half < 2; half++) strip.total[half] *= factors[index][half];
#pragma unroll
        for (auto &sums : strip.sums) {
#pragma unroll
            for (int each = 0; each < 4; each++) sums[each] *= factors[index][each / 2];
        }
    }
}

/// Replaces the scores of sixteen keys by exponentials relative to the highest.
template <typename Tile>
FUNCTION void exponentiate(Strip<Tile> &strip, const float (&bases)[2], float scale, int key) {
#pragma unroll
    for (int tile = key / 8; tile < (key + SIDE) / 8; tile++) {
#pragma unroll
        for (int each = 0; each < 4; each++) {
            float &score = strip.scores[tile][each];
            score = exp2_near(fmaf(score, scale, -bases[each / 2]));
            strip.total[each / 2] += score;
        }
    }
}

/// Adds the products of exponentials and a tile of values to the sums. Exponentials are computed here, and not before, since
/// the compiler then puts those of some keys between the products of others: different units compute them.
template <typename Tile, typename T>
FUNCTION void add_values(Strip<Tile> (&strips)[Tile::STRIPS], const float (&bases)[Tile::STRIPS][2], float scale,
                         const T *values) {
    int lane = threadIdx.x % LANES;
#pragma unroll
    for (int key = 0; key < Tile::KEYS; key += SIDE) {
        uint32_t left[Tile::STRIPS][4];
#pragma unroll
        for (int strip = 0; strip < Tile::STRIPS; strip++) {
            exponentiate(strips[strip], bases[strip], scale, key);
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
            load_transposed(right, values + Tile::place(key + lane % SIDE, column / CHUNK + lane / SIDE));
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
            int row = index * SIDE + own.row + half * 8;
#pragma unroll
            for (int tile = 0; tile < Tile::WIDTH / 8; tile++) {
                const float *sums = strip.sums[tile] + 2 * half;
                T *place = queries + Tile::place(row, tile) + own.column;
                *reinterpret_cast<uint32_t *>(place) = both<T>(sums[0] * factor, sums[1] * factor);
            }
        }
    }
    __syncwarp();
    constexpr int CHUNKS = Tile::WIDTH / CHUNK;
    for (int index = threadIdx.x % LANES; index < Tile::OF_WARP * CHUNKS; index += LANES) {
        int row = index / CHUNKS, chunk = index % CHUNKS;
        if (row >= there) continue;
        Pack<T, CHUNK>::from(queries + Tile::place(row, chunk)).to(out + row * stride + chunk * CHUNK);
    }
}

template <typename Tile, typename T> FUNCTION void attend(const Problem<T> &problem) {
    constexpr int SLOT = Tile::KEYS * Tile::DEPTH, SLOTS = Tile::SLOTS;
    SHARED_BYTES(shared);
    T *queries = reinterpret_cast<T *>(shared), *slots = queries + Tile::QUERIES * Tile::DEPTH;
    int first = blockIdx.x * Tile::QUERIES, head = blockIdx.y, kv_head = head / (problem.heads / problem.kv_heads);
    int count = min(Tile::QUERIES, problem.tokens - first);
    int end = problem.causal ? min(problem.keys, first + count) : problem.keys;
    const T *q = problem.q + blockIdx.z * problem.of_q.batch + head * problem.of_q.head;
    const T *k = problem.k + blockIdx.z * problem.of_k.batch + kv_head * problem.of_k.head;
    const T *v = problem.v + blockIdx.z * problem.of_v.batch + kv_head * problem.of_v.head;
    const float *bias =
        problem.bias ? problem.bias + static_cast<long long>(head) * (problem.tokens + problem.keys - 1) : nullptr;

    Copier<Tile, T>(q, problem.of_q.token).template copy<Tile::QUERIES>(queries, first, count);
    if constexpr (Tile::DEPTH > Tile::WIDTH) {
        // Rows of queries, keys and values, one after the other.
        for (int row = threadIdx.x; row < Tile::QUERIES + SLOTS * Tile::KEYS; row += THREADS) {
            T *place = queries + Tile::place(row, Tile::WIDTH / CHUNK);
            for (int each = 0; each < CHUNK; each++) place[each] = narrow<T>(0.0f);
        }
    }
    // Tiles of keys and of values take turns in the slots. There is a group of copies for each, also after the last one.
    Copier<Tile, T> of_keys(k, problem.of_k.token), of_values(v, problem.of_v.token);
    auto copy = [&](int tile) {
        int start = tile / 2 * Tile::KEYS;
        const Copier<Tile, T> &of_tile = tile % 2 == 0 ? of_keys : of_values;
        if (start < end) of_tile.template copy<Tile::KEYS>(slots + tile % SLOTS * SLOT, start, end - start);
        end_group();
    };
    // The queries are in the first group.
#pragma unroll
    for (int tile = 0; tile < SLOTS - 1; tile++) copy(tile);

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

    int of_warp = threadIdx.x / LANES * Tile::OF_WARP, tile = 0;
    T *own = queries + of_warp * Tile::DEPTH;
    // A tile has arrived, and no thread needs the one before it any more, so another one can be copied to its place.
    auto advance = [&] {
        wait_for_groups_but<SLOTS - 2>();
        __syncthreads();
        copy(tile + SLOTS - 1);
        return slots + tile++ % SLOTS * SLOT;
    };
    float scale = problem.scale * LOG2_E;
    for (int start = 0; start < end; start += Tile::KEYS) {
        score<Tile>(strips, own, advance());
        const T *values = advance();
#pragma unroll
        for (int strip = 0; strip < Tile::STRIPS; strip++) {
            adjust(strips[strip], problem, bias, first + of_warp + strip * SIDE, start, end);
        }
        float bases[Tile::STRIPS][2];
        rescale<Tile>(strips, bases, scale);
        add_values<Tile>(strips, bases, scale, values);
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
