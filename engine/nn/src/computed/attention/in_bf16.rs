//! Attention in bf16 over blocks of keys with a running softmax, by the processor's instruction for products in bf16. Scores
//! and sums are in f32; their exponentials are rounded to bf16 for the product with the values, as on GPUs.
//!
//! As in f32, scores are stored transposed, a row per key and a column per query. Pairs of rows are then the right-hand side
//! of the product with the values.

use half::bf16;
use pulp::{
    Simd,
    bytemuck::{cast_slice, cast_slice_mut},
};
use rayon::prelude::*;

use super::super::{
    bf16_product::{GAP, Instruction, LANES, STRIP, Unit, join, pairs_of},
    columns::{MOST, columns_of},
    scratch::{Reserve, Scratch},
    simd::{Tiled, exp2, run, vectors_of_mut},
    sums::Kept as _,
};
use super::Heads;

/// Most queries of a work item.
const QUERIES: usize = 384;
/// Keys of a block.
const KEYS: usize = 256;

/// Attention of `[batch, tokens, heads, width]` over `[batch, keys, kv_heads, width]`, with an even width.
pub(super) fn attend(
    instruction: Instruction,
    [queries, keys, values]: [Heads<'_, bf16>; 3],
    causal: bool,
    (batch, tokens, heads, width): (usize, usize, usize, usize),
    (_, key_count, kv_heads, _): (usize, usize, usize, usize),
    out: &mut [bf16],
) {
    let together = together(tokens, instruction);
    let tiles = tokens.div_ceil(together);
    let mut work: Vec<Vec<&mut [bf16]>> = Vec::with_capacity(batch * heads * tiles);
    work.resize_with(batch * heads * tiles, || Vec::with_capacity(together.min(tokens)));
    for (row, out) in out.chunks_mut(width).enumerate() {
        let (head, token, batch) = (row % heads, row / heads % tokens, row / heads / tokens);
        work[(batch * heads + head) * tiles + token / together].push(out);
    }
    let reserve = Reserve::new(work.len(), item_values([tokens, width], key_count, instruction));
    work.into_par_iter().enumerate().for_each_init(
        || reserve.lend(),
        |scratch, (index, out)| {
            let (batch, head, tile) = (index / tiles / heads, index / tiles % heads, index % tiles);
            let kv_head = head / (heads / kv_heads);
            let first = tile * together;
            Work {
                unit: Unit::of(instruction),
                columns: instruction.columns(),
                queries: Rows::of(queries, batch, head, first),
                keys: Rows::of(keys, batch, kv_head, 0),
                values: Rows::of(values, batch, kv_head, 0),
                key_count: if causal { key_count.min(first + out.len()) } else { key_count },
                first,
                causal,
                width,
            }
            .run(out, scratch);
        },
    );
}

/// Queries of a work item: as even as whole panels allow.
fn together(tokens: usize, instruction: Instruction) -> usize {
    tokens.div_ceil(tokens.div_ceil(QUERIES)).next_multiple_of(instruction.columns())
}

/// Work items of [`attend`].
pub(super) fn pieces([batch, tokens, heads, _]: [usize; 4], instruction: Instruction) -> usize {
    batch * heads * tokens.div_ceil(together(tokens.max(1), instruction))
}

/// Scratch bytes of [`attend`].
pub(super) fn scratch_bytes(
    shape: [usize; 4],
    keys: usize,
    threads: usize,
    instruction: Instruction,
) -> usize {
    let [_, tokens, _, width] = shape;
    let pieces = pieces(shape, instruction);
    let lists = pieces * together(tokens.max(1), instruction).min(tokens) * size_of::<&mut [bf16]>();
    threads.min(pieces) * item_values([tokens, width], keys, instruction) * size_of::<f32>() + lists
}

/// Scratch values of a work item.
fn item_values([tokens, width]: [usize; 2], keys: usize, instruction: Instruction) -> usize {
    let queries = together(tokens.max(1), instruction).min(tokens).next_multiple_of(LANES);
    Sizes::new(width, queries, keys, instruction.columns()).all()
}

/// How much scratch memory the parts of a work item take, in values.
#[derive(Clone, Copy)]
struct Sizes {
    /// The queries as pairs, `[panel][pair][query]`.
    queries: usize,
    /// A block of keys as pairs, a row per key.
    keys: usize,
    /// A block of values, a row per value of the head, pairs of keys across.
    values: usize,
    /// Scores of a block and a panel, `[key][query]`.
    scores: usize,
    /// Their exponentials, `[pair of keys][query]`.
    weights: usize,
    /// The weighted sums of the values, `[panel][value][query]`.
    sums: usize,
    /// For each query: the highest score so far, the sum of exponentials, and what a block rescales earlier sums by.
    softmax: usize,
    /// Rows that become columns.
    turned: usize,
}

impl Sizes {
    fn new(width: usize, queries: usize, keys: usize, columns: usize) -> Self {
        let block = KEYS.min(keys).next_multiple_of(STRIP);
        let columns = columns.min(queries);
        Self {
            queries: queries * pairs_of(width),
            keys: block * (pairs_of(width) + GAP),
            values: width.next_multiple_of(STRIP) * (block / 2 + GAP),
            scores: block * columns,
            weights: block / 2 * columns,
            sums: width.next_multiple_of(STRIP) * queries,
            softmax: 3 * queries,
            turned: MOST * width,
        }
    }

    fn all(self) -> usize {
        let Self { queries, keys, values, scores, weights, sums, softmax, turned } = self;
        queries + keys + values + scores + weights + sums + softmax + turned
    }
}

/// A range of queries of one head.
struct Work<'a> {
    unit: Unit,
    /// Queries of a panel.
    columns: usize,
    queries: Rows<'a>,
    keys: Rows<'a>,
    values: Rows<'a>,
    /// Number of keys that any of the queries attends to.
    key_count: usize,
    /// Position of the first query.
    first: usize,
    /// Whether later keys are masked.
    causal: bool,
    width: usize,
}

