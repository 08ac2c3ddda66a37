//! What decoding takes: memory and operations, from shapes alone.

use std::collections::HashMap;

use super::{AutoencoderKl, Tiling};
use crate::{
    memory::{BlockWork, Work},
    nn::{Cost, Costs, Tape},
};

/// Sides of tiles that are offered, in latents.
const TILES: [usize; 6] = [128, 96, 64, 48, 32, 16];

/// A picture on its way through a network of convolutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plane {
    /// Pictures.
    pub batch: usize,
    /// Channels.
    pub channels: usize,
    /// Height and width.
    pub size: [usize; 2],
}

impl Plane {
    /// Number of values.
    pub fn values(self) -> usize {
        self.batch * self.channels * self.size[0] * self.size[1]
    }

    /// Bytes of its values.
    pub fn bytes(self, costs: Costs) -> u64 {
        (self.values() * costs.value_bytes) as u64
    }

    /// The same with other channels.
    pub fn with_channels(self, channels: usize) -> Self {
        Self { channels, ..self }
    }

    fn doubled(self) -> Self {
        Self { size: self.size.map(|side| 2 * side), ..self }
    }

    /// A convolution that keeps its size, with a kernel of `side`.
    pub fn conv(self, costs: Costs, outputs: usize, side: usize) -> Cost {
        costs.conv([self.batch, self.channels, outputs], self.size, side, 1)
    }
}

impl AutoencoderKl {
    /// The ways of decoding `batch` pictures whose latents are `height` by `width`: whole, then in ever smaller
    /// tiles.
    pub fn decode_work(&self, batch: usize, [height, width]: [usize; 2], value_bytes: usize) -> Vec<Work> {
        let tiles = TILES.into_iter().filter(|&tile| tile < height.max(width)).map(Some);
        std::iter::once(None)
            .chain(tiles)
            .map(|tile| self.way(batch, [height, width], tile, Costs { value_bytes }))
            .collect()
    }

    /// Pictures of a batch are decoded one after the other.
    fn way(&self, batch: usize, latents: [usize; 2], tile: Option<usize>, costs: Costs) -> Work {
        let config = self.config();
        let value = costs.value_bytes;
        let whole = self.tapes(Plane { batch: 1, channels: config.latent_channels, size: latents }, costs);
        let (tapes, held, tiles) = match tile {
            Some(tile) => self.in_tiles(latents, Tiling::with_tile(tile), costs),
            None => (whole, 0, 1),
        };
        let unused = BlockWork { passes: 0, operations: 0.0, activations: 0, reads: 0 };
        let mut blocks = vec![unused; config.first_decoder_block()];
        blocks.extend(tapes.into_iter().map(|tape| BlockWork {
            passes: (batch * tiles) as u32,
            operations: tape.operations,
            activations: tape.peak,
            reads: 1,
        }));
        let [height, width] = latents;
        let pixels = config.out_channels * height * width * self.scale() * self.scale();
        let latent_bytes = batch * config.latent_channels * height * width * (2 * size_of::<f32>() + value);
        // Joining the rows of tiles, and scaling the picture.
        let finishing = (pixels * value + pixels * size_of::<f32>().max(value)) as u64;
        if let Some(last) = blocks.last_mut() {
            last.activations = last.activations.max(finishing.saturating_sub(held));
        }
        Work { tile: tile.map(|tile| tile as u32), carried: latent_bytes as u64 + held, blocks }
    }

