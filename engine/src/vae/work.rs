//! What decoding takes: memory and operations, from shapes alone.

use super::{AutoencoderKl, Tiling};
use crate::{
    memory::{BlockWork, Work},
    nn::{Cost, Costs, Tape},
};

/// Sides of tiles that are offered, in latents.
const TILES: [usize; 6] = [128, 96, 64, 48, 32, 16];

/// A picture on its way through the decoder.
#[derive(Debug, Clone, Copy)]
struct Plane {
    batch: usize,
    channels: usize,
    size: [usize; 2],
}

impl Plane {
    fn values(self) -> usize {
        self.batch * self.channels * self.size[0] * self.size[1]
    }

    fn with_channels(self, channels: usize) -> Self {
        Self { channels, ..self }
    }

    fn doubled(self) -> Self {
        Self { size: self.size.map(|side| 2 * side), ..self }
    }

    fn conv(self, costs: Costs, outputs: usize, side: usize) -> Cost {
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
        let [height, width] = latents;
        let size = tile.map_or(latents, |tile| [height.min(tile), width.min(tile)]);
        let tiling = tile.map(Tiling::with_tile);
        let steps = |length: usize| tiling.map_or(1, |tiling| length.div_ceil(tiling.step()));
        let tiles = steps(height) * steps(width);
        let tapes = self.tapes(Plane { batch: 1, channels: config.latent_channels, size }, costs);
        let unused = BlockWork { passes: 0, operations: 0.0, activations: 0, reads: 0 };
        let mut blocks = vec![unused; config.first_decoder_block()];
        blocks.extend(tapes.into_iter().map(|tape| BlockWork {
            passes: (batch * tiles) as u32,
            operations: tape.operations,
            activations: tape.peak,
            reads: 1,
        }));
        let value = costs.value_bytes;
        let pixels = config.out_channels * height * width * self.scale() * self.scale();
        let latent_bytes = batch * config.latent_channels * height * width * (2 * size_of::<f32>() + value);
        // Rows of tiles that are done, the row above and the row that is being done, uncropped.
        let done = tile.map_or(0, |tile| {
            let column = config.out_channels * self.scale() * self.scale() * tile;
            pixels * value + (2 * steps(width) + 1) * column * tile * value
        });
        let finished = (batch - 1) * pixels * size_of::<f32>();
        // Widening, scaling and clamping a picture.
        let finishing = pixels * (value + 2 * size_of::<f32>());
        if let Some(last) = blocks.last_mut() {
            last.activations = last.activations.max((finishing as u64).saturating_sub(done as u64));
        }
        Work { tile: tile.map(|tile| tile as u32), carried: (latent_bytes + done + finished) as u64, blocks }
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
        let bytes = |plane: Plane| (plane.values() * costs.value_bytes) as u64;
        let mut middle = Tape::default();
        middle.hold(bytes(x));
        resnet(&mut middle, costs, x, wide);
        if config.mid_block_add_attention {
            attention(&mut middle, costs, x);
        }
        middle.free(bytes(x));
        resnet(&mut middle, costs, x, wide);
        let mut tapes = vec![stem, middle];
        for level in 0..widths.len() {
            let width = widths[widths.len() - 1 - level];
            let mut tape = Tape::default();
            tape.hold(bytes(x));
            for layer in 0..=config.layers_per_block {
                let before = if layer == 0 { 0 } else { bytes(x) };
                resnet(&mut tape, costs, x, width);
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
fn resnet(tape: &mut Tape, costs: Costs, x: Plane, outputs: usize) {
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
