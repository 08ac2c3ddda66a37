//! F(2×2, 3×3): four pixels take sixteen multiplications per channel instead of thirty-six. Errors are those of a direct sum.

use std::ops::Range;

use pulp::Simd;
use rayon::prelude::*;

use super::super::{Sizes, blocks};
use crate::computed::{
    held::Held,
    operands::Weights,
    scratch::{Reserve, Scratch},
    simd::{Store, Tile, Tiled, product, run, vectors_of, vectors_of_mut},
};

/// Products per tile.
const PRODUCTS: usize = 16;
/// Rows of half the pixels of a row of tiles: four rows in two halves, and one row in f32.
const LINES: usize = 10;
/// Output channels per inverse transform, for few and for many input channels: of many, the transformed input does not stay in
/// the cache, and is read again for each such part of the outputs.
const TOGETHER: [usize; 2] = [32, 64];
/// Input channels that are many.
const MANY: usize = 512;
/// What reading all transformed kernels takes, as a number of tiles that are multiplied.
const READING: usize = 32;

/// Whether the transforms cost less than they save at these sizes.
pub(in super::super) fn suits(sizes: Sizes) -> bool {
    let tiles = sizes.out_height.div_ceil(2) * sizes.out_width.div_ceil(2);
    sizes.kernel == 3
        && sizes.stride == 1
        && sizes.padding <= 1
        && sizes.channels >= 16
        && sizes.out_channels >= 16
        && tiles >= 128
}

pub(in super::super) fn convolve<T: Held>(
    input: &[T],
    kernels: Weights<'_>,
    bias: &[f32],
    sizes: Sizes,
    out: &mut [T],
) {
    let transformed = transform_kernels(kernels, sizes);
    let images = input.len() / (sizes.channels * sizes.height * sizes.width);
    let Cut { rows, wide } = Cut::new(sizes, images, rayon::current_num_threads());
    let length = 2 * rows * sizes.out_width;
    let per_picture = sizes.out_height.div_ceil(2).div_ceil(rows);
    let blocks = blocks(out, sizes.out_channels, sizes.out_height * sizes.out_width, length);
    let reserve = Reserve::new(blocks.len(), item_values(sizes, rows, wide));
    blocks.into_par_iter().enumerate().for_each_init(
        || reserve.lend(),
        |scratch, (index, out)| {
            let (picture, block) = (index / per_picture, index % per_picture);
            let size = sizes.channels * sizes.height * sizes.width;
            run(Block {
                input: &input[picture * size..][..size],
                kernels: &transformed,
                bias,
                sizes,
                first: block * rows,
                wide,
                out,
                scratch,
            });
        },
    );
}

/// Which tiles are transformed and multiplied together.
struct Cut {
    /// Rows of tiles of a block.
    rows: usize,
    /// Columns of tiles of a step.
    wide: usize,
}

impl Cut {
    fn new(sizes: Sizes, images: usize, threads: usize) -> Self {
        // About a megabyte of transformed input, in whole register tiles of every width.
        let tiles = ((1 << 14) / sizes.channels).clamp(96, 384);
        let (down, across) = (sizes.out_height.div_ceil(2), sizes.out_width.div_ceil(2));
        let wide = tiles.min(across);
        let most = (tiles / across).clamp(1, down);
        if most == down {
            return Self { rows: down, wide };
        }
        // Up to a third more, so that all threads finish together.
        let choices = (1..=(most + most / 3).min(down)).rev();
        let time = |rows: &usize| {
            let turns = (images * down.div_ceil(*rows)).div_ceil(threads.max(1));
            turns * ((rows * across).next_multiple_of(Tile::detect().lanes) + READING)
        };
        Self { rows: choices.min_by_key(time).unwrap_or(1), wide }
    }
}

/// Output channels per inverse transform.
fn together(channels: usize) -> usize {
    TOGETHER[usize::from(channels >= MANY)]
}

