//! Attention over blocks of keys with a running softmax (Dao et al. 2022; Milakov and Gimelshein 2018).
//!
//! Scores are stored transposed, a row per key and a column per query. The softmax of all queries is then
//! vectorized, and the scores can be used directly as the right-hand side of the product with the values.

use std::ops::Range;

use pulp::{Simd, bytemuck::cast_slice, bytemuck::cast_slice_mut};
use rayon::prelude::*;

use super::super::{
    columns::{MOST, columns_of},
    scratch::{Reserve, Scratch},
    simd::{
        Rows, Store, Tile, Tiled, exp2, product, product_of_rows, rows_of, run, vectors_of, vectors_of_mut,
    },
};
use super::{super::product::SMALL, Bias, Grid, Heads, Scores};

/// Queries per work item and keys per block, chosen to fit in the cache together. Queries fill register tiles of every width.
fn block(width: usize) -> (usize, usize) {
    if width <= 160 { (192, 256) } else { (96, 128) }
}

pub(super) fn attend(
    queries: Heads<f32>,
    keys: Heads<f32>,
    values: Heads<f32>,
    scores: Scores,
    (batch, tokens, heads, width): (usize, usize, usize, usize),
    (_, key_count, kv_heads, _): (usize, usize, usize, usize),
    out: &mut [f32],
) {
    let together = block(width).0;
    let tiles = tokens.div_ceil(together);
    let mut work: Vec<Vec<&mut [f32]>> = (0..batch * heads * tiles).map(|_| Vec::new()).collect();
    for (row, out) in out.chunks_mut(width).enumerate() {
        let (head, token, batch) = (row % heads, row / heads % tokens, row / heads / tokens);
        work[(batch * heads + head) * tiles + token / together].push(out);
    }
    // Little work is one thread's: by the time that another one starts, it is done.
    let least = if is_small([batch, tokens, heads, width], key_count) { work.len() } else { 1 };
    let reserve = Reserve::new(work.len().div_ceil(least.max(1)), item_values([tokens, width], key_count));
    let work = work.into_par_iter().enumerate().with_min_len(least);
    work.for_each_init(
        || reserve.lend(),
        |scratch, (index, out)| {
            let (batch, head, tile) = (index / tiles / heads, index / tiles % heads, index % tiles);
            let kv_head = head / (heads / kv_heads);
            let first = tile * together;
            run(Work {
                queries: &queries.from(batch, head)[first * queries.token..],
                query_stride: queries.token,
                keys: keys.from(batch, kv_head),
                key_stride: keys.token,
                values: values.from(batch, kv_head),
                value_stride: values.token,
                key_count: if scores.causal { key_count.min(first + out.len()) } else { key_count },
                first_key: scores.window.map_or(0, |window| (first + 1).saturating_sub(window)),
                first,
                causal: scores.causal,
                window: scores.window,
                sink: scores.sinks.map(|sinks| sinks[head] * std::f32::consts::LOG2_E),
                bias: scores.bias.map(|bias| bias.head(head)),
                grid: scores.grid.map(|grid| grid.head(batch * heads + head)),
                divisor: scores.divisor,
                width,
                out,
                scratch,
            });
        },
    );
}

fn is_small(shape: [usize; 4], keys: usize) -> bool {
    shape.iter().product::<usize>() * keys < SMALL
}

/// Tiles of queries of all heads.
fn tiles([batch, tokens, heads, width]: [usize; 4]) -> usize {
    batch * heads * tokens.div_ceil(block(width).0)
}

/// Work items of [`attend`].
pub(super) fn pieces(shape: [usize; 4], keys: usize) -> usize {
    if is_small(shape, keys) { 1 } else { tiles(shape) }
}

/// Scratch bytes of [`attend`].
pub(super) fn scratch_bytes(
    [batch, tokens, heads, width]: [usize; 4],
    key_count: usize,
    threads: usize,
) -> usize {
    let shape = [batch, tokens, heads, width];
    let workers = threads.min(pieces(shape, key_count)) * item_values([tokens, width], key_count);
    // The lists grow by doubling.
    let lists = tiles(shape) * tokens.min(block(width).0).next_power_of_two() * size_of::<&mut [f32]>();
    workers * size_of::<f32>() + lists
}

