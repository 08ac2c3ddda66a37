//! Convolution as a matrix product with patches of the input (im2col).
//!
//! Patches are copied for a few hundred pixels and a few channels at a time, so that they stay in the cache
//! until all output channels have read them (Chellapilla et al. 2006, blocked).

use std::borrow::Cow;

use pulp::Simd;
use rayon::prelude::*;

use super::super::operands::Weights;
use super::super::scratch::{Reserve, Scratch};
use super::super::simd::{Rows, Tile, Tiled, product_of_rows, rows_of, run, vectors_of, vectors_of_mut};
use super::{super::cpu::zeros, Sizes, blocks};

/// Pixels of a block: whole register tiles of every width.
const PIXELS: usize = 192;
/// Patch values summed at a time; at least one channel.
const DEPTH: usize = 288;

pub(super) fn convolve(input: &[f32], kernels: Weights<'_>, bias: &[f32], sizes: Sizes, out: &mut [f32]) {
    let kernels = &*widened(kernels, sizes.kernel_values());
    let plane = sizes.out_height * sizes.out_width;
    let length = PIXELS;
    let per_picture = plane.div_ceil(length);
    let blocks = blocks(out, sizes.out_channels, plane, length);
    let reserve = Reserve::new(blocks.len(), item_values(sizes));
    blocks.into_par_iter().enumerate().for_each_init(
        || reserve.lend(),
        |scratch, (index, out)| {
            let (picture, block) = (index / per_picture, index % per_picture);
            let size = sizes.channels * sizes.height * sizes.width;
            let input = &input[picture * size..][..size];
            run(Block { input, kernels, bias, sizes, first: block * length, out, scratch });
        },
    );
}

/// Scratch values of [`convolve`] on `images` together, and the number of blocks per image.
pub(super) fn scratch_values(sizes: Sizes, images: usize, widens: bool, threads: usize) -> (usize, usize) {
    let blocks = (sizes.out_height * sizes.out_width).div_ceil(PIXELS);
    let kernels = if widens { sizes.kernel_values() } else { 0 };
    (kernels + threads.min(images * blocks) * item_values(sizes), blocks)
}

/// Scratch values of a work item.
fn item_values(sizes: Sizes) -> usize {
    let area = sizes.kernel * sizes.kernel;
    let together = (DEPTH / area).max(1).min(sizes.channels);
    let pixels = PIXELS.min(sizes.out_height * sizes.out_width);
    (1 + together * area) * pixels.next_multiple_of(Tile::detect().lanes)
}

/// The kernels in f32: every block of pixels reads all of them.
fn widened(kernels: Weights<'_>, count: usize) -> Cow<'_, [f32]> {
    /// Values that a thread widens at a time.
    const PIECE: usize = 1 << 14;
    if let Weights::F32(kernels) = kernels {
        return Cow::Borrowed(&kernels[..count]);
    }
    let mut wide = zeros(count);
    wide.par_chunks_mut(PIECE).enumerate().for_each(|(piece, out)| {
        run(Widened { kernels, start: piece * PIECE, out });
    });
    Cow::Owned(wide)
}

struct Widened<'a> {
    kernels: Weights<'a>,
    start: usize,
    out: &'a mut [f32],
}

impl Tiled for Widened<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, simd: S) {
        self.kernels.widen(simd, self.start, self.out);
    }
}

struct Block<'a> {
    input: &'a [f32],
    kernels: &'a [f32],
    bias: &'a [f32],
    sizes: Sizes,
    /// Index of the first pixel.
    first: usize,
    /// The pixels of the block, one slice per output channel.
    out: Vec<&'a mut [f32]>,
    scratch: &'a mut Scratch,
}

