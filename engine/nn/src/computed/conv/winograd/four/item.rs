//! A work item: the products of some output channels and some tiles, and the pixels they make.

use std::ops::Range;

use pulp::Simd;

use super::{Layout, PIXELS, PRODUCTS, SIDE, inputs, inputs::panel, kernels, transforms, transforms::row_of};
use crate::computed::{
    held::Held,
    operands::Weights,
    scratch::Scratch,
    simd::{Rows, Tile, Tiled, product_of_rows, rows_of, vectors_of, vectors_of_mut},
};

/// What all items share. The other side of the products each transforms for itself.
#[derive(Clone, Copy)]
pub(super) enum Shared<'a> {
    /// The transformed kernels of all channels.
    Kernels(&'a [f32]),
    /// The transformed input of the item's rows of tiles.
    Inputs(&'a [f32]),
}

/// Some output channels of some rows of tiles.
pub(super) struct Item<'a, T> {
    pub shared: Shared<'a>,
    /// `[image, in, row, column]`.
    pub input: &'a [T],
    /// `[out, in, 9]`, of all channels.
    pub kernels: Weights<'a>,
    pub bias: &'a [f32],
    pub layout: Layout,
    /// The rows of tiles, counted through all images.
    pub rows: Range<usize>,
    pub outputs: Range<usize>,
    /// For each row of tiles and output channel its rows of pixels.
    pub out: Vec<&'a mut [T]>,
    pub scratch: &'a mut Scratch,
}

/// What is multiplied together: a part of the input channels, some output channels, some tiles.
struct Piece {
    part: usize,
    outputs: Range<usize>,
    tiles: Range<usize>,
}

/// Scratch values of an item: its own side of the products, their sums, and what the transforms take.
pub(super) fn scratch_values(layout: Layout, kernels_first: bool) -> [usize; 3] {
    let (own, rest) = if kernels_first {
        (layout.parts * inputs::part(layout), inputs::scratch_values(layout))
    } else {
        let strips = layout.outputs / Tile::detect().rows;
        (strips * kernels::strip(layout), kernels::scratch_values(layout))
    };
    let pixels = PIXELS * PIXELS * layout.summed + PIXELS * layout.across;
    [own, layout.outputs * PRODUCTS * layout.summed, rest.max(pixels)]
}

impl<T: Held> Tiled for Item<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(mut self, simd: S) {
        let layout = self.layout;
        let mut scratch = std::mem::take(self.scratch);
        let [own, sums, rest] = scratch_values(layout, matches!(self.shared, Shared::Kernels(_)));
        let (own, more) = scratch.take(own + sums + rest).split_at_mut(own);
        let (sums, rest) = more.split_at_mut(sums);
        if let Shared::Kernels(_) = self.shared {
            for (part, own) in own.chunks_exact_mut(inputs::part(layout)).enumerate() {
                inputs::transform::<S, V, T>(simd, self.input, layout, self.rows.clone(), part, own, rest);
            }
        }
        let all = self.tiles::<S>();
        let mut tiles = 0..0;
        while tiles.end < all {
            tiles = tiles.end..tiles.end;
            while tiles.end < all {
                let width = panel::<V>((all - tiles.end) / S::F32_LANES) * S::F32_LANES;
                if tiles.len() + width > layout.summed {
                    break;
                }
                tiles.end += width;
            }
            for start in self.outputs.clone().step_by(layout.outputs) {
                let outputs = start..self.outputs.end.min(start + layout.outputs);
                for part in 0..layout.parts {
                    if let Shared::Inputs(_) = self.shared {
                        let outputs = outputs.clone();
                        kernels::transform::<S, R>(simd, self.kernels, layout, outputs, part, own, rest);
                    }
                    let piece = Piece { part, outputs: outputs.clone(), tiles: tiles.clone() };
                    self.multiply::<S, R, V>(simd, own, piece, sums);
                }
                for (number, output) in outputs.enumerate() {
                    let sums = &sums[(number / R * R * PRODUCTS + number % R) * tiles.len()..];
                    let bias = self.bias[output];
                    transform_sums::<S, R>(simd, sums, tiles.len(), bias, rest);
                    self.write(output - self.outputs.start, tiles.clone(), rest);
                }
            }
        }
        *self.scratch = scratch;
    }
}