/// Scratch values of a work item.
fn item_values([tokens, width]: [usize; 2], key_count: usize) -> usize {
    let tile = Tile::detect();
    let (together, keys_together) = block(width);
    let keys = keys_together.min(key_count);
    let count = tokens.min(together).div_ceil(tile.columns());
    let values = width.div_ceil(tile.rows) * (keys * tile.rows + 16);
    values + count * tile.columns() * (2 * width + keys + 3)
}

/// A range of queries of one head.
struct Work<'a> {
    queries: &'a [f32],
    query_stride: usize,
    keys: &'a [f32],
    key_stride: usize,
    values: &'a [f32],
    value_stride: usize,
    /// Number of keys that any of the queries attends to.
    key_count: usize,
    /// Position of the first key that any of them attends to.
    first_key: usize,
    /// Position of the first query.
    first: usize,
    /// Whether later keys are masked.
    causal: bool,
    /// How many keys a query attends to at most, its own and those before it; only with a sink.
    window: Option<usize>,
    /// The score of a key without a value, for a softmax with base 2.
    sink: Option<f32>,
    /// That of the head.
    bias: Option<Bias<'a>>,
    /// That of the head.
    grid: Option<Grid<'a>>,
    /// The scores are divided by this.
    divisor: f64,
    width: usize,
    /// One row per query.
    out: Vec<&'a mut [f32]>,
    scratch: &'a mut Scratch,
}

/// The state of one register tile of queries, a column per query.
struct Panel<'a> {
    /// Number of vectors across.
    vectors: usize,
    /// The queries times the scale, `[head_dim, query]`.
    queries: &'a mut [f32],
    /// The scores of a block of keys, later their exponentials, `[key, query]`.
    scores: &'a mut [f32],
    /// The weighted sums of the values, `[head_dim, query]`.
    sums: &'a mut [f32],
    /// The highest score of each query so far.
    highest: &'a mut [f32],
    /// The sum of exponentials of each query.
    total: &'a mut [f32],
    /// The factor by which the latest block rescales earlier sums.
    rescale: &'a mut [f32],
}

impl Tiled for Work<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(mut self, simd: S) {
        let block = block(self.width).1.min(self.key_count);
        let columns = V * S::F32_LANES;
        // Strips a power of two apart would map to the same cache sets.
        let strip_length = block * R + 16;
        let values_length = self.width.div_ceil(R) * strip_length;
        let panel_length = columns * (2 * self.width + block + 3);
        let count = self.out.len().div_ceil(columns);
        let mut scratch = std::mem::take(self.scratch);
        let (values, rest) = scratch.take(values_length + count * panel_length).split_at_mut(values_length);
        let mut panels: Vec<Panel> = rest
            .chunks_mut(panel_length)
            .enumerate()
            .map(|(index, part)| {
                let vectors = (self.out.len() - index * columns).min(columns).div_ceil(S::F32_LANES);
                let width = vectors * S::F32_LANES;
                let (queries, rest) = part.split_at_mut(self.width * width);
                let (sums, rest) = rest.split_at_mut(self.width * width);
                let (scores, rest) = rest.split_at_mut(block * width);
                let (highest, rest) = rest.split_at_mut(width);
                let (total, rest) = rest.split_at_mut(width);
                let rescale = &mut rest[..width];
                sums.fill(0.0);
                total.fill(if self.sink.is_some() { 1.0 } else { 0.0 });
                highest.fill(self.sink.unwrap_or(f32::NEG_INFINITY));
                self.transpose_queries::<S>(index * columns, queries, width);
                Panel { vectors, queries, scores, sums, highest, total, rescale }
            })
            .collect();
        for start in (self.first_key..self.key_count).step_by(block) {
            let keys = block.min(self.key_count - start);
            self.pack_values::<R>(start, keys, values, strip_length);
            self.score::<S, R, V>(simd, start, keys, &mut panels);
            for (index, panel) in panels.iter_mut().enumerate() {
                let first = self.first + index * columns;
                let queries = first..(self.first + self.out.len()).min(first + columns);
                if let Some(grid) = self.grid {
                    grid.add_to(panel.scores, panel.highest.len(), start..start + keys, &queries);
                }
                if let Some(bias) = self.bias {
                    panel.add_bias(start..start + keys, bias, queries);
                }
                if self.causal {
                    panel.hide(start, keys, first);
                }
                if let Some(window) = self.window {
                    panel.hide_passed(start, keys, first, window);
                }
                panel.exponentiate::<S, V>(simd, keys);
            }
            for (strip, values) in values.chunks_exact(strip_length).enumerate() {
                for panel in &mut panels {
                    panel.add_values::<S, R, V>(simd, strip * R, &values[..keys * R], self.width);
                }
            }
        }
        for (rows, panel) in self.out.chunks_mut(columns).zip(&mut panels) {
            panel.divide::<S>(simd, self.width);
            panel.write::<S>(rows, self.width);
        }
        drop(panels);
        *self.scratch = scratch;
    }
}

