//! 3×3 convolution by the minimal filtering of Winograd, F(2×2, 3×3) (Lavin and Gray 2016).
//!
//! Four pixels come from sixteen products per channel instead of thirty-six: tiles of 4×4 inputs and the
//! kernels are transformed by a few additions, sixteen matrix products over the channels follow, and a
//! transformation back.

use pulp::Simd;
use rayon::prelude::*;

use super::super::simd::{Scratch, Tile, Tiled, VECTORS, product, run, vectors_of, vectors_of_mut};
use super::{Sizes, blocks};

/// Products to a tile.
const PRODUCTS: usize = 16;
/// Output channels between two transformations back.
const TOGETHER: usize = 32;

/// Whether the transformations cost less here than they save.
pub(super) fn suits(sizes: Sizes) -> bool {
    let tiles = sizes.out_height.div_ceil(2) * sizes.out_width.div_ceil(2);
    sizes.kernel == 3
        && sizes.stride == 1
        && sizes.padding <= 1
        && sizes.channels >= 16
        && sizes.out_channels >= 16
        && tiles >= 128
}

pub(super) fn convolve(input: &[f32], kernels: &[f32], bias: &[f32], sizes: Sizes, out: &mut [f32]) {
    let transformed = transform_kernels(kernels, sizes);
    let (tile_rows, tile_columns) = (sizes.out_height.div_ceil(2), sizes.out_width.div_ceil(2));
    // About a megabyte of transformed inputs at a time.
    let columns = Tile::detect().columns();
    let tiles = ((1 << 14) / sizes.channels).clamp(2 * columns, 8 * columns);
    let rows = (tiles / tile_columns).clamp(1, tile_rows);
    let wide = tiles.min(tile_columns);
    let length = 2 * rows * sizes.out_width;
    let per_picture = tile_rows.div_ceil(rows);
    let blocks = blocks(out, sizes.out_channels, sizes.out_height * sizes.out_width, length);
    blocks.into_par_iter().enumerate().for_each_init(Scratch::default, |scratch, (index, out)| {
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
    });
}

/// The kernels as the left sides of the sixteen products, in strips of as many output channels as a register
/// tile has rows: `[product, strip, in, row]`.
fn transform_kernels(kernels: &[f32], sizes: Sizes) -> Vec<f32> {
    let rows = Tile::detect().rows;
    let strips = sizes.out_channels.div_ceil(rows);
    let strip = sizes.channels * rows;
    let mut transformed = vec![0.0; PRODUCTS * strips * strip];
    let mut parts: Vec<_> = (0..strips).map(|_| Vec::with_capacity(PRODUCTS)).collect();
    for product in transformed.chunks_mut(strips * strip) {
        for (part, out) in parts.iter_mut().zip(product.chunks_mut(strip)) {
            part.push(out);
        }
    }
    parts.into_par_iter().zip(kernels.par_chunks(rows * sizes.channels * 9)).for_each(
        |(mut part, kernels)| {
            for (row, kernels) in kernels.chunks(sizes.channels * 9).enumerate() {
                for (channel, kernel) in kernels.as_chunks::<9>().0.iter().enumerate() {
                    for (out, value) in part.iter_mut().zip(transform_kernel(kernel)) {
                        out[channel * rows + row] = value;
                    }
                }
            }
        },
    );
    transformed
}

/// `G g Gᵀ`.
fn transform_kernel(kernel: &[f32; 9]) -> [f32; PRODUCTS] {
    let apply = |a: f32, b: f32, c: f32| [a, 0.5 * (a + b + c), 0.5 * (a - b + c), c];
    let columns: [[f32; 4]; 3] =
        std::array::from_fn(|column| apply(kernel[column], kernel[column + 3], kernel[column + 6]));
    let mut out = [0.0; PRODUCTS];
    for (row, out) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *out = apply(columns[0][row], columns[1][row], columns[2][row]);
    }
    out
}

struct Block<'a> {
    input: &'a [f32],
    kernels: &'a [f32],
    bias: &'a [f32],
    sizes: Sizes,
    /// Number of the first row of tiles.
    first: usize,
    /// Columns of tiles at a time.
    wide: usize,
    /// The rows of pixels of the block in each output channel.
    out: Vec<&'a mut [f32]>,
    scratch: &'a mut Scratch,
}

/// A part of the tiles of a block, all rows and some columns of them, counted row by row.
#[derive(Clone, Copy)]
struct Part {
    /// Number of the first column of tiles.
    left: usize,
    /// Columns of tiles.
    wide: usize,
    /// Rows of tiles.
    rows: usize,
    /// Tiles, up to whole vectors.
    padded: usize,
}

