//! Convolution in bf16, by the processor's instruction for products in bf16: the kernels, as they are stored, times patches of
//! the input. Sums are in f32 and are rounded once.
//!
//! Two successive values of a kernel are a pair, and so are the input's values under them. For a few hundred pixels and a part
//! of the kernels at a time these are woven into panels, which stay in the cache until all output channels have read them
//! (Chellapilla et al. 2006, blocked).

use half::{bf16, slice::HalfFloatSliceExt as _};
use pulp::{Simd, bytemuck::cast_slice_mut};
use rayon::prelude::*;

use super::super::{
    bf16_product::{GAP, Instruction, LANES, STRIP, Unit, join, pairs_of},
    scratch::{Reserve, Scratch},
    simd::{Tiled, run},
    sums::Kept as _,
};
use super::Sizes;

/// Most pixels of a work item: whole panels of both instructions.
const PIXELS: usize = 288;
/// Pairs that are summed at a time: panels of that depth fit in the second-level cache.
const DEPTH: usize = 320;
/// Work items of a thread, where there are enough output channels for it: with fewer, one would wait for the other.
const ITEMS: usize = 4;

/// How a convolution is divided into work items.
#[derive(Clone, Copy)]
struct Cut {
    /// Pixels of an item.
    pixels: usize,
    /// Items that the pixels of an image are divided among.
    blocks: usize,
    /// Output channels of an item.
    channels: usize,
    /// Items that the output channels are divided among.
    groups: usize,
}

impl Cut {
    fn new(sizes: Sizes, images: usize, threads: usize) -> Self {
        let plane = sizes.out_height * sizes.out_width;
        let blocks = plane.div_ceil(PIXELS);
        let groups = (ITEMS * threads).div_ceil(images * blocks).min(sizes.out_channels.div_ceil(STRIP));
        let pixels = plane.div_ceil(blocks).next_multiple_of(LANES);
        let channels = sizes.out_channels.div_ceil(groups).next_multiple_of(STRIP);
        let (blocks, groups) = (plane.div_ceil(pixels), sizes.out_channels.div_ceil(channels));
        Self { pixels, blocks, channels, groups }
    }
}

/// Convolves `[image, channel, row, column]`.
pub(super) fn convolve(
    instruction: Instruction,
    input: &[bf16],
    kernels: &[bf16],
    bias: &[f32],
    sizes: Sizes,
    out: &mut [bf16],
) {
    let plane = sizes.out_height * sizes.out_width;
    let images = out.len() / (sizes.out_channels * plane);
    let Cut { pixels, blocks, channels, groups } = Cut::new(sizes, images, rayon::current_num_threads());
    let mut work: Vec<Vec<&mut [bf16]>> = Vec::with_capacity(images * groups * blocks);
    work.resize_with(images * groups * blocks, || Vec::with_capacity(channels.min(sizes.out_channels)));
    for (number, plane) in out.chunks_mut(plane).enumerate() {
        let (image, channel) = (number / sizes.out_channels, number % sizes.out_channels);
        let first = (image * groups + channel / channels) * blocks;
        for (work, part) in work[first..].iter_mut().zip(plane.chunks_mut(pixels)) {
            work.push(part);
        }
    }
    let parts = Parts::new(instruction, sizes, channels.min(sizes.out_channels), pixels.min(plane));
    let reserve = Reserve::new(work.len(), parts.all());
    work.into_par_iter().enumerate().for_each_init(
        || reserve.lend(),
        |scratch, (index, out)| {
            let (image, group, block) = (index / blocks / groups, index / blocks % groups, index % blocks);
            let size = sizes.channels * sizes.height * sizes.width;
            Block {
                instruction,
                input: &input[image * size..][..size],
                kernels,
                bias,
                sizes,
                pixel: block * pixels,
                channel: group * channels,
            }
            .run(out, scratch);
        },
    );
}

/// Scratch bytes of [`convolve`] on `images` together.
pub(super) fn scratch_bytes(instruction: Instruction, sizes: Sizes, images: usize, threads: usize) -> usize {
    let plane = sizes.out_height * sizes.out_width;
    if images * plane * sizes.out_channels == 0 {
        return 0;
    }
    let Cut { pixels, blocks, channels, groups } = Cut::new(sizes, images, threads);
    let (items, channels) = (images * groups * blocks, channels.min(sizes.out_channels));
    let worker = Parts::new(instruction, sizes, channels, pixels.min(plane)).all();
    threads.min(items) * worker * size_of::<f32>() + items * channels * size_of::<&mut [bf16]>()
}

