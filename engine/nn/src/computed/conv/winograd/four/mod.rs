//! F(4×4, 3×3): sixteen pixels take thirty-six multiplications per channel instead of a hundred and forty-four. Errors are about
//! twenty times those of a direct sum, and a thousandth of what rounding to bf16 costs, so this is for values of 16 bits.
//!
//! A work item is some rows of tiles and some output channels. Of many tiles and few channels, all kernels are transformed first,
//! and an item transforms its own part of the input, which stays in the cache. Otherwise all kernels would be much larger than
//! the input, so it is the other way round. Both ways give the same bits.

mod inputs;
mod item;
mod kernels;
mod transforms;

use std::ops::Range;

use rayon::prelude::*;

use super::super::Sizes;
use crate::computed::{
    held::Held,
    operands::Weights,
    scratch::Reserve,
    simd::{Tile, run},
};
use inputs::Inputs;
use item::{Item, Shared};
use kernels::Strip;

/// Pixels of a row of a tile.
const PIXELS: usize = 4;
/// Values of a row of a transformed tile.
const SIDE: usize = PIXELS + 2;
/// Products of a tile.
const PRODUCTS: usize = SIDE * SIDE;
/// Most input channels whose products are summed at a time.
const DEPTH: usize = 128;
/// Fewest tiles of a block, about.
const FEW: usize = 48;
/// Tiles whose sums are held at a time: whole register tiles of every width.
const SUMMED: usize = 96;
/// Most output channels whose sums are held at a time: whole register tiles of every height.
const OUTPUTS: usize = 48;
/// Work items of a thread, where there are enough tiles and output channels for it.
const ITEMS: usize = 4;
/// What a block takes besides its products, as a number of tiles.
const STARTING: usize = 16;
/// Fewest tiles of an image: of fewer, transforming the kernels takes longer than what it saves.
const FEWEST: usize = 12;
/// Most kernels that are all transformed first: they take 144 bytes each.
const MOST_KERNELS: usize = 1 << 17;
/// Values of a cache line.
const LINE: usize = 16;

/// Whether the transforms cost less than they save at these sizes.
pub(in super::super) fn suits(sizes: Sizes) -> bool {
    let tiles = sizes.out_height.div_ceil(PIXELS) * sizes.out_width.div_ceil(PIXELS);
    sizes.kernel == 3
        && sizes.stride == 1
        && sizes.padding <= 1
        && sizes.channels >= 16
        && sizes.out_channels >= 16
        && tiles >= FEWEST
}

/// How a convolution is divided.
#[derive(Debug, Clone, Copy)]
struct Cut {
    /// Rows of tiles of a block, which may be of several images.
    rows: usize,
    /// Blocks that all rows are divided among.
    blocks: usize,
    /// Blocks whose items are computed at the same time.
    together: usize,
    /// Output channels of an item.
    outputs: usize,
    /// Items that the output channels are divided among.
    groups: usize,
    /// Whether all kernels are transformed first, instead of the input.
    kernels_first: bool,
}

impl Cut {
    fn new(sizes: Sizes, images: usize, threads: usize) -> Self {
        let (all, across) = (images * sizes.out_height.div_ceil(PIXELS), sizes.out_width.div_ceil(PIXELS));
        let most = (SUMMED / across).clamp(1, all);
        let kernels = sizes.channels * sizes.out_channels;
        if all * across >= sizes.out_channels && kernels <= MOST_KERNELS {
            // Several blocks for a thread, where there are enough tiles: it takes scratch memory for one of them.
            let most = most.min(all / (ITEMS * threads)).max(FEW / across).clamp(1, all);
            // Up to a third more, so that all threads finish together.
            let choices = (1..=(most + most / 3).min(all)).rev();
            let time = |rows: &usize| all.div_ceil(*rows).div_ceil(threads) * (rows * across + STARTING);
            let rows = choices.min_by_key(time).unwrap_or(1);
            let (blocks, outputs) = (all.div_ceil(rows), sizes.out_channels);
            return Self { rows, blocks, together: blocks, outputs, groups: 1, kernels_first: true };
        }
        let rows = all.div_ceil(all.div_ceil(most));
        let blocks = all.div_ceil(rows);
        let wanted = sizes.out_channels.div_ceil(OUTPUTS).max((ITEMS * threads).div_ceil(blocks));
        let outputs = sizes.out_channels.div_ceil(wanted).next_multiple_of(Tile::detect().rows);
        let groups = sizes.out_channels.div_ceil(outputs);
        let together = (ITEMS * threads).div_ceil(groups).min(blocks);
        let together = blocks.div_ceil(blocks.div_ceil(together));
        Self { rows, blocks, together, outputs, groups, kernels_first: false }
    }

    /// Work items that are computed at the same time, of whatever kind.
    fn items(self, layout: Layout) -> usize {
        self.together * self.groups.max(layout.parts)
    }

    /// Values that the work items share.
    fn shared(self, layout: Layout) -> usize {
        let strips = layout.sizes.out_channels.div_ceil(Tile::detect().rows);
        let all = if self.kernels_first {
            strips * kernels::strip(layout)
        } else {
            self.together * inputs::part(layout)
        };
        layout.parts * all
    }

    /// Scratch values of a work item of whatever kind.
    fn item_values(self, layout: Layout) -> usize {
        let item: usize = item::scratch_values(layout, self.kernels_first).iter().sum();
        let first =
            if self.kernels_first { kernels::scratch_values(layout) } else { inputs::scratch_values(layout) };
        item.max(first)
    }
}