impl Tiled for Block<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize>(mut self, simd: S) {
        let (channels, lanes) = (self.sizes.channels, S::F32_LANES);
        let rows = (self.out[0].len() / self.sizes.out_width).div_ceil(2);
        let across = self.sizes.out_width.div_ceil(2);
        let most = (rows * self.wide).next_multiple_of(lanes);
        let together = TOGETHER.next_multiple_of(R).min(self.sizes.out_channels.next_multiple_of(R));
        let lines = 8 * (self.wide + 1 + 2 * lanes);
        let length = PRODUCTS * (most * (channels + together + 1) + lanes) + lines;
        let mut scratch = std::mem::take(self.scratch);
        let (inputs, rest) = scratch.take(length).split_at_mut(PRODUCTS * channels * most);
        let (sums, rest) = rest.split_at_mut(PRODUCTS * together * most);
        for left in (0..across).step_by(self.wide) {
            let wide = self.wide.min(across - left);
            let part = Part { left, wide, rows, padded: (rows * wide).next_multiple_of(lanes) };
            self.pack(simd, part, inputs, rest);
            for first in (0..self.sizes.out_channels).step_by(together) {
                let height = together.min(self.sizes.out_channels.next_multiple_of(R) - first);
                self.multiply::<S, R>(simd, part, inputs, sums, first..first + height);
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

impl Block<'_> {
    /// Transforms the tiles of all input channels into the right sides of the products, in panels as wide as a
    /// register tile: `[product, panel, in, tile]`.
    #[inline(always)]
    fn pack<S: Simd>(&self, simd: S, part: Part, inputs: &mut [f32], rest: &mut [f32]) {
        let (channels, columns) = (self.sizes.channels, VECTORS * S::F32_LANES);
        let stride = part.padded + S::F32_LANES;
        let (tiles, lines) = rest.split_at_mut(PRODUCTS * stride);
        for channel in 0..channels {
            let size = self.sizes.height * self.sizes.width;
            let plane = &self.input[channel * size..][..size];
            for row in 0..part.rows {
                self.split_rows(plane, self.first + row, part, lines);
                // A row that ends within a vector spills into the next row, which is yet to be written.
                transform_tiles(simd, part.wide, lines, &mut tiles[row * part.wide..], stride);
            }
            for (product, tiles) in tiles.chunks(stride).enumerate() {
                for (panel, values) in tiles[..part.padded].chunks(columns).enumerate() {
                    let start = (product * part.padded + panel * columns) * channels + channel * values.len();
                    inputs[start..][..values.len()].copy_from_slice(values);
                }
            }
        }
    }

    /// The four rows of the input under a row of tiles, even columns and odd columns apart.
    #[inline(always)]
    fn split_rows(&self, plane: &[f32], row: usize, part: Part, lines: &mut [f32]) {
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
            // The first column of the input inside the picture and the number of pairs without an edge.
            let edge = usize::from(part.left == 0 && padding == 1);
            let start = 2 * part.left + 2 * edge - padding;
            let pairs = source.get(start..).unwrap_or_default().as_chunks::<2>().0;
            let inside = pairs.len().min(count - edge);
            for ((even, odd), pair) in even[edge..].iter_mut().zip(&mut odd[edge..]).zip(&pairs[..inside]) {
                *even = pair[0];
                *odd = pair[1];
            }
            let value = |column: usize| source.get(column.wrapping_sub(padding)).copied().unwrap_or(0.0);
            for column in (0..edge).chain(edge + inside..count) {
                even[column] = value(2 * (part.left + column));
                odd[column] = value(2 * (part.left + column) + 1);
            }
        }
    }

    /// The sixteen products for some output channels: `[product, out, tile]`.
    #[inline(always)]
    fn multiply<S: Simd, const R: usize>(
        &self,
        simd: S,
        part: Part,
        inputs: &[f32],
        sums: &mut [f32],
        group: std::ops::Range<usize>,
    ) {
        let (channels, columns) = (self.sizes.channels, VECTORS * S::F32_LANES);
        let matrix = self.sizes.out_channels.next_multiple_of(R) * channels;
        for number in 0..PRODUCTS {
            for strip in group.clone().step_by(R) {
                let kernels = &self.kernels[number * matrix + strip * channels..][..R * channels];
                for first in (0..part.padded).step_by(columns) {
                    let width = columns.min(part.padded - first);
                    let panel = &inputs[(number * part.padded + first) * channels..][..channels * width];
                    let start = (number * group.len() + strip - group.start) * part.padded + first;
                    let rows = kernels.as_chunks::<R>().0.iter().copied();
                    let vectors = width / S::F32_LANES;
                    product(simd, rows, (panel, vectors), |row, values| {
                        let out = &mut sums[start + row * part.padded..];
                        vectors_of_mut::<S>(out, vectors).copy_from_slice(values);
                    });
                }
            }
        }
    }

    /// Weaves the four pixels of each tile into the rows of an output channel.
    #[inline(always)]
    fn write(&mut self, part: Part, pixels: &[f32], channel: usize) {
        let width = self.sizes.out_width;
        let pixels: [&[f32]; 4] = std::array::from_fn(|pixel| &pixels[pixel * part.padded..][..part.padded]);
        for (y, out) in self.out[channel].chunks_mut(width).enumerate() {
            let tiles = (y / 2) * part.wide..(y / 2 + 1) * part.wide;
            let (left, right) = (&pixels[y % 2 * 2][tiles.clone()], &pixels[y % 2 * 2 + 1][tiles]);
            let out = &mut out[2 * part.left..(2 * (part.left + part.wide)).min(width)];
            let (pairs, last) = out.as_chunks_mut::<2>();
            for ((pair, left), right) in pairs.iter_mut().zip(left).zip(right) {
                *pair = [*left, *right];
            }
            if let ([last], Some(value)) = (last, left.last()) {
                *last = *value;
            }
        }
    }
}

/// `Bᵀ d B` of a row of tiles.
#[inline(always)]
fn transform_tiles<S: Simd>(simd: S, wide: usize, lines: &[f32], tiles: &mut [f32], stride: usize) {
    let vectors = wide.div_ceil(S::F32_LANES);
    let line = lines.len() / 8;
    let load = |number: usize, from: usize| -> &[S::f32s] {
        &vectors_of::<S>(&lines[number * line + from..], vectors)[..vectors]
    };
    for (row, (first, second, subtract)) in
        [(0, 2, true), (1, 2, false), (2, 1, true), (1, 3, true)].into_iter().enumerate()
    {
        let combine = |a, b| if subtract { simd.sub_f32s(a, b) } else { simd.add_f32s(a, b) };
        let columns = [(0, 0), (1, 0), (0, 1), (1, 1)];
        let a: [&[S::f32s]; 4] = columns.map(|(parity, from)| load(2 * first + parity, from));
        let b: [&[S::f32s]; 4] = columns.map(|(parity, from)| load(2 * second + parity, from));
        for vector in 0..vectors {
            let d: [S::f32s; 4] = std::array::from_fn(|column| combine(a[column][vector], b[column][vector]));
            let values = [
                simd.sub_f32s(d[0], d[2]),
                simd.add_f32s(d[1], d[2]),
                simd.sub_f32s(d[2], d[1]),
                simd.sub_f32s(d[1], d[3]),
            ];
            for (column, value) in values.into_iter().enumerate() {
                let start = (4 * row + column) * stride + vector * S::F32_LANES;
                vectors_of_mut::<S>(&mut tiles[start..], 1)[0] = value;
            }
        }
    }
}

/// `Aᵀ m A` of the tiles of an output channel, plus its bias: `[pixel, tile]`.
#[inline(always)]
fn transform_sums<S: Simd>(simd: S, part: Part, sums: &[f32], stride: usize, bias: f32, out: &mut [f32]) {
    let vectors = part.padded / S::F32_LANES;
    let sums: [&[S::f32s]; PRODUCTS] =
        std::array::from_fn(|product| &vectors_of::<S>(&sums[product * stride..], vectors)[..vectors]);
    let out = vectors_of_mut::<S>(out, 4 * vectors);
    let bias = simd.splat_f32s(bias);
    let apply = |a: S::f32s, b: S::f32s, c: S::f32s, d: S::f32s| {
        [simd.add_f32s(simd.add_f32s(a, b), c), simd.sub_f32s(simd.sub_f32s(b, c), d)]
    };
    for vector in 0..vectors {
        let columns: [[S::f32s; 2]; 4] = std::array::from_fn(|column| {
            let at = |row: usize| sums[4 * row + column][vector];
            apply(at(0), at(1), at(2), at(3))
        });
        for row in 0..2 {
            let [a, b, c, d] = columns.map(|column| column[row]);
            for (pixel, value) in apply(a, b, c, d).into_iter().enumerate() {
                out[(2 * row + pixel) * vectors + vector] = simd.add_f32s(value, bias);
            }
        }
    }
}
