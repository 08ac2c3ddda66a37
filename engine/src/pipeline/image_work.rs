//! What encoding, decoding, enlarging and interpolating images takes, and in which tiles it can be done.

use super::PipelineError;
use crate::{
    interpolation::{self, Ifnet},
    memory::{BlockWork, Work},
    models::{ClipFrames, LatentShape},
    nn::{self, DType, Tensor, Trace},
    residency::{Blocks, RunError, TracedBlocks},
    upscale::{Tiles, Upscaler},
    vae::{Autoencoder, Reel, Tiling},
};

/// Pixels of an image for each latent of a chosen side of tiles: as many as most autoencoders have.
const LATENT_PIXELS: usize = 8;

/// How an autoencoder's work can be cut: not at all, then into ever smaller tiles. With a chosen side there is one way: in
/// such tiles, or whole if one tile covers the image or clip.
pub(super) fn tilings(
    autoencoder: &dyn Autoencoder,
    shape: LatentShape,
    chosen: Option<u32>,
) -> Vec<Option<Tiling>> {
    let sides = [shape.frames, shape.height, shape.width];
    let cut = |side| Some(Tiling::with_tile(side)).filter(|tiling| autoencoder.is_cut(*tiling, sides));
    match chosen {
        Some(side) => vec![cut(side as usize)],
        None => {
            let tiles = autoencoder.tile_sides().iter().filter_map(|side| cut(*side)).map(Some);
            std::iter::once(None).chain(tiles).collect()
        }
    }
}

/// What decoding a batch takes, one image or clip after the other. The bytes of pixels are not counted.
pub fn decode_work(
    autoencoder: &dyn Autoencoder,
    blocks: &TracedBlocks,
    batch: usize,
    shape: LatentShape,
    tiling: Option<Tiling>,
    trace: &Trace,
) -> Result<Work, PipelineError> {
    let latents = trace.tensor(&shape.with_channels(autoencoder.latent_channels()).dims(batch), DType::F32);
    let scaled = autoencoder.unscale(&latents.to_dtype(blocks.blocks().dtype())?)?;
    let carried = trace.live();
    trace.take();
    let one = scaled.narrow(0, 0, 1)?;
    let on_processor = trace.computes().is_processor();
    if shape.frames > 1 {
        autoencoder.decode_clip(blocks.blocks(), &one, tiling, &mut |piece| {
            for frame in piece.frames.into_iter().filter(|_| on_processor) {
                // The values of pixels, one after the other.
                frame.to_dtype(DType::F32)?.neg()?;
            }
            Ok(())
        })?;
    } else {
        let image = autoencoder.decode(blocks.blocks(), &one, tiling)?;
        if on_processor {
            let finished = finish(image)?;
            // The same.
            finished.neg()?;
        }
    }
    let each = blocks.take().into_iter().map(|block| {
        let block = block.with_activations(|bytes| bytes.saturating_sub(carried));
        BlockWork { passes: block.passes * batch as u32, ..block }
    });
    let tile = tiling.map(|tiling| tiling.tile as u32);
    Ok(Work { tile, carried, blocks: each.collect() })
}

/// The sides of tiles in which an image of a height and width can be enlarged: whole, then ever smaller ones, or the
/// chosen one.
pub(super) fn upscale_sides(
    network: &dyn Upscaler,
    size: [usize; 2],
    chosen: Option<u32>,
) -> Vec<Option<usize>> {
    let cuts = |side: usize| Tiles::new(Some(side), network.reach(), network.multiple()).cut(size);
    match chosen {
        Some(side) => vec![Some(side as usize * LATENT_PIXELS).filter(|side| cuts(*side))],
        None => {
            let sides = Tiles::SIDES.iter().copied().filter(|side| cuts(*side)).map(Some);
            std::iter::once(None).chain(sides).collect()
        }
    }
}

/// What enlarging one image of a height and width takes, without the result.
pub(super) fn upscale_work(
    network: &dyn Upscaler,
    blocks: &TracedBlocks,
    size: [usize; 2],
    tiles: Tiles,
    trace: &Trace,
) -> Result<Vec<BlockWork>, PipelineError> {
    trace.take();
    let on_processor = trace.computes().is_processor();
    for tile in tiles.of(size) {
        let [height, width] = [0, 1].map(|axis| tile.seen[axis].len());
        let image = trace.tensor(&[1, 3, height, width], DType::F32);
        let enlarged = blocks.blocks().by_shape(&image, |image| enlarge(network, blocks.blocks(), image))?;
        if on_processor {
            // The values of pixels, one after the other.
            enlarged.neg()?;
        }
    }
    Ok(blocks.take())
}