/// The rows of a head.
struct Rows<'a> {
    values: &'a [bf16],
    stride: usize,
}

impl<'a> Rows<'a> {
    fn of(heads: Heads<'a, bf16>, batch: usize, head: usize, first: usize) -> Self {
        Self { values: &heads.from(batch, head)[first * heads.token..], stride: heads.token }
    }

    fn row(&self, row: usize, width: usize) -> &'a [bf16] {
        &self.values[row * self.stride..][..width]
    }
}

impl Work<'_> {
    fn run(&self, mut out: Vec<&mut [bf16]>, scratch: &mut Scratch) {
        let width = out.len().next_multiple_of(LANES);
        let sizes = Sizes::new(self.width, width, self.key_count, self.columns);
        let (queries, rest) = scratch.take(sizes.all()).split_at_mut(sizes.queries);
        let (keys, rest) = rest.split_at_mut(sizes.keys);
        let (values, rest) = rest.split_at_mut(sizes.values);
        let (scores, rest) = rest.split_at_mut(sizes.scores);
        let (weights, rest) = rest.split_at_mut(sizes.weights);
        let (sums, rest) = rest.split_at_mut(sizes.sums);
        let (softmax, turned) = rest.split_at_mut(sizes.softmax);
        let (queries, keys, values): (&mut [u32], &mut [u32], &mut [u32]) =
            (cast_slice_mut(queries), cast_slice_mut(keys), cast_slice_mut(values));
        let (weights, turned): (&mut [u32], &mut [u32]) = (cast_slice_mut(weights), cast_slice_mut(turned));
        let (highest, rest) = softmax.split_at_mut(width);
        let (total, rescale) = rest.split_at_mut(width);
        highest.fill(f32::NEG_INFINITY);
        total.fill(0.0);
        sums.fill(0.0);
        let (pairs, high) = (pairs_of(self.width), self.width.next_multiple_of(STRIP));
        self.pack_queries(out.len(), queries, turned);
        for start in (0..self.key_count).step_by(KEYS) {
            let count = KEYS.min(self.key_count - start);
            let block = count.next_multiple_of(STRIP);
            let keys = &mut keys[..block * (pairs + GAP)];
            let values = &mut values[..high * (block / 2 + GAP)];
            self.fetch_keys(start, count, keys);
            self.fetch_values(start, count, block, values, turned);
            for first in (0..width).step_by(self.columns) {
                let across = self.columns.min(width - first);
                let panel = &queries[first * pairs..][..across * pairs];
                let scores = &mut scores[..block * across];
                scores.fill(0.0);
                let stride = pairs + GAP;
                for (keys, scores) in
                    keys.chunks_exact(STRIP * stride).zip(scores.chunks_exact_mut(STRIP * across))
                {
                    self.unit.add(keys, stride, panel, scores, across);
                }
                if self.causal {
                    let query = self.first + first;
                    for (key, scores) in scores.chunks_exact_mut(across).enumerate().take(count) {
                        let hidden = (start + key).saturating_sub(query).min(across);
                        scores[..hidden].fill(f32::NEG_INFINITY);
                    }
                }
                let weights = &mut weights[..block / 2 * across];
                weights[count.div_ceil(2) * across..].fill(0);
                let sums = &mut sums[first * high..][..across * high];
                run(Softmax {
                    scale: (std::f64::consts::LOG2_E / (self.width as f64).sqrt()) as f32,
                    scores: &mut scores[..count * across],
                    weights,
                    sums,
                    highest: &mut highest[first..][..across],
                    total: &mut total[first..][..across],
                    rescale: &mut rescale[first..][..across],
                });
                let stride = block / 2 + GAP;
                for (values, sums) in
                    values.chunks_exact(STRIP * stride).zip(sums.chunks_exact_mut(STRIP * across))
                {
                    self.unit.add(values, stride, weights, sums, across);
                }
            }
        }
        self.finish(&mut out, sums, total);
    }

    /// Packs the queries as pairs, with zeros behind those of a row.
    fn pack_queries(&self, count: usize, packed: &mut [u32], turned: &mut [u32]) {
        let (all, pairs, width) = (count.next_multiple_of(LANES), pairs_of(self.width), self.width / 2);
        packed.fill(0);
        for first in (0..count).step_by(LANES) {
            for (row, turned) in turned.chunks_exact_mut(width).take(MOST).enumerate() {
                join(self.queries.row((first + row).min(count - 1), self.width), turned);
            }
            let rows: [&[u32]; MOST] = std::array::from_fn(|row| &turned[row * width..][..width]);
            let panel = first / self.columns * self.columns;
            let across = self.columns.min(all - panel);
            columns_of(&rows, &mut packed[panel * pairs + first - panel..], across);
        }
    }

    /// Brings a block of keys to the cache, with zeros behind each and behind the last.
    fn fetch_keys(&self, start: usize, count: usize, held: &mut [u32]) {
        let stride = pairs_of(self.width) + GAP;
        for (key, held) in held.chunks_exact_mut(stride).enumerate() {
            if key < count {
                join(self.keys.row(start + key, self.width), held);
                held[self.width / 2..].fill(0);
            } else {
                held.fill(0);
            }
        }
    }

    /// Brings a block of values to the cache, turned so that keys are across.
    fn fetch_values(&self, start: usize, count: usize, block: usize, held: &mut [u32], turned: &mut [u32]) {
        let (width, stride) = (self.width, block / 2 + GAP);
        held[width * stride..].fill(0);
        let turned = &mut turned[..MOST * width];
        for first in (0..block / 2).step_by(MOST) {
            for (row, turned) in turned.chunks_exact_mut(width).enumerate() {
                let key = 2 * (first + row);
                let of = |key: usize| (key < count).then(|| self.values.row(start + key, width));
                match (of(key), of(key + 1)) {
                    (Some(low), Some(high)) => {
                        for ((both, low), high) in turned.iter_mut().zip(low).zip(high) {
                            *both = u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16;
                        }
                    }
                    (Some(low), None) => {
                        turned.iter_mut().zip(low).for_each(|(both, low)| *both = low.to_bits().into())
                    }
                    _ => turned.fill(0),
                }
            }
            let rows: [&[u32]; MOST] = std::array::from_fn(|row| &turned[row * width..][..width]);
            columns_of(&rows, &mut held[first..], stride);
        }
    }

    /// Divides the sums by those of the exponentials.
    fn finish(&self, out: &mut [&mut [bf16]], sums: &[f32], total: &[f32]) {
        let (width, high) = (total.len(), self.width.next_multiple_of(STRIP));
        let mut turned = [0; LANES * LANES];
        for (strip, out) in out.chunks_mut(LANES).enumerate() {
            let query = strip * LANES;
            let panel = query / self.columns * self.columns;
            let across = self.columns.min(width - panel);
            let sums = &sums[panel * high + query - panel..];
            for first in (0..self.width).step_by(LANES) {
                let row = |row: usize| -> &[u32] { cast_slice(&sums[(first + row) * across..][..LANES]) };
                columns_of(&std::array::from_fn(row), &mut turned, LANES);
                let turned = turned.as_chunks::<LANES>().0;
                for ((out, sums), total) in out.iter_mut().zip(turned).zip(&total[query..]) {
                    for (out, sum) in out[first..].iter_mut().zip(sums) {
                        *out = bf16::rounded(f32::from_bits(*sum) / total);
                    }
                }
            }
        }
    }
}