/// Scratch values of [`convolve`] on `images` together, and the number of blocks per image.
pub(in super::super) fn scratch_values(
    sizes: Sizes,
    images: usize,
    widens: bool,
    threads: usize,
) -> (usize, usize) {
    let tile = Tile::detect();
    let out_channels = sizes.out_channels.next_multiple_of(tile.rows);
    let Cut { rows, wide } = Cut::new(sizes, images, threads);
    let strips = out_channels / tile.rows;
    let widened = if widens { threads.min(strips) * tile.rows * sizes.channels * 9 } else { 0 };
    let kernels = PRODUCTS * out_channels * sizes.channels;
    let blocks = sizes.out_height.div_ceil(2).div_ceil(rows);
    (kernels + widened.max(threads.min(images * blocks) * item_values(sizes, rows, wide)), blocks)
}

/// Scratch values of a block of so many rows of tiles, a number of columns at a time: the transformed tiles of the input, the
/// sums of some output channels, those of one, and lines of pixels.
fn item_values(sizes: Sizes, rows: usize, wide: usize) -> usize {
    let tile = Tile::detect();
    let most = (rows * wide).next_multiple_of(tile.lanes);
    let out_channels = sizes.out_channels.next_multiple_of(tile.rows);
    let together = together(sizes.channels).next_multiple_of(tile.rows).min(out_channels);
    let lines = LINES * (wide + 1 + 2 * tile.lanes);
    PRODUCTS * (most * (sizes.channels + together + 1) + tile.lanes) + lines
}

/// The transformed kernels as the left-hand sides of the sixteen products, in strips of as many output
/// channels as a register tile has rows: `[strip, product, in, row]`. In another order, what one channel writes to the sixteen
/// products would share places of the cache.
fn transform_kernels(kernels: Weights<'_>, sizes: Sizes) -> Vec<f32> {
    let rows = Tile::detect().rows;
    let strips = sizes.out_channels.div_ceil(rows);
    let strip = sizes.channels * rows;
    let mut transformed = vec![0.0; PRODUCTS * strips * strip];
    let reserve = Reserve::new(if matches!(kernels, Weights::F32(_)) { 0 } else { strips }, 9 * strip);
    let parts = transformed.par_chunks_mut(PRODUCTS * strip).enumerate();
    parts.for_each_init(
        || reserve.lend(),
        |scratch, (index, out)| {
            let first = index * strip * 9;
            let range = first..sizes.kernel_values().min(first + strip * 9);
            run(Strip { kernels, range, channels: sizes.channels, out, scratch });
        },
    );
    transformed
}

/// Computes `G g Gᵀ` for the kernels of a few output channels.
struct Strip<'a> {
    /// `[out, in, 9]`, of all output channels.
    kernels: Weights<'a>,
    /// Those of the strip.
    range: Range<usize>,
    channels: usize,
    /// `[product, in, out]`.
    out: &'a mut [f32],
    scratch: &'a mut Scratch,
}

impl Tiled for Strip<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        let kernels = match self.kernels {
            Weights::F32(kernels) => &kernels[self.range],
            narrow => {
                let wide = self.scratch.take(self.range.len());
                narrow.widen(simd, self.range.start, wide);
                wide
            }
        };
        let mut products: Vec<_> = self.out.chunks_exact_mut(self.channels * R).collect();
        for channel in 0..self.channels {
            let mut places = [[0.0; R]; 9];
            for (row, kernels) in kernels.chunks_exact(self.channels * 9).enumerate() {
                for (place, value) in places.iter_mut().zip(&kernels[channel * 9..][..9]) {
                    place[row % R] = *value;
                }
            }
            let [a, b, c, d, e, f, g, h, i] = places;
            let [left, middle, right] =
                [transform_column(a, d, g), transform_column(b, e, h), transform_column(c, f, i)];
            for (row, ((left, middle), right)) in left.into_iter().zip(middle).zip(right).enumerate() {
                let values = transform_column(left, middle, right);
                for (out, values) in products[4 * row..].iter_mut().zip(values) {
                    out[channel * R..][..R].copy_from_slice(&values);
                }
            }
        }
    }
}