impl<T: Held> Item<'_, T> {
    /// Tiles of the item, in whole vectors.
    #[inline(always)]
    fn tiles<S: Simd>(&self) -> usize {
        (self.rows.len() * self.layout.across).next_multiple_of(S::F32_LANES)
    }

    /// Adds the products of a piece to the sums, which its first part begins: `[strip, product, out, tile]`. `own` is the side
    /// that the item transformed.
    #[inline(always)]
    fn multiply<S: Simd, const R: usize, const V: usize>(
        &self,
        simd: S,
        own: &[f32],
        Piece { part, outputs, tiles }: Piece,
        sums: &mut [f32],
    ) {
        let (layout, all) = (self.layout, self.tiles::<S>());
        let depth = layout.channels(part).len();
        let (row, strip) = (kernels::row(layout.depth), kernels::strip(layout));
        let (kernels, stride, inputs) = match self.shared {
            Shared::Kernels(kernels) => {
                let stride = layout.parts * strip;
                (&kernels[outputs.start / R * stride + part * strip..], stride, own)
            }
            Shared::Inputs(inputs) => (own, strip, inputs),
        };
        let inputs = &inputs[part * inputs::part(layout)..];
        for product in 0..PRODUCTS {
            let inputs = &inputs[product * (all * depth + inputs::GAP)..][..all * depth];
            for number in 0..outputs.len().div_ceil(R) {
                let kernels = &kernels[number * stride + product * R * row..][..(R - 1) * row + depth];
                let rows = rows_of::<R>(kernels, row, depth);
                let sums = &mut sums[(number * PRODUCTS + product) * R * tiles.len()..];
                let mut tile = tiles.start;
                while tile < tiles.end {
                    let vectors = panel::<V>((all - tile) / S::F32_LANES);
                    let width = vectors * S::F32_LANES;
                    let panel = (&inputs[tile * depth..][..width * depth], vectors);
                    let sums = &mut sums[tile - tiles.start..];
                    let sums = Sums { sums, stride: tiles.len(), adds: part > 0 };
                    product_of_rows::<S, R, V>(simd, rows, panel, sums);
                    tile += width;
                }
            }
        }
    }

    /// Writes the pixels of some tiles of an output channel: `[pixel, tile]`, before room for a row.
    #[inline(always)]
    fn write(&mut self, number: usize, tiles: Range<usize>, pixels: &mut [f32]) {
        let (width, height, across) = (self.layout.sizes.out_width, self.outputs.len(), self.layout.across);
        let some = tiles.len();
        let (pixels, wide) = pixels.split_at_mut(PIXELS * PIXELS * some);
        let end = tiles.end.min(self.rows.len() * across);
        let mut first = tiles.start;
        while first < end {
            let (row, column) = (first / across, first % across);
            let count = (across - column).min(end - first);
            for (y, out) in self.out[row * height + number].chunks_exact_mut(width).enumerate() {
                let out = &mut out[PIXELS * column..(PIXELS * (column + count)).min(width)];
                let lines = &pixels[y * PIXELS * some + first - tiles.start..];
                let (a, b) = (&lines[..count], &lines[some..][..count]);
                let (c, d) = (&lines[2 * some..][..count], &lines[3 * some..][..count]);
                let (whole, last) = T::target(out, wide).as_chunks_mut::<PIXELS>();
                for ((((out, a), b), c), d) in whole.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                    *out = [*a, *b, *c, *d];
                }
                for (x, out) in last.iter_mut().enumerate() {
                    *out = lines[x * some + count - 1];
                }
                T::finish(out, wide);
            }
            first += count;
        }
    }
}

/// `Aᵀ m A` for some tiles of an output channel, plus the bias: `[pixel, tile]`.
#[inline(always)]
fn transform_sums<S: Simd, const R: usize>(simd: S, sums: &[f32], tiles: usize, bias: f32, out: &mut [f32]) {
    let bias = simd.splat_f32s(bias);
    for first in (0..tiles).step_by(S::F32_LANES) {
        let mut columns = [[bias; PIXELS]; SIDE];
        for (column, pixels) in columns.iter_mut().enumerate() {
            let mut values = [bias; SIDE];
            for (row, value) in values.iter_mut().enumerate() {
                *value = vectors_of::<S>(&sums[(row * SIDE + column) * R * tiles + first..], 1)[0];
            }
            *pixels = transforms::pixels(simd, values);
        }
        for row in 0..PIXELS {
            let pixels = transforms::pixels(simd, row_of(&columns, row));
            for (column, value) in pixels.into_iter().enumerate() {
                let place = (row * PIXELS + column) * tiles + first;
                vectors_of_mut::<S>(&mut out[place..], 1)[0] = simd.add_f32s(value, bias);
            }
        }
    }
}

/// Sums in rows `stride` apart; products are added to them, or are the first ones.
struct Sums<'a> {
    sums: &'a mut [f32],
    stride: usize,
    adds: bool,
}

impl<S: Simd> Rows<S> for Sums<'_> {
    #[inline(always)]
    fn take<const V: usize>(&mut self, simd: S, row: usize, values: &[S::f32s; V]) {
        let sums = vectors_of_mut::<S>(&mut self.sums[row * self.stride..], V);
        if self.adds {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = simd.add_f32s(*sum, *value);
            }
        } else {
            sums.copy_from_slice(values);
        }
    }
}