/// How the values of a convolution lie in memory.
#[derive(Debug, Clone, Copy)]
struct Layout {
    sizes: Sizes,
    /// Tiles of a row.
    across: usize,
    /// Tiles of a block, in whole vectors.
    tiles: usize,
    /// Input channels of a part.
    depth: usize,
    /// Parts that the input channels are divided among.
    parts: usize,
    /// Tiles whose sums are held at a time.
    summed: usize,
    /// Output channels whose sums are held at a time.
    outputs: usize,
}

impl Layout {
    fn new(sizes: Sizes, cut: Cut) -> Self {
        let Tile { rows, lanes, .. } = Tile::detect();
        let across = sizes.out_width.div_ceil(PIXELS);
        let tiles = (cut.rows * across).next_multiple_of(lanes);
        let depth = sizes.channels.div_ceil(sizes.channels.div_ceil(DEPTH));
        Self {
            sizes,
            across,
            tiles,
            depth,
            parts: sizes.channels.div_ceil(depth),
            summed: SUMMED.min(tiles),
            outputs: cut.outputs.min(OUTPUTS).next_multiple_of(rows),
        }
    }

    /// The input channels of a part.
    #[inline(always)]
    fn channels(self, part: usize) -> Range<usize> {
        part * self.depth..self.sizes.channels.min((part + 1) * self.depth)
    }
}

/// Convolves `[image, channel, row, column]`.
pub(in super::super) fn convolve<T: Held>(
    input: &[T],
    kernels: Weights<'_>,
    bias: &[f32],
    sizes: Sizes,
    out: &mut [T],
) {
    let images = input.len() / (sizes.channels * sizes.height * sizes.width);
    let cut = Cut::new(sizes, images, rayon::current_num_threads());
    let layout = Layout::new(sizes, cut);
    let mut shared = vec![0.0; cut.shared(layout) + LINE];
    let start = shared.as_ptr().align_offset(LINE * size_of::<f32>()).min(LINE);
    let shared = &mut shared[start..][..cut.shared(layout)];
    let reserve = Reserve::new(cut.items(layout), cut.item_values(layout));
    if cut.kernels_first {
        let parts = shared.par_chunks_mut(kernels::strip(layout)).enumerate();
        parts.for_each_init(
            || reserve.lend(),
            |scratch, (index, out)| {
                let place = [index / layout.parts, index % layout.parts];
                run(Strip { kernels, layout, place, out, scratch });
            },
        );
    }
    let rows = images * sizes.out_height.div_ceil(PIXELS);
    let rows_of = |block: usize| block * cut.rows..rows.min((block + 1) * cut.rows);
    let mut work = work_items(out, sizes, cut).into_iter();
    for first in (0..cut.blocks).step_by(cut.together) {
        let blocks = cut.together.min(cut.blocks - first);
        if !cut.kernels_first {
            let parts = shared.par_chunks_mut(inputs::part(layout)).take(blocks * layout.parts).enumerate();
            parts.for_each_init(
                || reserve.lend(),
                |scratch, (index, out)| {
                    let (rows, part) = (rows_of(first + index / layout.parts), index % layout.parts);
                    run(Inputs { input, layout, rows, part, out, scratch });
                },
            );
        }
        let shared = &*shared;
        let items: Vec<_> = work.by_ref().take(blocks * cut.groups).collect();
        items.into_par_iter().enumerate().for_each_init(
            || reserve.lend(),
            |scratch, (index, out)| {
                let (block, group) = (index / cut.groups, index % cut.groups);
                let shared = if cut.kernels_first {
                    Shared::Kernels(shared)
                } else {
                    Shared::Inputs(&shared[block * layout.parts * inputs::part(layout)..])
                };
                let rows = rows_of(first + block);
                let outputs = group * cut.outputs..sizes.out_channels.min((group + 1) * cut.outputs);
                run(Item { shared, input, kernels, bias, layout, rows, outputs, out, scratch });
            },
        );
    }
}

/// Scratch bytes of [`convolve`] on `images` together.
pub(in super::super) fn scratch_bytes(sizes: Sizes, images: usize, threads: usize) -> usize {
    let cut = Cut::new(sizes, images, threads);
    let layout = Layout::new(sizes, cut);
    let values =
        cut.shared(layout) + LINE + threads.min(cut.items(layout)) * (cut.item_values(layout) + LINE);
    let slices = cut.blocks * cut.rows * sizes.out_channels;
    values * size_of::<f32>() + slices * size_of::<&mut [f32]>()
}

/// The rows of pixels of each item: a slice for each row of tiles and output channel.
fn work_items<T>(out: &mut [T], sizes: Sizes, cut: Cut) -> Vec<Vec<&mut [T]>> {
    let (plane, down) = (sizes.out_height * sizes.out_width, sizes.out_height.div_ceil(PIXELS));
    let mut work: Vec<Vec<&mut [T]>> = Vec::with_capacity(cut.blocks * cut.groups);
    let most = cut.rows * cut.outputs.min(sizes.out_channels);
    work.resize_with(cut.blocks * cut.groups, || Vec::with_capacity(most));
    for (image, planes) in out.chunks_mut(sizes.out_channels * plane).enumerate() {
        let mut planes: Vec<_> =
            planes.chunks_mut(plane).map(|plane| plane.chunks_mut(PIXELS * sizes.out_width)).collect();
        for row in image * down..(image + 1) * down {
            for (channel, pixels) in planes.iter_mut().flat_map(Iterator::next).enumerate() {
                work[row / cut.rows * cut.groups + channel / cut.outputs].push(pixels);
            }
        }
    }
    work
}