/// `G` times a column, for `R` kernels at a time.
#[inline(always)]
fn transform_column<const R: usize>(a: [f32; R], b: [f32; R], c: [f32; R]) -> [[f32; R]; 4] {
    let (mut plus, mut minus) = ([0.0; R], [0.0; R]);
    for row in 0..R {
        plus[row] = 0.5 * (a[row] + c[row] + b[row]);
        minus[row] = 0.5 * (a[row] + c[row] - b[row]);
    }
    [a, plus, minus, c]
}

struct Block<'a, T> {
    input: &'a [T],
    kernels: &'a [f32],
    bias: &'a [f32],
    sizes: Sizes,
    /// Index of the first row of tiles.
    first: usize,
    /// Columns of tiles per step.
    wide: usize,
    /// The pixel rows of the block, one slice per output channel.
    out: Vec<&'a mut [T]>,
    scratch: &'a mut Scratch,
}

/// Some of the tiles of a block: all rows, a range of columns. Tiles are numbered row by row.
#[derive(Clone, Copy)]
struct Part {
    /// Index of the first column of tiles.
    left: usize,
    /// Columns of tiles.
    wide: usize,
    /// Rows of tiles.
    rows: usize,
    /// Number of tiles, rounded up to whole vectors.
    padded: usize,
}

impl<T: Held> Tiled for Block<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(mut self, simd: S) {
        let (channels, lanes) = (self.sizes.channels, S::F32_LANES);
        let rows = (self.out[0].len() / self.sizes.out_width).div_ceil(2);
        let across = self.sizes.out_width.div_ceil(2);
        let most = (rows * self.wide).next_multiple_of(lanes);
        let together =
            together(channels).next_multiple_of(R).min(self.sizes.out_channels.next_multiple_of(R));
        let mut scratch = std::mem::take(self.scratch);
        let length = item_values(self.sizes, rows, self.wide);
        let (inputs, rest) = scratch.take(length).split_at_mut(PRODUCTS * channels * most);
        let (sums, rest) = rest.split_at_mut(PRODUCTS * together * most);
        for left in (0..across).step_by(self.wide) {
            let wide = self.wide.min(across - left);
            let part = Part { left, wide, rows, padded: (rows * wide).next_multiple_of(lanes) };
            self.pack::<S, V>(simd, part, inputs, rest);
            for first in (0..self.sizes.out_channels).step_by(together) {
                let height = together.min(self.sizes.out_channels.next_multiple_of(R) - first);
                self.multiply::<S, R, V>(simd, part, inputs, sums, first..first + height);
                for channel in first..(first + height).min(self.sizes.out_channels) {
                    let start = (channel - first) * part.padded;
                    transform_sums(
                        simd,
                        part,
                        &sums[start..],
                        height * part.padded,
                        self.bias[channel],
                        rest,
                    );
                    self.write(part, rest, channel);
                }
            }
        }
        *self.scratch = scratch;
    }
}