    /// The blocks for the largest tile, bytes of tiles that are done when the most is held, and the number of tiles.
    fn in_tiles(&self, [height, width]: [usize; 2], tiling: Tiling, costs: Costs) -> (Vec<Tape>, u64, usize) {
        let channels = self.config().latent_channels;
        let side = |length: usize, start: usize| tiling.tile.min(length - start);
        let step = tiling.step();
        let area = (self.config().out_channels * self.scale() * self.scale() * costs.value_bytes) as u64;
        let bytes = |rows: usize, columns: usize| area * (rows * columns) as u64;
        let tapes = |size: [usize; 2]| self.tapes(Plane { batch: 1, channels, size }, costs);
        let peak = |tapes: &[Tape]| tapes.iter().map(|tape| tape.peak).max().unwrap_or(0);
        let largest = tapes([side(height, 0), side(width, 0)]);
        let mut peaks: HashMap<[usize; 2], (u64, f64)> = HashMap::new();
        let (mut most, mut tiles, mut operations) = (0, 0_u32, 0.0);
        let mut above = 0;
        for top in (0..height).step_by(step) {
            let rows = side(height, top);
            let done = bytes(top.min(height), width);
            let (mut row, mut kept) = (0, 0);
            for left in (0..width).step_by(step) {
                let columns = side(width, left);
                let (peak, work) = *peaks.entry([rows, columns]).or_insert_with(|| {
                    let tapes = tapes([rows, columns]);
                    (peak(&tapes), tapes.iter().map(|tape| tape.operations).sum())
                });
                most = most.max(done + above + row + kept + peak);
                row += bytes(rows, columns);
                // A tile that is kept whole is not copied.
                if rows > step || columns > step {
                    kept += bytes(rows.min(step), columns.min(step));
                }
                tiles += 1;
                operations += work;
            }
            above = row;
        }
        let held = most.saturating_sub(peak(&largest));
        let all: f64 = largest.iter().map(|tape| tape.operations).sum();
        let share = if all > 0.0 { operations / f64::from(tiles) / all } else { 1.0 };
        let tapes = largest.into_iter().map(|mut tape| {
            tape.operations *= share;
            tape
        });
        (tapes.collect(), held, tiles as usize)
    }

    /// The decoder's blocks, function by function.
    fn tapes(&self, latents: Plane, costs: Costs) -> Vec<Tape> {
        let config = self.config();
        let widths = &config.block_out_channels;
        let (Some(&narrow), Some(&wide)) = (widths.first(), widths.last()) else { return Vec::new() };
        let mut stem = Tape::default();
        if config.use_post_quant_conv {
            stem.run(latents.conv(costs, latents.channels, 1));
        }
        stem.run(latents.conv(costs, wide, 3));
        let mut x = latents.with_channels(wide);
        let bytes = |plane: Plane| plane.bytes(costs);
        let mut middle = Tape::default();
        middle.hold(bytes(x));
        resnet_tape(&mut middle, costs, x, wide);
        if config.mid_block_add_attention {
            attention(&mut middle, costs, x);
        }
        middle.free(bytes(x));
        resnet_tape(&mut middle, costs, x, wide);
        let mut tapes = vec![stem, middle];
        for level in 0..widths.len() {
            let width = widths[widths.len() - 1 - level];
            let mut tape = Tape::default();
            tape.hold(bytes(x));
            for layer in 0..=config.layers_per_block {
                let before = if layer == 0 { 0 } else { bytes(x) };
                resnet_tape(&mut tape, costs, x, width);
                // The input of the block itself is held to its end.
                tape.free(before);
                x = x.with_channels(width);
            }
            if level + 1 < widths.len() {
                tape.run(costs.upsample(x.values()));
                x = x.doubled();
                tape.run(x.conv(costs, width, 3));
            }
            tapes.push(tape);
        }
        let mut head = Tape::default();
        head.hold(bytes(x));
        head.run(costs.pointwise(x.values(), 1));
        head.run(x.with_channels(narrow).conv(costs, config.out_channels, 3));
        tapes.push(head);
        tapes
    }
}

/// A residual block; its input stays held, its result is held from now on.
pub fn resnet_tape(tape: &mut Tape, costs: Costs, x: Plane, outputs: usize) {
    let result = x.with_channels(outputs);
    let h = tape.run(costs.pointwise(x.values(), 1));
    let convolved = tape.run(x.conv(costs, outputs, 3));
    tape.free(h);
    tape.replace(costs.pointwise(result.values(), 1));
    tape.replace(result.conv(costs, outputs, 3));
    let shortcut = if x.channels == outputs { 0 } else { tape.run(x.conv(costs, outputs, 1)) };
    tape.run(costs.copy(result.values()));
    tape.free(convolved + shortcut);
}

/// One head over all pixels; its input stays held, its result is held from now on.
fn attention(tape: &mut Tape, costs: Costs, x: Plane) {
    let rows = x.batch * x.size[0] * x.size[1];
    let normed = tape.run(costs.pointwise(x.values(), 1));
    tape.replace(costs.copy(x.values()));
    let heads: u64 = (0..3).map(|_| tape.run(costs.linear(rows, x.channels, x.channels))).sum();
    let shape = [x.batch, rows / x.batch.max(1), 1, x.channels];
    tape.run(costs.attention(shape, shape[1], 1));
    tape.free(heads + normed);
    tape.replace(costs.linear(rows, x.channels, x.channels));
    let copied = tape.run(costs.copy(x.values()));
    tape.run(costs.copy(x.values()));
    tape.free(2 * copied);
}
