//! Convolution of a small image: all its patches fit into panels that the kernels share. Threads share the output channels,
//! because there are few pixels, and each kernel is widened once, by the thread that uses it.

use pulp::Simd;
use rayon::prelude::*;

use super::super::operands::Weights;
use super::super::product::DEPTH;
use super::super::scratch::{Reserve, Scratch};
use super::super::simd::{Rows, Tile, Tiled, product_of_rows, rows_of, run, vectors_of_mut};
use super::Sizes;

/// Most pixels.
const PIXELS: usize = 384;
/// Output channels of a work item.
const OUTPUTS: usize = 64;
/// Kernel values that are widened at a time where several panels share them.
const WIDENED: usize = 4 * DEPTH;

pub(super) fn convolve(input: &[f32], kernels: Weights<'_>, bias: &[f32], sizes: Sizes, out: &mut [f32]) {
    let plane = sizes.out_height * sizes.out_width;
    let tile = Tile::detect();
    let inputs = sizes.channels * sizes.kernel * sizes.kernel;
    let mut panels = Scratch::default();
    let pictures = input.chunks(sizes.channels * sizes.height * sizes.width);
    for (input, out) in pictures.zip(out.chunks_mut(sizes.out_channels * plane)) {
        let panels = panels.take(plane.next_multiple_of(tile.lanes) * inputs);
        panels.par_chunks_mut(tile.columns() * inputs).enumerate().for_each(|(index, panel)| {
            let first = index * tile.columns();
            run(Patches { input, sizes, first, panel });
        });
        let panels = &*panels;
        let items = sizes.out_channels.div_ceil(OUTPUTS);
        let reserve = Reserve::new(items, item_values(sizes));
        let work = out.par_chunks_mut(OUTPUTS * plane).enumerate();
        work.for_each_init(
            || reserve.lend(),
            |scratch, (index, out)| {
                let first = index * OUTPUTS;
                let out: Vec<&mut [f32]> = out.chunks_mut(plane).collect();
                let bias = &bias[first..first + out.len()];
                run(Block { panels, kernels, bias, inputs, first, out, scratch });
            },
        );
    }
}

/// Whether an image is small.
pub(super) fn is_small(sizes: Sizes) -> bool {
    sizes.out_height * sizes.out_width <= PIXELS
}

/// Scratch values of [`convolve`].
pub(super) fn scratch_values(sizes: Sizes, threads: usize) -> usize {
    let width = (sizes.out_height * sizes.out_width).next_multiple_of(Tile::detect().lanes);
    width * sizes.patch() + threads.min(sizes.out_channels.div_ceil(OUTPUTS)) * item_values(sizes)
}

/// Scratch values of a work item.
fn item_values(sizes: Sizes) -> usize {
    let tile = Tile::detect();
    let width = (sizes.out_height * sizes.out_width).next_multiple_of(tile.lanes);
    let height = OUTPUTS.min(sizes.out_channels);
    height.next_multiple_of(tile.rows) * width + height * widened(width, sizes.patch(), tile.columns())
}

/// Number of kernel values that are widened at a time, for panels of `width`.
fn widened(width: usize, inputs: usize, columns: usize) -> usize {
    inputs.min(if width > columns { WIDENED } else { DEPTH })
}

/// Writes a panel of patches, `[channel and kernel position, pixel]`, from a pixel on.
struct Patches<'a> {
    input: &'a [f32],
    sizes: Sizes,
    first: usize,
    panel: &'a mut [f32],
}

impl Tiled for Patches<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, _: S) {
        let Self { input, sizes, first, panel } = self;
        let (area, plane) = (sizes.kernel * sizes.kernel, sizes.out_height * sizes.out_width);
        let width = panel.len() / (sizes.channels * area);
        let pixels = width.min(plane - first);
        for (row, line) in panel.chunks_exact_mut(width).enumerate() {
            let input = &input[row / area * sizes.height * sizes.width..];
            sizes.gather(input, row % area, first, &mut line[..pixels]);
            line[pixels..].fill(0.0);
        }
    }
}

/// A range of output channels of all pixels.
struct Block<'a> {
    /// Panels of up to the vectors of a register tile of pixels, each `[in, pixel]`.
    panels: &'a [f32],
    kernels: Weights<'a>,
    bias: &'a [f32],
    inputs: usize,
    /// Index of the first channel.
    first: usize,
    /// All pixels of each channel.
    out: Vec<&'a mut [f32]>,
    scratch: &'a mut Scratch,
}

impl Tiled for Block<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(mut self, simd: S) {
        let columns = V * S::F32_LANES;
        let width = self.panels.len() / self.inputs;
        let height = self.out.len();
        let widened = widened(width, self.inputs, columns);
        let scratch = self.scratch.take(height.next_multiple_of(R) * width + height * widened);
        let (sums, kernels) = scratch.split_at_mut(height.next_multiple_of(R) * width);
        for (sums, bias) in sums.chunks_mut(width).zip(self.bias) {
            sums.fill(*bias);
        }
        // With few pixels the product is bound by reading kernels, which is fastest in storage order.
        let together = if width > columns { height.next_multiple_of(R) } else { R };
        for group in (0..height).step_by(together) {
            let group = group..height.min(group + together);
            for piece in (0..self.inputs).step_by(widened) {
                let length = widened.min(self.inputs - piece);
                for (output, row) in group.clone().zip(kernels.chunks_exact_mut(length)) {
                    self.kernels.widen(simd, (self.first + output) * self.inputs + piece, row);
                }
                let kernels = &kernels[..group.len() * length];
                for start in (0..length).step_by(DEPTH) {
                    let depth = DEPTH.min(length - start);
                    for strip in (0..group.len()).step_by(R) {
                        let rows = rows_of::<R>(&kernels[strip * length + start..], length, depth);
                        for first in (0..width).step_by(columns) {
                            let across = columns.min(width - first);
                            let place = first * self.inputs + (piece + start) * across;
                            let panel = (&self.panels[place..][..depth * across], across / S::F32_LANES);
                            let sums = &mut sums[(group.start + strip) * width + first..];
                            product_of_rows::<S, R, V>(simd, rows, panel, Sums { sums, width });
                        }
                    }
                }
            }
        }
        for (out, sums) in self.out.iter_mut().zip(sums.chunks_exact(width)) {
            out.copy_from_slice(&sums[..out.len()]);
        }
    }
}

/// Sums in rows of `width`; products are added to them.
struct Sums<'a> {
    sums: &'a mut [f32],
    width: usize,
}

impl<S: Simd> Rows<S> for Sums<'_> {
    #[inline(always)]
    fn take<const V: usize>(&mut self, simd: S, row: usize, values: &[S::f32s; V]) {
        let sums = vectors_of_mut::<S>(&mut self.sums[row * self.width..], V);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = simd.add_f32s(*sum, *value);
        }
    }
}