impl<T: Held> Block<'_, T> {
    /// Transforms the tiles of all input channels into the right-hand sides of the products, in panels as
    /// wide as a register tile: `[product, panel, in, tile]`.
    #[inline(always)]
    fn pack<S: Simd, const V: usize>(&self, simd: S, part: Part, inputs: &mut [f32], rest: &mut [f32]) {
        let (channels, columns) = (self.sizes.channels, V * S::F32_LANES);
        let stride = part.padded + S::F32_LANES;
        let (tiles, lines) = rest.split_at_mut(PRODUCTS * stride);
        let (lines, wide) = lines.split_at_mut(lines.len() / LINES * 8);
        for channel in 0..channels {
            let size = self.sizes.height * self.sizes.width;
            let plane = &self.input[channel * size..][..size];
            for row in 0..part.rows {
                self.split_rows(plane, self.first + row, part, lines, wide);
                // A row that ends within a vector spills into the next row, which is written later.
                transform_tiles(simd, part.wide, lines, &mut tiles[row * part.wide..], stride);
            }
            for (product, tiles) in tiles.chunks(stride).enumerate() {
                let (whole, rest) = vectors_of::<S>(tiles, part.padded / S::F32_LANES).as_chunks::<V>();
                let inputs = &mut inputs[product * part.padded * channels..][..part.padded * channels];
                for (panel, values) in whole.iter().enumerate() {
                    let out = &mut inputs[(panel * channels + channel) * columns..];
                    vectors_of_mut::<S>(out, V).copy_from_slice(values);
                }
                let out = &mut inputs[whole.len() * channels * columns..];
                let out = &mut out[channel * rest.len() * S::F32_LANES..];
                vectors_of_mut::<S>(out, rest.len()).copy_from_slice(rest);
            }
        }
    }

    /// Copies the four input rows of a row of tiles, even and odd columns separately.
    #[inline(always)]
    fn split_rows(&self, plane: &[T], row: usize, part: Part, lines: &mut [f32], wide: &mut [f32]) {
        let Sizes { height, width, padding, .. } = self.sizes;
        let count = part.wide + 1;
        for (line, both) in lines.chunks_exact_mut(lines.len() / 4).enumerate() {
            let (even, odd) = both.split_at_mut(both.len() / 2);
            let (even, odd) = (&mut even[..count], &mut odd[..count]);
            let y = (2 * row + line).wrapping_sub(padding);
            if y >= height {
                even.fill(0.0);
                odd.fill(0.0);
                continue;
            }
            let source = &plane[y * width..][..width];
            // The first input column inside the image, and the number of column pairs away from the edge.
            let edge = usize::from(part.left == 0 && padding == 1);
            let start = 2 * part.left + 2 * edge - padding;
            let inside = (width.saturating_sub(start) / 2).min(count - edge);
            let pairs = source.get(start..).map_or(&[][..], |source| T::widened(&source[..2 * inside], wide));
            let pairs = pairs.as_chunks::<2>().0;
            for ((even, odd), pair) in even[edge..].iter_mut().zip(&mut odd[edge..]).zip(pairs) {
                *even = pair[0];
                *odd = pair[1];
            }
            let mut value = |column: usize| {
                let value =
                    source.get(column.wrapping_sub(padding)..).and_then(|source| source.first_chunk());
                value.map_or(0.0, |value: &[T; 1]| T::widened(value, wide)[0])
            };
            for column in (0..edge).chain(edge + inside..count) {
                even[column] = value(2 * (part.left + column));
                odd[column] = value(2 * (part.left + column) + 1);
            }
        }
    }

    /// The sixteen products for a few output channels: `[product, out, tile]`.
    #[inline(always)]
    fn multiply<S: Simd, const R: usize, const V: usize>(
        &self,
        simd: S,
        part: Part,
        inputs: &[f32],
        sums: &mut [f32],
        group: Range<usize>,
    ) {
        let (channels, columns) = (self.sizes.channels, V * S::F32_LANES);
        for number in 0..PRODUCTS {
            for strip in group.clone().step_by(R) {
                let kernels = &self.kernels[(strip * PRODUCTS + number * R) * channels..][..R * channels];
                for first in (0..part.padded).step_by(columns) {
                    let width = columns.min(part.padded - first);
                    let panel = &inputs[(number * part.padded + first) * channels..][..channels * width];
                    let start = (number * group.len() + strip - group.start) * part.padded + first;
                    let rows = kernels.as_chunks::<R>().0.iter();
                    let vectors = width / S::F32_LANES;
                    let out = Store { out: &mut sums[start..], stride: part.padded, rows: R };
                    product::<S, R, V>(simd, rows, (panel, vectors), out);
                }
            }
        }
    }

    /// Interleaves the four pixels of each tile into the rows of an output channel.
    #[inline(always)]
    fn write(&mut self, part: Part, pixels: &mut [f32], channel: usize) {
        let width = self.sizes.out_width;
        let (pixels, wide) = pixels.split_at_mut(4 * part.padded);
        let pixels: [&[f32]; 4] = std::array::from_fn(|pixel| &pixels[pixel * part.padded..][..part.padded]);
        for (y, out) in self.out[channel].chunks_mut(width).enumerate() {
            let tiles = (y / 2) * part.wide..(y / 2 + 1) * part.wide;
            let (left, right) = (&pixels[y % 2 * 2][tiles.clone()], &pixels[y % 2 * 2 + 1][tiles]);
            let out = &mut out[2 * part.left..(2 * (part.left + part.wide)).min(width)];
            let (pairs, last) = T::target(out, wide).as_chunks_mut::<2>();
            for ((pair, left), right) in pairs.iter_mut().zip(left).zip(right) {
                *pair = [*left, *right];
            }
            if let ([last], Some(value)) = (last, left.last()) {
                *last = *value;
            }
            T::finish(out, wide);
        }
    }
}