impl Work<'_> {
    /// Transposes the queries and scales them so that the softmax can use base 2. The columns past the last query repeat it.
    #[inline(always)]
    fn transpose_queries<S: Simd>(&self, first: usize, queries: &mut [f32], width: usize) {
        let last = self.out.len() - 1;
        for column in (0..width).step_by(S::F32_LANES) {
            let row = |number: usize| (first + column + number).min(last) * self.query_stride;
            let rows: [&[f32]; MOST] =
                std::array::from_fn(|number| &self.queries[row(number)..][..self.width]);
            columns_of(&rows.map(cast_slice), &mut cast_slice_mut(queries)[column..], width);
        }
        let scale = (std::f64::consts::LOG2_E / self.divisor) as f32;
        queries.iter_mut().for_each(|value| *value *= scale);
    }

    /// Packs a block of values into strips as wide as a register tile is high: `[strip, key, row]`.
    #[inline(always)]
    fn pack_values<const R: usize>(
        &self,
        start: usize,
        keys: usize,
        values: &mut [f32],
        strip_length: usize,
    ) {
        for key in 0..keys {
            let row = &self.values[(start + key) * self.value_stride..][..self.width];
            let (whole, rest) = row.as_chunks::<R>();
            let mut strips = values.chunks_exact_mut(strip_length).map(|strip| &mut strip[key * R..][..R]);
            for (part, out) in whole.iter().zip(&mut strips) {
                out.copy_from_slice(part);
            }
            if let Some(out) = strips.next() {
                out.fill(0.0);
                out[..rest.len()].copy_from_slice(rest);
            }
        }
    }

    /// Computes the scores of a block of keys.
    #[inline(always)]
    fn score<S: Simd, const R: usize, const V: usize>(
        &self,
        simd: S,
        start: usize,
        keys: usize,
        panels: &mut [Panel],
    ) {
        for strip in (0..keys).step_by(R) {
            let first = (start + strip) * self.key_stride;
            let count = R.min(keys - strip);
            let rows = &self.keys[first..first + (count - 1) * self.key_stride + self.width];
            for panel in &mut *panels {
                let rows = rows_of::<R>(rows, self.key_stride, self.width);
                let stride = panel.highest.len();
                let out = Store { out: &mut panel.scores[strip * stride..], stride, rows: count };
                product_of_rows::<S, R, V>(simd, rows, (&*panel.queries, panel.vectors), out);
            }
        }
    }
}