/// Replaces the scores of a block by their exponentials relative to the highest score so far, as pairs of keys, and rescales
/// the sums.
struct Softmax<'a> {
    /// What the scores are multiplied by, for a softmax with base 2.
    scale: f32,
    /// `[key][query]`.
    scores: &'a mut [f32],
    /// `[pair of keys][query]`.
    weights: &'a mut [u32],
    /// `[value][query]`.
    sums: &'a mut [f32],
    highest: &'a mut [f32],
    total: &'a mut [f32],
    rescale: &'a mut [f32],
}

impl Tiled for Softmax<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        match self.highest.len() / S::F32_LANES {
            1 => self.replace::<S, 1>(simd),
            2 => self.replace::<S, 2>(simd),
            3 => self.replace::<S, 3>(simd),
            _ => {}
        }
    }
}

impl Softmax<'_> {
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "loops over constants are unrolled into registers")]
    fn replace<S: Simd, const V: usize>(self, simd: S) {
        let scale = simd.splat_f32s(self.scale);
        let (keys, odd) = S::as_simd_f32s(self.scores).0.as_chunks::<V>().0.as_chunks::<2>();
        let highest = &mut vectors_of_mut::<S>(self.highest, V).as_chunks_mut::<V>().0[0];
        let total = &mut vectors_of_mut::<S>(self.total, V).as_chunks_mut::<V>().0[0];
        let rescale = &mut vectors_of_mut::<S>(self.rescale, V).as_chunks_mut::<V>().0[0];
        let mut high = [[simd.splat_f32s(f32::NEG_INFINITY); V]; 2];
        for key in keys {
            for half in 0..2 {
                for vector in 0..V {
                    high[half][vector] = simd.max_f32s(high[half][vector], key[half][vector]);
                }
            }
        }
        let mut most = *highest;
        for vector in 0..V {
            let mut own = simd.max_f32s(high[0][vector], high[1][vector]);
            for key in odd {
                own = simd.max_f32s(own, key[vector]);
            }
            most[vector] = simd.max_f32s(most[vector], simd.mul_f32s(own, scale));
            rescale[vector] = exp2(simd, simd.sub_f32s(highest[vector], most[vector]));
            total[vector] = simd.mul_f32s(total[vector], rescale[vector]);
        }
        *highest = most;
        let mut below = most;
        for vector in 0..V {
            below[vector] = simd.neg_f32s(most[vector]);
        }
        let (upper, by) = (simd.splat_u32s(0xffff_0000), simd.splat_u32s(16));
        let weights = S::as_mut_simd_u32s(self.weights).0.as_chunks_mut::<V>().0;
        let (whole, last) = weights.split_at_mut(keys.len());
        for (weights, [low, high]) in whole.iter_mut().zip(keys) {
            for vector in 0..V {
                let (low, high) = (
                    weigh(simd, low[vector], scale, below[vector]),
                    weigh(simd, high[vector], scale, below[vector]),
                );
                total[vector] = simd.add_f32s(total[vector], simd.add_f32s(low, high));
                let low = simd.wrapping_dyn_shr_u32s(rounded(simd, low), by);
                weights[vector] = simd.or_u32s(low, simd.and_u32s(rounded(simd, high), upper));
            }
        }
        for (weights, key) in last.iter_mut().zip(odd) {
            for vector in 0..V {
                let low = weigh(simd, key[vector], scale, below[vector]);
                total[vector] = simd.add_f32s(total[vector], low);
                weights[vector] = simd.wrapping_dyn_shr_u32s(rounded(simd, low), by);
            }
        }
        for sums in S::as_mut_simd_f32s(self.sums).0.as_chunks_mut::<V>().0 {
            for vector in 0..V {
                sums[vector] = simd.mul_f32s(sums[vector], rescale[vector]);
            }
        }
    }
}