impl Tiled for Block<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(mut self, simd: S) {
        for (out, &bias) in self.out.iter_mut().zip(self.bias) {
            out.fill(bias);
        }
        let pixels = self.out[0].len();
        let area = self.sizes.kernel * self.sizes.kernel;
        let patch = self.sizes.channels * area;
        let columns = V * S::F32_LANES;
        let together = (DEPTH / area).max(1).min(self.sizes.channels);
        let padded = pixels.next_multiple_of(S::F32_LANES);
        let scratch = self.scratch.take(padded + together * area * padded);
        let (line, patches) = scratch.split_at_mut(padded);
        for channel in (0..self.sizes.channels).step_by(together) {
            let depth = together.min(self.sizes.channels - channel) * area;
            for row in 0..depth {
                let (plane, place) = (channel + row / area, row % area);
                let plane = &self.input[plane * self.sizes.height * self.sizes.width..];
                self.sizes.gather(plane, place, self.first, &mut line[..pixels]);
                let (whole, rest) = vectors_of::<S>(line, padded / S::F32_LANES).as_chunks::<V>();
                for (panel, values) in whole.iter().enumerate() {
                    let out = &mut patches[(panel * depth + row) * columns..];
                    vectors_of_mut::<S>(out, V).copy_from_slice(values);
                }
                let start = whole.len() * depth * columns + row * rest.len() * S::F32_LANES;
                vectors_of_mut::<S>(&mut patches[start..], rest.len()).copy_from_slice(rest);
            }
            for strip in (0..self.sizes.out_channels).step_by(R) {
                for first in (0..pixels).step_by(columns) {
                    let valid = columns.min(pixels - first);
                    let vectors = valid.div_ceil(S::F32_LANES);
                    let panel = &patches[first * depth..][..depth * vectors * S::F32_LANES];
                    let rows = rows_of::<R>(&self.kernels[strip * patch + channel * area..], patch, depth);
                    let out = Pixels { planes: &mut self.out[strip..], first, valid };
                    product_of_rows::<S, R, V>(simd, rows, (panel, vectors), out);
                }
            }
        }
    }
}

/// A range of pixels in successive channels; products are added to it.
struct Pixels<'a, 'b> {
    planes: &'a mut [&'b mut [f32]],
    first: usize,
    valid: usize,
}

impl<S: Simd> Rows<S> for Pixels<'_, '_> {
    #[inline(always)]
    fn take<const V: usize>(&mut self, simd: S, row: usize, values: &[S::f32s; V]) {
        let Some(plane) = self.planes.get_mut(row) else { return };
        let (whole, rest) = S::as_mut_simd_f32s(&mut plane[self.first..][..self.valid]);
        for (out, sum) in whole.iter_mut().zip(values) {
            *out = simd.add_f32s(*out, *sum);
        }
        if !rest.is_empty() {
            let sum = simd.add_f32s(simd.partial_load_f32s(rest), values[V - 1]);
            simd.partial_store_f32s(rest, sum);
        }
    }
}

impl Sizes {
    /// Writes the input values at kernel position `place` for the pixels from `first` on.
    #[inline(always)]
    pub(super) fn gather<T: Copy + Default>(
        &self,
        plane: &[T],
        place: usize,
        first: usize,
        mut line: &mut [T],
    ) {
        let (below, right) = (place / self.kernel, place % self.kernel);
        let mut pixel = first;
        while !line.is_empty() {
            let (row, column) = (pixel / self.out_width, pixel % self.out_width);
            let (part, rest) = line.split_at_mut((self.out_width - column).min(line.len()));
            let y = (row * self.stride + below).wrapping_sub(self.padding);
            if y < self.height {
                self.gather_row(&plane[y * self.width..][..self.width], column * self.stride + right, part);
            } else {
                part.fill(T::default());
            }
            pixel += part.len();
            line = rest;
        }
    }

    /// Writes every `stride`th value of `row` starting at `start - padding`; zero outside the row.
    #[inline(always)]
    fn gather_row<T: Copy + Default>(&self, row: &[T], start: usize, part: &mut [T]) {
        let zeros = self.padding.saturating_sub(start).div_ceil(self.stride).min(part.len());
        let (before, part) = part.split_at_mut(zeros);
        before.fill(T::default());
        let from = (start + zeros * self.stride - self.padding).min(row.len());
        let row = &row[from..];
        let (inside, after) = part.split_at_mut(row.len().div_ceil(self.stride).min(part.len()));
        if self.stride == 1 {
            inside.copy_from_slice(&row[..inside.len()]);
        } else {
            for (value, source) in inside.iter_mut().zip(row.iter().step_by(self.stride)) {
                *value = *source;
            }
        }
        after.fill(T::default());
    }
}