/// How much scratch memory the parts of a work item take, in values.
#[derive(Clone, Copy)]
struct Parts {
    /// The sums, `[output channel][pixel]`.
    sums: usize,
    /// Patches as pairs, `[panel][pair][pixel]`.
    panels: usize,
    /// The kernels of some output channels as pairs.
    kernels: usize,
    /// Which pixels have a neighbour, and the lines of two channels.
    lines: usize,
}

impl Parts {
    fn new(instruction: Instruction, sizes: Sizes, channels: usize, pixels: usize) -> Self {
        let width = pixels.next_multiple_of(LANES);
        let high = channels.next_multiple_of(instruction.rows());
        let depth = DEPTH.min(sizes.patch_pairs());
        let masks = (sizes.kernel + 1) * width;
        Self {
            sums: high * width,
            panels: depth * width,
            kernels: high.min(STRIP) * (depth + GAP),
            lines: (masks + 2 * sizes.lines() * (width + sizes.kernel)).div_ceil(2),
        }
    }

    fn all(self) -> usize {
        let Self { sums, panels, kernels, lines } = self;
        sums + panels + kernels + lines
    }
}

/// Some output channels of some pixels.
struct Block<'a> {
    instruction: Instruction,
    /// `[channel, row, column]`.
    input: &'a [bf16],
    kernels: &'a [bf16],
    bias: &'a [f32],
    sizes: Sizes,
    /// Index of the first pixel.
    pixel: usize,
    /// Index of the first output channel.
    channel: usize,
}

impl Block<'_> {
    fn run(&self, mut out: Vec<&mut [bf16]>, scratch: &mut Scratch) {
        let (count, columns) = (out[0].len(), self.instruction.columns());
        let width = count.next_multiple_of(LANES);
        let parts = Parts::new(self.instruction, self.sizes, out.len(), count);
        let (sums, rest) = scratch.take(parts.all()).split_at_mut(parts.sums);
        let (panels, rest) = rest.split_at_mut(parts.panels);
        let (kernels, lines) = rest.split_at_mut(parts.kernels);
        let (panels, kernels): (&mut [u32], &mut [u32]) = (cast_slice_mut(panels), cast_slice_mut(kernels));
        let lines: &mut [u16] = cast_slice_mut(lines);
        let (masks, lines) = lines.split_at_mut((self.sizes.kernel + 1) * width);
        self.sizes.mark_neighbours(self.pixel, count, masks);
        for (row, sums) in sums.chunks_exact_mut(width).enumerate() {
            sums.fill(if row < out.len() { self.bias[self.channel + row] } else { 0.0 });
        }
        let unit = Unit::of(self.instruction);
        let all = self.sizes.patch_pairs();
        for piece in (0..all).step_by(DEPTH) {
            let depth = DEPTH.min(all - piece);
            let panels = &mut panels[..depth * width];
            run(Weave {
                input: self.input.reinterpret_cast(),
                sizes: self.sizes,
                pixel: self.pixel,
                columns,
                piece,
                depth,
                masks,
                lines: &mut *lines,
                panels: &mut *panels,
            });
            let stride = depth + GAP;
            for (strip, sums) in sums.chunks_mut(STRIP * width).enumerate() {
                let kernels = &mut kernels[..sums.len() / width * stride];
                self.fetch(strip * STRIP, out.len(), piece, kernels, stride);
                for first in (0..width).step_by(columns) {
                    let across = columns.min(width - first);
                    let panel = &panels[first * depth..][..across * depth];
                    unit.add(kernels, stride, panel, &mut sums[first..], width);
                }
            }
        }
        drop(unit);
        run(Round { sums, width, out: &mut out });
    }

    /// Brings some pairs of the kernels of some output channels to the cache, with zeros behind the last pair and the last of
    /// `count` channels.
    fn fetch(&self, first: usize, count: usize, piece: usize, kernels: &mut [u32], stride: usize) {
        let patch = self.sizes.patch();
        let values = (patch - 2 * piece).min(2 * (stride - GAP));
        for (row, pairs) in kernels.chunks_exact_mut(stride).enumerate() {
            if first + row >= count {
                pairs.fill(0);
                continue;
            }
            let values = &self.kernels[(self.channel + first + row) * patch + 2 * piece..][..values];
            let (whole, rest) = pairs.split_at_mut(values.len() / 2);
            join(values, whole);
            rest.fill(0);
            if let [last] = values.as_chunks::<2>().1 {
                rest[0] = last.to_bits().into();
            }
        }
    }
}

