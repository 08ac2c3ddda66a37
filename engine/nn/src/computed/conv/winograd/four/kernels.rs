//! The transformed kernels, as the left-hand sides of the products: `[strip, part, product, out, in]`, where a strip has as many
//! output channels as a register tile has rows, and a part some of the input channels.

use std::ops::Range;

use pulp::{Simd, bytemuck::cast_slice, bytemuck::cast_slice_mut};

use super::{Layout, PRODUCTS, SIDE, transforms};
use crate::computed::{
    columns::{MOST, columns_of},
    operands::Weights,
    scratch::Scratch,
    simd::{Tile, Tiled, vectors_of, vectors_of_mut},
};

/// Values of a kernel.
const KERNEL: usize = 9;

/// Values of a row: the kernels of one output channel and one product.
pub(super) fn row(depth: usize) -> usize {
    // The gap keeps rows from sharing places of the cache.
    depth.next_multiple_of(MOST) + MOST
}

/// Values of a part of a strip.
pub(super) fn strip(layout: Layout) -> usize {
    PRODUCTS * Tile::detect().rows * row(layout.depth)
}

/// Scratch values of [`transform`]: the kernels of one output channel in f32, and some of them value by value.
pub(super) fn scratch_values(layout: Layout) -> usize {
    MOST * Tile::detect().lanes + KERNEL * layout.depth.next_multiple_of(MOST) + MOST
}

/// Transforms a part of a strip.
pub(super) struct Strip<'a> {
    /// `[out, in, 9]`, of all channels.
    pub kernels: Weights<'a>,
    pub layout: Layout,
    /// Indices of the strip and of the part.
    pub place: [usize; 2],
    pub out: &'a mut [f32],
    pub scratch: &'a mut Scratch,
}

impl Tiled for Strip<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        let Self { kernels, layout, place: [strip, part], out, scratch } = self;
        let outputs = strip * R..layout.sizes.out_channels.min((strip + 1) * R);
        transform::<S, R>(simd, kernels, layout, outputs, part, out, scratch.take(scratch_values(layout)));
    }
}

/// `G g Gᵀ` for a part of the kernels of some output channels, the first of which begins a strip. Parts of a strip that are not
/// wanted are left out.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "loops over constants are unrolled into registers")]
pub(super) fn transform<S: Simd, const R: usize>(
    simd: S,
    kernels: Weights<'_>,
    layout: Layout,
    outputs: Range<usize>,
    part: usize,
    out: &mut [f32],
    scratch: &mut [f32],
) {
    let (lanes, row) = (S::F32_LANES, row(layout.depth));
    let channels = layout.channels(part);
    let (square, wide) = scratch.split_at_mut(MOST * lanes);
    let (count, padded) = (channels.len() * KERNEL, channels.len().next_multiple_of(lanes));
    let wide = &mut wide[..padded * KERNEL + MOST];
    wide[count..].fill(0.0);
    for (number, output) in outputs.enumerate() {
        let out = &mut out[number / R * strip(layout) + number % R * row..];
        let start = (output * layout.sizes.channels + channels.start) * KERNEL;
        kernels.widen(simd, start, &mut wide[..count]);
        for first in (0..padded).step_by(lanes) {
            // One kernel is a row of more values than it has; its own become the first columns.
            let mut rows: [&[u32]; MOST] = [&[]; MOST];
            for (channel, row) in rows.iter_mut().enumerate() {
                *row = cast_slice(&wide[(first + channel.min(lanes - 1)) * KERNEL..][..MOST]);
            }
            columns_of(&rows, cast_slice_mut(square), lanes);
            let places = vectors_of::<S>(square, KERNEL);
            let left = transforms::kernel(simd, [places[0], places[3], places[6]]);
            let middle = transforms::kernel(simd, [places[1], places[4], places[7]]);
            let right = transforms::kernel(simd, [places[2], places[5], places[8]]);
            for down in 0..SIDE {
                let values = transforms::kernel(simd, [left[down], middle[down], right[down]]);
                for (across, value) in values.into_iter().enumerate() {
                    let place = (down * SIDE + across) * R * row + first;
                    vectors_of_mut::<S>(&mut out[place..], 1)[0] = value;
                }
            }
        }
    }
}
