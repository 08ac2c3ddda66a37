//! What decoding and encoding take: memory and operations, from shapes alone.

use std::collections::HashMap;

use super::{AutoencoderKl, Tiling};
use crate::{
    memory::{BlockWork, Work},
    nn::{Cost, Costs, Tape},
};

/// Sides of tiles that are offered, in latents.
const TILES: [usize; 6] = [128, 96, 64, 48, 32, 16];

/// What goes through one of the two halves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    /// Pictures to latents.
    Encoder,
    /// Latents to pictures.
    Decoder,
}

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

    fn halved(self) -> Self {
        Self { size: self.size.map(|side| side / 2), ..self }
    }

    /// A convolution that keeps its size, with a kernel of `side`.
    pub fn conv(self, costs: Costs, outputs: usize, side: usize) -> Cost {
        costs.conv([self.batch, self.channels, outputs], self.size, side, 1)
    }
}

impl AutoencoderKl {
    /// The ways of encoding one picture so many times and of decoding `batch` pictures, all of whose latents are
    /// `height` by `width`: whole, then in ever smaller tiles.
    pub fn work(&self, encoded: usize, batch: usize, [height, width]: [usize; 2], costs: Costs) -> Vec<Work> {
        let tiles = TILES.into_iter().filter(|&tile| tile < height.max(width)).map(Some);
        std::iter::once(None)
            .chain(tiles)
            .map(|tile| self.way([encoded, batch], [height, width], tile, costs))
            .collect()
    }

    /// Pictures of a batch are decoded one after the other.
    fn way(
        &self,
        [encoded, batch]: [usize; 2],
        latents: [usize; 2],
        tile: Option<usize>,
        costs: Costs,
    ) -> Work {
        let config = self.config();
        let value = costs.value_bytes;
        let (mut encoder, tiles_of_moments) = self.passes(Half::Encoder, encoded, latents, tile, costs);
        let (mut decoder, held) = self.passes(Half::Decoder, batch, latents, tile, costs);
        let [height, width] = latents;
        let area = self.scale() * self.scale();
        let pixels = height * width * area;
        let latent_bytes = batch * config.latent_channels * height * width * (2 * size_of::<f32>() + value);
        // The picture, what it is in the numbers of the computation, and its tile.
        let converted = if value == size_of::<f32>() { 0 } else { value };
        let cropped = tile.map_or(0, |tile| tile * tile * area * value);
        let picture = config.in_channels * (pixels * (size_of::<f32>() + converted) + cropped);
        let beside = tiles_of_moments + picture as u64;
        for block in encoder.iter_mut().filter(|block| block.passes > 0) {
            block.activations = (block.activations + beside).saturating_sub(held);
        }
        // Joining the rows of tiles, and scaling the picture.
        let finishing = config.out_channels * pixels * (value + size_of::<f32>().max(value));
        if let Some(last) = decoder.last_mut() {
            last.activations = last.activations.max((finishing as u64).saturating_sub(held));
        }
        encoder.append(&mut decoder);
        Work { tile: tile.map(|tile| tile as u32), carried: latent_bytes as u64 + held, blocks: encoder }
    }

    /// What the blocks of a half do for so many pictures, and bytes of tiles that are done when the most is held.
    fn passes(
        &self,
        half: Half,
        pictures: usize,
        latents: [usize; 2],
        tile: Option<usize>,
        costs: Costs,
    ) -> (Vec<BlockWork>, u64) {
        let (tapes, held, tiles) = match tile {
            Some(tile) => self.in_tiles(half, latents, Tiling::with_tile(tile), costs),
            None => (self.half(half, latents, costs), 0, 1),
        };
        let unused = BlockWork { passes: 0, operations: 0.0, activations: 0, reads: 0 };
        let pass = |tape: Tape| match pictures {
            0 => unused,
            _ => BlockWork {
                passes: (pictures * tiles) as u32,
                operations: tape.operations,
                activations: tape.peak,
                reads: 1,
            },
        };
        (tapes.into_iter().map(pass).collect(), held)
    }

    /// The blocks of a half for latents of this height and width.
    fn half(&self, half: Half, [height, width]: [usize; 2], costs: Costs) -> Vec<Tape> {
        let config = self.config();
        let plane = |channels, size| Plane { batch: 1, channels, size };
        match half {
            Half::Decoder => self.decoder(plane(config.latent_channels, [height, width]), costs),
            Half::Encoder => {
                let scale = self.scale();
                self.encoder(plane(config.in_channels, [scale * height, scale * width]), costs)
            }
        }
    }

    /// The blocks for the largest tile, bytes of tiles that are done when the most is held, and the number of tiles.
    fn in_tiles(
        &self,
        half: Half,
        [height, width]: [usize; 2],
        tiling: Tiling,
        costs: Costs,
    ) -> (Vec<Tape>, u64, usize) {
        let side = |length: usize, start: usize| tiling.tile.min(length - start);
        let step = tiling.step();
        let values = match half {
            Half::Encoder => 2 * self.config().latent_channels,
            Half::Decoder => self.config().out_channels * self.scale() * self.scale(),
        };
        let area = (values * costs.value_bytes) as u64;
        let bytes = |rows: usize, columns: usize| area * (rows * columns) as u64;
        let tapes = |size: [usize; 2]| self.half(half, size, costs);
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

    /// The encoder's blocks, function by function.
    fn encoder(&self, picture: Plane, costs: Costs) -> Vec<Tape> {
        let config = self.config();
        let widths = &config.block_out_channels;
        let Some(&first) = widths.first() else { return Vec::new() };
        let bytes = |plane: Plane| (plane.values() * costs.value_bytes) as u64;
        let mut stem = Tape::default();
        stem.run(picture.conv(costs, first, 3));
        let mut x = picture.with_channels(first);
        let mut tapes = vec![stem];
        for (level, &width) in widths.iter().enumerate() {
            let mut tape = Tape::default();
            tape.hold(bytes(x));
            for layer in 0..config.layers_per_block {
                let before = if layer == 0 { 0 } else { bytes(x) };
                resnet_tape(&mut tape, costs, x, width);
                // The input of the block itself is held to its end.
                tape.free(before);
                x = x.with_channels(width);
            }
            if level + 1 < widths.len() {
                x = x.halved();
                tape.run(costs.conv([x.batch, width, width], x.size, 3, 2));
            }
            tapes.push(tape);
        }
        tapes.push(self.middle(x, costs));
        let mut head = Tape::default();
        head.hold(bytes(x));
        head.run(costs.pointwise(x.values(), 1));
        let moments = x.with_channels(2 * config.latent_channels);
        head.replace(x.conv(costs, moments.channels, 3));
        if config.use_quant_conv {
            head.run(moments.conv(costs, moments.channels, 1));
        }
        tapes.push(head);
        tapes
    }

    /// The block of the smallest planes, which both halves have.
    fn middle(&self, x: Plane, costs: Costs) -> Tape {
        let held = (x.values() * costs.value_bytes) as u64;
        let mut tape = Tape::default();
        tape.hold(held);
        resnet_tape(&mut tape, costs, x, x.channels);
        if self.config().mid_block_add_attention {
            attention(&mut tape, costs, x);
        }
        tape.free(held);
        resnet_tape(&mut tape, costs, x, x.channels);
        tape
    }

    /// The decoder's blocks, function by function.
    fn decoder(&self, latents: Plane, costs: Costs) -> Vec<Tape> {
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
        let mut tapes = vec![stem, self.middle(x, costs)];
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