/// Weaves the patches of some pixels into panels.
struct Weave<'a> {
    /// The bits of the input.
    input: &'a [u16],
    sizes: Sizes,
    /// Index of the first pixel.
    pixel: usize,
    /// Pixels of a panel.
    columns: usize,
    /// Index of the first pair.
    piece: usize,
    /// Number of pairs.
    depth: usize,
    /// See [`Sizes::mark_neighbours`].
    masks: &'a [u16],
    /// Lines of an even and an odd channel.
    lines: &'a mut [u16],
    panels: &'a mut [u32],
}

impl Tiled for Weave<'_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, _: S) {
        let Self { input, sizes, pixel, columns, piece, depth, masks, lines, panels } = self;
        let (area, plane) = (sizes.kernel * sizes.kernel, sizes.height * sizes.width);
        let width = panels.len() / depth;
        let length = width + sizes.kernel;
        let (even, odd) = lines.split_at_mut(sizes.lines() * length);
        let (lines, mut held) = ([even, odd], [usize::MAX; 2]);
        for pair in 0..depth {
            let places = [0, 1].map(|one| 2 * (piece + pair) + one);
            for channel in places.map(|place| place / area) {
                if channel < sizes.channels && held[channel % 2] != channel {
                    held[channel % 2] = channel;
                    let plane = &input[channel * plane..][..plane];
                    let lines = lines[channel % 2].chunks_exact_mut(length).enumerate();
                    lines.for_each(|(number, line)| sizes.fill_line(plane, number, pixel, line));
                }
            }
            let [low, high] = places.map(|place| {
                let (channel, place) = (place / area, place % area);
                let (line, shift) = sizes.line_of(place);
                // Past the last channel nothing is marked.
                let column = if channel < sizes.channels { place % sizes.kernel } else { sizes.kernel };
                [&lines[channel % 2][line * length + shift..][..width], &masks[column * width..][..width]]
            });
            for first in (0..width).step_by(columns) {
                let range = first..width.min(first + columns);
                let panel = &mut panels[first * depth + pair * range.len()..][..range.len()];
                weave(low.map(|one| &one[range.clone()]), high.map(|one| &one[range.clone()]), panel);
            }
        }
    }
}

/// Makes pairs of two lines where they are marked.
#[inline(always)]
fn weave(low: [&[u16]; 2], high: [&[u16]; 2], pairs: &mut [u32]) {
    let low = low[0].iter().zip(low[1]);
    let high = high[0].iter().zip(high[1]);
    for ((pair, (low, low_mask)), (high, high_mask)) in pairs.iter_mut().zip(low).zip(high) {
        *pair = u32::from(low & low_mask) | u32::from(high & high_mask) << 16;
    }
}

/// Rounds the sums.
struct Round<'a, 'b> {
    sums: &'a [f32],
    width: usize,
    out: &'a mut [&'b mut [bf16]],
}

impl Tiled for Round<'_, '_> {
    #[inline(always)]
    fn run<S: Simd, const R: usize, const V: usize>(self, _: S) {
        for (out, sums) in self.out.iter_mut().zip(self.sums.chunks_exact(self.width)) {
            for (out, sum) in out.iter_mut().zip(sums) {
                *out = bf16::rounded(*sum);
            }
        }
    }
}

impl Sizes {
    /// The same as pairs, up to whole tiles.
    fn patch_pairs(self) -> usize {
        pairs_of(self.patch().next_multiple_of(2))
    }

    /// Whether the result has the size of the input. Then the pixels under each value of the kernel follow each other in memory.
    fn keeps_size(self) -> bool {
        self.stride == 1 && [self.height, self.width] == [self.out_height, self.out_width]
    }

    /// Number of lines of a channel that patches are made of: one for each row of the kernel, which is shifted for its columns;
    /// otherwise one for each of its values.
    fn lines(self) -> usize {
        if self.keeps_size() { self.kernel } else { self.kernel * self.kernel }
    }

    /// The line of a value of the kernel, and how far it is shifted.
    #[inline(always)]
    fn line_of(self, place: usize) -> (usize, usize) {
        if self.keeps_size() { (place / self.kernel, place % self.kernel) } else { (place, 0) }
    }

    /// Writes the line of this number for the pixels from `first` on.
    #[inline(always)]
    fn fill_line(self, plane: &[u16], number: usize, first: usize, line: &mut [u16]) {
        if !self.keeps_size() {
            let pixels = (self.out_height * self.out_width - first).min(line.len());
            return self.gather(plane, number, first, &mut line[..pixels]);
        }
        let (start, before) = (first + number * self.width, self.padding * (self.width + 1));
        let (above, line) = line.split_at_mut(before.saturating_sub(start).min(line.len()));
        above.fill(0);
        let plane = &plane[(start + above.len()).saturating_sub(before).min(plane.len())..];
        let (inside, below) = line.split_at_mut(line.len().min(plane.len()));
        inside.copy_from_slice(&plane[..inside.len()]);
        below.fill(0);
    }