/// The exponential, with base 2, of a score times `scale` plus `below`.
#[inline(always)]
fn weigh<S: Simd>(simd: S, score: S::f32s, scale: S::f32s, below: S::f32s) -> S::f32s {
    exp2(simd, simd.mul_add_e_f32s(score, scale, below))
}

/// The bits of a weight, of which the upper half is the nearest bf16.
#[inline(always)]
fn rounded<S: Simd>(simd: S, weight: S::f32s) -> S::u32s {
    simd.add_u32s(simd.transmute_u32s_f32s(weight), simd.splat_u32s(0x8000))
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Storage, Tensor};
    use half::bf16;

    use super::super::super::check::{assert_close, assert_independent_of_threads, random};
    use super::super::{Added, Heads, Mask, Most, attention, plain};
    use super::*;

    fn narrow(shape: &[usize], seed: u64) -> Tensor {
        (random(shape, seed) * 3.0).unwrap().to_dtype(DType::BF16).unwrap()
    }

    fn by(instruction: Instruction, [q, k, v]: [&Tensor; 3], causal: bool) -> Tensor {
        let held = [q, k, v].map(|x| x.storage_and_layout());
        let heads = |place: usize| {
            let Storage::Cpu(storage) = &*held[place].0 else { panic!("not on the CPU") };
            let values = &storage.as_slice::<bf16>().unwrap()[held[place].1.start_offset()..];
            Heads::new(values, [q, k, v][place])
        };
        let mut out = vec![bf16::ZERO; q.elem_count()];
        attend(
            instruction,
            [heads(0), heads(1), heads(2)],
            causal,
            q.dims4().unwrap(),
            k.dims4().unwrap(),
            &mut out,
        );
        Tensor::from_vec(out, q.dims(), q.device()).unwrap()
    }

    #[test]
    fn attention_is_that_of_wide_values() {
        let instructions = match Instruction::detect() {
            Some(Instruction::Tiles) => vec![Instruction::Pairs, Instruction::Tiles],
            Some(Instruction::Pairs) => vec![Instruction::Pairs],
            None => return,
        };
        for (shape, keys, kv_heads) in [
            ([1, 5, 1, 2], 1, 1),
            ([2, 7, 3, 6], 9, 3),
            ([1, 50, 4, 16], 50, 2),
            ([2, 77, 6, 64], 300, 1),
            ([1, 200, 2, 40], 257, 2),
            ([1, 1000, 1, 128], 600, 1),
            ([1, 130, 1, 512], 140, 1),
        ] {
            let of_keys = [shape[0], keys, kv_heads, shape[3]];
            let [q, k, v] = [narrow(&shape, 1), narrow(&of_keys, 2), narrow(&of_keys, 3)];
            let wide = [&q, &k, &v].map(|x| x.to_dtype(DType::F64).unwrap());
            for causal in [false, true] {
                let added = if causal { Added::Causal } else { Added::Nothing };
                let most = Most { scores: usize::MAX, keys: usize::MAX };
                let want = plain(wide.each_ref(), (shape[3] as f64).sqrt(), added, most).unwrap();
                for instruction in &instructions {
                    let got = by(*instruction, [&q, &k, &v], causal);
                    // The exponentials have eight bits, and so has the result.
                    let [got, want] = [&got, &want].map(|x| x.to_dtype(DType::F32).unwrap());
                    assert_close(&got, &want, 1.0 / 150.0);
                }
            }
        }
    }

    #[test]
    fn attention_takes_views_and_is_the_same_on_any_number_of_threads() {
        if Instruction::detect().is_none() {
            return;
        }
        let all = narrow(&[2, 3, 260, 3 * 16], 1).transpose(1, 2).unwrap();
        let [q, k, v] = [0, 16, 32].map(|first| all.narrow(3, first, 16).unwrap());
        let [a, b, c] = [&q, &k, &v].map(|x| x.contiguous().unwrap());
        let bits = |x: &Tensor| -> Vec<bf16> { x.flatten_all().unwrap().to_vec1().unwrap() };
        let want = bits(&attention(&a, &b, &c, Mask::Causal).unwrap());
        assert_eq!(bits(&attention(&q, &k, &v, Mask::Causal).unwrap()), want);
        assert_independent_of_threads(|| attention(&q, &k, &v, Mask::None).unwrap());
    }
}
