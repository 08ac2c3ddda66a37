//! The transformed input, as the right-hand sides of the products: `[part, product, panel, in, tile]`, where a panel is as wide as
//! a register tile.

use std::ops::Range;

use pulp::Simd;

use super::{Layout, PIXELS, PRODUCTS, SIDE, transforms, transforms::row_of};
use crate::computed::{
    held::Held,
    scratch::Scratch,
    simd::{Tile, Tiled, vectors_of, vectors_of_mut},
};

/// Values between the products, so that they do not share places of the cache.
pub(super) const GAP: usize = 16;

/// Values of a part of a block.
pub(super) fn part(layout: Layout) -> usize {
    PRODUCTS * (layout.tiles * layout.depth + GAP)
}

/// Scratch values of [`transform`]: the transformed tiles of a channel, the rows of pixels under a row of tiles, and one row in
/// f32.
pub(super) fn scratch_values(layout: Layout) -> usize {
    PRODUCTS * (layout.tiles + Tile::detect().lanes) + (SIDE + 1) * PIXELS * line(layout)
}

/// Values of the pixels of a row that are at the same place of their tiles.
fn line(layout: Layout) -> usize {
    let lanes = Tile::detect().lanes;
    (layout.across + 1).next_multiple_of(lanes) + lanes
}

/// Transforms a part of the channels of a block.
pub(super) struct Inputs<'a, T> {
    /// `[image, in, row, column]`.
    pub input: &'a [T],
    pub layout: Layout,
    /// The rows of tiles, counted through all images.
    pub rows: Range<usize>,
    pub part: usize,
    pub out: &'a mut [f32],
    pub scratch: &'a mut Scratch,
}

impl<T: Held> Tiled for Inputs<'_, T> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        let Self { input, layout, rows, part, out, scratch } = self;
        transform::<S, V, T>(simd, input, layout, rows, part, out, scratch.take(scratch_values(layout)));
    }
}

/// `Bᵀ d B` for the tiles of some rows, of a part of the channels.
#[inline(always)]
pub(super) fn transform<S: Simd, const V: usize, T: Held>(
    simd: S,
    input: &[T],
    layout: Layout,
    rows: Range<usize>,
    part: usize,
    out: &mut [f32],
    scratch: &mut [f32],
) {
    let (lanes, sizes, across) = (S::F32_LANES, layout.sizes, layout.across);
    let padded = (rows.len() * across).next_multiple_of(lanes);
    let stride = padded + lanes;
    let (tiles, rest) = scratch.split_at_mut(PRODUCTS * stride);
    let (lines, pixels) = rest.split_at_mut(SIDE * PIXELS * line(layout));
    let (plane, down) = (sizes.height * sizes.width, sizes.out_height.div_ceil(PIXELS));
    let channels = layout.channels(part);
    let depth = channels.len();
    for (place, channel) in channels.enumerate() {
        for (number, row) in rows.clone().enumerate() {
            let (image, row) = (row / down, row % down);
            let plane = &input[(image * sizes.channels + channel) * plane..][..plane];
            for (below, lines) in lines.chunks_exact_mut(PIXELS * line(layout)).enumerate() {
                split(plane, layout, PIXELS * row + below, lines, pixels);
            }
            // A row that ends within a vector spills into the next row, which is written later.
            transform_row(simd, across, lines, &mut tiles[number * across..], stride);
        }
        for (tiles, out) in tiles.chunks(stride).zip(out.chunks_mut(padded * depth + GAP)) {
            let mut first = 0;
            while first < padded {
                let vectors = panel::<V>((padded - first) / lanes);
                let out = &mut out[first * depth + place * vectors * lanes..];
                let out = vectors_of_mut::<S>(out, vectors);
                let tiles = vectors_of::<S>(&tiles[first..], vectors);
                if let (Some(out), Some(tiles)) = (out.first_chunk_mut::<V>(), tiles.first_chunk::<V>()) {
                    *out = *tiles;
                } else {
                    for (out, tile) in out.iter_mut().zip(tiles) {
                        *out = *tile;
                    }
                }
                first += vectors * lanes;
            }
        }
    }
}

/// Vectors of the next panel of so many: as many as fit, but not all but one of the last ones.
#[inline(always)]
pub(super) fn panel<const V: usize>(vectors: usize) -> usize {
    if V > 2 && vectors == V + 1 { V - 1 } else { vectors.min(V) }
}

/// Copies the pixels of a row under all tiles and the one after them: the first of each tile, the second of each, and so on.
#[inline(always)]
fn split<T: Held>(plane: &[T], layout: Layout, y: usize, lines: &mut [f32], wide: &mut [f32]) {
    let sizes = layout.sizes;
    let y = y.wrapping_sub(sizes.padding);
    if y >= sizes.height {
        lines.fill(0.0);
        return;
    }
    let pixels = &mut wide[..PIXELS * (layout.across + 1)];
    let (before, pixels_inside) = pixels.split_at_mut(sizes.padding);
    let inside = sizes.width.min(pixels_inside.len());
    before.fill(0.0);
    pixels_inside[inside..].fill(0.0);
    T::widen(&plane[y * sizes.width..][..inside], pixels_inside);
    let (first, second) = lines.split_at_mut(lines.len() / 2);
    let half = first.len() / 2;
    let ((first, second), (third, fourth)) = (first.split_at_mut(half), second.split_at_mut(half));
    let pixels = pixels.as_chunks::<PIXELS>().0;
    for ((((a, b), c), d), pixels) in first.iter_mut().zip(second).zip(third).zip(fourth).zip(pixels) {
        [*a, *b, *c, *d] = *pixels;
    }
}

/// Transforms a row of tiles.
#[inline(always)]
fn transform_row<S: Simd>(simd: S, across: usize, lines: &[f32], tiles: &mut [f32], stride: usize) {
    let line = lines.len() / PIXELS / SIDE;
    for first in (0..across).step_by(S::F32_LANES) {
        let mut columns = [[simd.splat_f32s(0.0); SIDE]; SIDE];
        for (column, transformed) in columns.iter_mut().enumerate() {
            let place = column % PIXELS * line + column / PIXELS + first;
            let mut values = [simd.splat_f32s(0.0); SIDE];
            for (row, value) in values.iter_mut().enumerate() {
                *value = vectors_of::<S>(&lines[row * PIXELS * line + place..], 1)[0];
            }
            *transformed = transforms::input(simd, values);
        }
        for row in 0..SIDE {
            let values = transforms::input(simd, row_of(&columns, row));
            for (column, value) in values.into_iter().enumerate() {
                vectors_of_mut::<S>(&mut tiles[(row * SIDE + column) * stride + first..], 1)[0] = value;
            }
        }
    }
}