    /// Writes, for each column of the kernel and `count` pixels from `first` on, all bits where the pixel has a neighbour there;
    /// then once more none. Lines that are not shifted have zeros instead.
    fn mark_neighbours(self, first: usize, count: usize, masks: &mut [u16]) {
        let width = masks.len() / (self.kernel + 1);
        for (column, masks) in masks.chunks_exact_mut(width).enumerate() {
            for (pixel, mask) in masks.iter_mut().enumerate() {
                let place = ((first + pixel) % self.out_width + column).wrapping_sub(self.padding);
                let is_there = pixel < count && column < self.kernel;
                let is_marked = is_there && (place < self.width || !self.keeps_size());
                *mask = if is_marked { u16::MAX } else { 0 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Tensor};
    use half::bf16;

    use super::super::{
        super::{
            bf16_product::Instruction,
            check::{assert_independent_of_threads, flat, random},
        },
        Conv2d, Sizes, conv2d, plain,
    };

    fn narrow(shape: &[usize], seed: u64) -> Tensor {
        random(shape, seed).to_dtype(DType::BF16).unwrap()
    }

    fn values(x: &Tensor) -> Vec<bf16> {
        x.flatten_all().unwrap().to_vec1().unwrap()
    }

    /// Fails unless every result is the sum in f32, rounded once.
    #[track_caller]
    fn compare(input: [usize; 4], outputs: usize, kernel: usize, conv: Conv2d) {
        let best = Instruction::detect();
        let [x, weight] =
            [(input, 1), ([outputs, input[1], kernel, kernel], 2)].map(|(shape, seed)| narrow(&shape, seed));
        let bias = random(&[outputs], 3);
        let wide = |x: &Tensor| x.to_dtype(DType::F32).unwrap();
        let want = plain(&wide(&x), &wide(&weight), Some(&bias), conv).unwrap();
        let largest = flat(&want).into_iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
        for instruction in [Instruction::Pairs, Instruction::Tiles] {
            // Processors with tiles have pairs, too.
            if best.is_none_or(|best| best != instruction && instruction == Instruction::Tiles) {
                continue;
            }
            let sizes = Sizes::of(&x, &weight, Some(&bias), conv).unwrap();
            let mut out = vec![bf16::ZERO; want.elem_count()];
            let bias: Vec<f32> = bias.to_vec1().unwrap();
            super::convolve(instruction, &values(&x), &values(&weight), &bias, sizes, &mut out);
            for (place, (got, want)) in out.iter().zip(flat(&want)).enumerate() {
                // Half of a unit in the last place, and what sums in another order differ by.
                let allowed = want.abs() / 256.0 + 2e-6 * largest;
                assert!(
                    (got.to_f32() - want).abs() <= allowed,
                    "{instruction:?}: {got}, expected {want} at {place}"
                );
            }
        }
    }

    #[test]
    fn sums_are_those_of_widened_values() {
        let inner = Conv2d { padding: 0, ..Conv2d::SAME_3X3 };
        for conv in [Conv2d::SAME_3X3, inner, Conv2d::HALVE_3X3, Conv2d::HALVE_3X3_TRAILING] {
            // The third in several pieces, and both last ones in several blocks of pixels.
            for input in [[1, 3, 3, 3], [2, 5, 7, 10], [1, 80, 6, 9], [3, 4, 17, 40], [1, 6, 3, 301]] {
                compare(input, 9, 3, conv);
            }
        }
        compare([1, 40, 9, 11], 150, 3, Conv2d::SAME_3X3);
        for stride in [1, 2] {
            compare([2, 71, 13, 19], 11, 1, Conv2d { stride, ..Conv2d::POINTWISE });
        }
        for (side, input) in [(9, [1, 5, 12, 20]), (17, [1, 2, 5, 90])] {
            compare(input, 9, side, Conv2d { padding: side / 2, ..Conv2d::SAME_3X3 });
        }
    }

    #[test]
    fn threads_do_not_change_sums() {
        let (x, weight) = (narrow(&[1, 24, 25, 31], 1), narrow(&[70, 24, 3, 3], 2));
        let convolve = |x: &Tensor| conv2d(x, &weight, None, Conv2d::HALVE_3X3).unwrap();
        assert_independent_of_threads(|| convolve(&x));
        let views = x.transpose(2, 3).unwrap();
        let ordered = views.contiguous().unwrap();
        let [views, ordered] = [views, ordered].map(|x| convolve(&x));
        assert_eq!(values(&views), values(&ordered));
    }
}