impl Panel<'_> {
    /// Adds the bias of the queries and a block of keys to their scores. The columns past the last query belong to no query.
    #[inline(always)]
    fn add_bias(&mut self, keys: Range<usize>, bias: Bias, queries: Range<usize>) {
        let width = self.highest.len();
        for (key, scores) in keys.zip(self.scores.chunks_exact_mut(width)) {
            bias.add_to(scores, &queries, key);
        }
    }

    /// Masks the keys after each query. `first` is the position of the first query.
    #[inline(always)]
    fn hide(&mut self, start: usize, keys: usize, first: usize) {
        let width = self.highest.len();
        for (key, scores) in self.scores.chunks_exact_mut(width).enumerate().take(keys) {
            scores[..(start + key).saturating_sub(first).min(width)].fill(f32::NEG_INFINITY);
        }
    }

    /// Masks the keys that a window before each query leaves out.
    #[inline(always)]
    fn hide_passed(&mut self, start: usize, keys: usize, first: usize, window: usize) {
        let width = self.highest.len();
        for (key, scores) in self.scores.chunks_exact_mut(width).enumerate().take(keys) {
            scores[(start + key + window).saturating_sub(first).min(width)..].fill(f32::NEG_INFINITY);
        }
    }

    /// Replaces the scores of a block by their exponentials relative to the highest score so far.
    #[inline(always)]
    fn exponentiate<S: Simd, const V: usize>(&mut self, simd: S, keys: usize) {
        match self.vectors {
            1 => self.exponentiate_vectors::<S, 1>(simd, keys),
            2 => self.exponentiate_vectors::<S, 2>(simd, keys),
            _ => self.exponentiate_vectors::<S, V>(simd, keys),
        }
    }

    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "loops over constants are unrolled into registers")]
    fn exponentiate_vectors<S: Simd, const V: usize>(&mut self, simd: S, keys: usize) {
        let scores = vectors_of_mut::<S>(self.scores, keys * V).as_chunks_mut::<V>().0;
        let highest = vectors_of_mut::<S>(self.highest, V);
        let total = vectors_of_mut::<S>(self.total, V);
        let rescale = vectors_of_mut::<S>(self.rescale, V);
        let (mut high, mut sum) = ([simd.splat_f32s(0.0); V], [simd.splat_f32s(0.0); V]);
        high.copy_from_slice(highest);
        for scores in &*scores {
            for vector in 0..V {
                high[vector] = simd.max_f32s(high[vector], scores[vector]);
            }
        }
        for scores in scores {
            for vector in 0..V {
                scores[vector] = exp2(simd, simd.sub_f32s(scores[vector], high[vector]));
                sum[vector] = simd.add_f32s(sum[vector], scores[vector]);
            }
        }
        for vector in 0..V {
            let factor = exp2(simd, simd.sub_f32s(highest[vector], high[vector]));
            total[vector] = simd.mul_add_e_f32s(total[vector], factor, sum[vector]);
            rescale[vector] = factor;
            highest[vector] = high[vector];
        }
    }

    /// Adds the product of the exponentials and a strip of values to the rescaled sums.
    #[inline(always)]
    fn add_values<S: Simd, const R: usize, const V: usize>(
        &mut self,
        simd: S,
        first: usize,
        values: &[f32],
        width: usize,
    ) {
        let across = self.vectors;
        let rescale = vectors_of::<S>(self.rescale, across);
        let sums = vectors_of_mut::<S>(self.sums, width * across);
        let columns = values.as_chunks::<R>().0.iter();
        let scores = &self.scores[..values.len() / R * across * S::F32_LANES];
        let out = Sums { sums: &mut sums[first * across..], rescale };
        product::<S, R, V>(simd, columns, (scores, across), out);
    }

    /// Divides the weighted sums by the sums of exponentials, a vector of queries at a time.
    #[inline(always)]
    fn divide<S: Simd>(&mut self, simd: S, width: usize) {
        let total = vectors_of::<S>(self.total, self.vectors);
        let sums = vectors_of_mut::<S>(self.sums, width * self.vectors);
        for sums in sums.chunks_exact_mut(self.vectors) {
            for (sum, total) in sums.iter_mut().zip(total) {
                *sum = simd.div_f32s(*sum, *total);
            }
        }
    }

    /// Writes the sums as a row for each query. The queries give their place to the transposed sums.
    #[inline(always)]
    fn write<S: Simd>(&mut self, rows: &mut [&mut [f32]], width: usize) {
        let across = self.highest.len();
        let (sums, lanes) = (&*self.sums, S::F32_LANES);
        if width < lanes {
            for (query, row) in rows.iter_mut().enumerate() {
                let sums = sums.chunks_exact(across).map(|sums| sums[query]);
                row.iter_mut().zip(sums).for_each(|(value, sum)| *value = sum);
            }
            return;
        }
        for first in (0..width).step_by(lanes) {
            // The last ones may have been written before.
            let first = first.min(width - lanes);
            let row = |number: usize| (first + number).min(width - 1) * across;
            let rows: [&[f32]; MOST] = std::array::from_fn(|number| &sums[row(number)..][..across]);
            columns_of(&rows.map(cast_slice), &mut cast_slice_mut(self.queries)[first..], width);
        }
        for (row, sums) in rows.iter_mut().zip(self.queries.chunks_exact(width)) {
            row.copy_from_slice(sums);
        }
    }
}

/// Sums that are rescaled before products are added.
struct Sums<'a, V> {
    sums: &'a mut [V],
    rescale: &'a [V],
}

impl<S: Simd> Rows<S> for Sums<'_, S::f32s> {
    #[inline(always)]
    #[allow(clippy::needless_range_loop, reason = "loops over constants are unrolled into registers")]
    fn take<const V: usize>(&mut self, simd: S, row: usize, values: &[S::f32s; V]) {
        let Some(sums) = self.sums.get_mut(row * V..(row + 1) * V) else { return };
        for vector in 0..V {
            sums[vector] = simd.mul_add_e_f32s(sums[vector], self.rescale[vector], values[vector]);
        }
    }
}