/// `Bᵀ d B` for a row of tiles.
#[inline(always)]
fn transform_tiles<S: Simd>(simd: S, wide: usize, lines: &[f32], tiles: &mut [f32], stride: usize) {
    let vectors = wide.div_ceil(S::F32_LANES);
    let line = lines.len() / 8;
    // The input rows to subtract or add.
    for (row, (first, second, add)) in
        [(0, 2, false), (1, 2, true), (2, 1, false), (1, 3, false)].into_iter().enumerate()
    {
        let [a, b] = [first, second].map(|row| &lines[2 * row * line..][..2 * line]);
        let [a_even, b_even] = [a, b].map(|both| vectors_of::<S>(both, vectors));
        let [a_odd, b_odd] = [a, b].map(|both| vectors_of::<S>(&both[line..], vectors));
        let [a_next, b_next] = [a, b].map(|both| vectors_of::<S>(&both[1..], vectors));
        let [a_last, b_last] = [a, b].map(|both| vectors_of::<S>(&both[line + 1..], vectors));
        let [first, second, third, fourth] = [0, 1, 2, 3].map(|column| (4 * row + column) * stride);
        for vector in 0..vectors {
            let even = combine(simd, a_even[vector], b_even[vector], add);
            let odd = combine(simd, a_odd[vector], b_odd[vector], add);
            let next = combine(simd, a_next[vector], b_next[vector], add);
            let last = combine(simd, a_last[vector], b_last[vector], add);
            let tiles = &mut tiles[vector * S::F32_LANES..];
            vectors_of_mut::<S>(&mut tiles[first..], 1)[0] = simd.sub_f32s(even, next);
            vectors_of_mut::<S>(&mut tiles[second..], 1)[0] = simd.add_f32s(odd, next);
            vectors_of_mut::<S>(&mut tiles[third..], 1)[0] = simd.sub_f32s(next, odd);
            vectors_of_mut::<S>(&mut tiles[fourth..], 1)[0] = simd.sub_f32s(odd, last);
        }
    }
}

#[inline(always)]
fn combine<S: Simd>(simd: S, a: S::f32s, b: S::f32s, add: bool) -> S::f32s {
    if add { simd.add_f32s(a, b) } else { simd.sub_f32s(a, b) }
}

/// `Aᵀ m A` for the tiles of an output channel, plus the bias: `[pixel, tile]`.
#[inline(always)]
fn transform_sums<S: Simd>(simd: S, part: Part, sums: &[f32], stride: usize, bias: f32, out: &mut [f32]) {
    let vectors = part.padded / S::F32_LANES;
    let out = vectors_of_mut::<S>(out, 4 * vectors);
    let bias = simd.splat_f32s(bias);
    for vector in 0..vectors {
        let sums = &sums[vector * S::F32_LANES..];
        let mut columns = [[bias; 4]; 2];
        for column in 0..4 {
            let a = vectors_of::<S>(&sums[column * stride..], 1)[0];
            let b = vectors_of::<S>(&sums[(4 + column) * stride..], 1)[0];
            let c = vectors_of::<S>(&sums[(8 + column) * stride..], 1)[0];
            let d = vectors_of::<S>(&sums[(12 + column) * stride..], 1)[0];
            columns[0][column] = simd.add_f32s(simd.add_f32s(a, b), c);
            columns[1][column] = simd.sub_f32s(simd.sub_f32s(b, c), d);
        }
        for (row, [a, b, c, d]) in columns.into_iter().enumerate() {
            let left = simd.add_f32s(simd.add_f32s(a, b), c);
            let right = simd.sub_f32s(simd.sub_f32s(b, c), d);
            out[2 * row * vectors + vector] = simd.add_f32s(left, bias);
            out[(2 * row + 1) * vectors + vector] = simd.add_f32s(right, bias);
        }
    }
}