/// An image `[1, 3, height, width]` in 0…1, enlarged, as f32.
pub fn enlarge(network: &dyn Upscaler, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError> {
    Ok(network.upscale(blocks, &image.to_dtype(blocks.dtype())?)?.to_dtype(DType::F32)?)
}

/// The sides of tiles in which frames of a height and width can be interpolated: whole, then ever smaller ones, or the chosen
/// one.
pub(super) fn interpolation_sides(
    network: &Ifnet,
    size: [usize; 2],
    chosen: Option<u32>,
) -> Vec<Option<usize>> {
    let cuts = |side: usize| network.tiles(Some(side)).cut(size);
    match chosen {
        Some(side) => vec![Some(side as usize * LATENT_PIXELS).filter(|side| cuts(*side))],
        None => {
            let sides = interpolation::SIDES.iter().copied().filter(|side| cuts(*side)).map(Some);
            std::iter::once(None).chain(sides).collect()
        }
    }
}

/// What making one frame of a height and width between two takes, without the result.
pub(super) fn interpolation_work(
    network: &Ifnet,
    blocks: &TracedBlocks,
    size: [usize; 2],
    tiles: Tiles,
    trace: &Trace,
) -> Result<Vec<BlockWork>, PipelineError> {
    trace.take();
    let on_processor = trace.computes().is_processor();
    for tile in tiles.of(size) {
        let [height, width] = [0, 1].map(|axis| tile.seen[axis].len());
        let pair = trace.tensor(&[2, 3, height, width], DType::F32);
        let made =
            blocks.blocks().by_shape(&pair, |pair| interpolated(network, blocks.blocks(), pair, 0.5))?;
        if on_processor {
            // The values of pixels, one after the other.
            made.neg()?;
        }
    }
    Ok(blocks.take())
}

/// The frame at a time between two `[2, 3, height, width]` in 0…1, as f32.
pub fn interpolated(
    network: &Ifnet,
    blocks: Blocks<'_>,
    pair: &Tensor,
    time: f32,
) -> Result<Tensor, RunError> {
    Ok(network.between(blocks, &pair.to_dtype(blocks.dtype())?, time)?.to_dtype(DType::F32)?)
}

/// A decoded image in −1…1 as f32 in 0…1.
pub fn finish(image: Tensor) -> nn::Result<Tensor> {
    image.to_dtype(DType::F32)?.affine(0.5, 0.5)
}

/// What encoding an image takes whose latents are `height` by `width`.
pub(super) fn encode_image_work(
    autoencoder: &dyn Autoencoder,
    blocks: &TracedBlocks,
    shape: LatentShape,
    tiling: Option<Tiling>,
    trace: &Trace,
) -> Result<Vec<BlockWork>, PipelineError> {
    let scale = autoencoder.scale();
    let pixels = LatentShape { height: scale * shape.height, width: scale * shape.width, ..shape };
    let image = trace.tensor(&pixels.with_channels(autoencoder.image_channels()).dims(1), DType::F32);
    // The noise of the sample and of the run, and the sample.
    let _latents = trace.tensor(&shape.with_channels(autoencoder.latent_channels()).dims(3), DType::F32);
    trace.take();
    autoencoder.encode(blocks.blocks(), &image, tiling)?;
    Ok(blocks.take())
}

/// What encoding the frames of a clip takes.
pub(super) fn encode_clip_work(
    autoencoder: &dyn Autoencoder,
    blocks: &TracedBlocks,
    (shape, clip): (LatentShape, ClipFrames),
    tiling: Option<Tiling>,
    trace: &Trace,
) -> Result<Vec<BlockWork>, PipelineError> {
    let (scale, count) = (autoencoder.scale(), clip.count);
    let [height, width] = [shape.height, shape.width].map(|side| scale * side);
    let dims = [1, autoencoder.image_channels(), height, width];
    let frame = |_| Ok(trace.tensor(&dims, DType::F32));
    // The noise of the run.
    let _latents = trace.tensor(&shape.with_channels(autoencoder.latent_channels()).dims(1), DType::F32);
    trace.take();
    autoencoder.encode_clip(blocks.blocks(), &Reel { count, height, width, frame: &frame }, tiling)?;
    Ok(blocks.take())
}
