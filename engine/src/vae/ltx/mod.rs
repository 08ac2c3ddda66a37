//! The autoencoder of LTX-Video (HaCohen et al. 2024, arXiv:2501.00103, section 2.2).
//!
//! The decoder's convolutions see the frame after as well as the frame before, so a tile is decoded with all its frames, or
//! in overlapping tiles of some frames. Only the frames of one level are in memory, and those of the level that is being
//! computed from them. The encoder sees no later frames and takes one latent frame after the other.

mod config;
mod layers;
mod original;
mod pass;

use std::ops::Range;

use super::{
    Area, Autoencoder, Piece, Reel, Show, Tiling,
    frames::{Frames, as_clip, per_channel, stacked},
};
use crate::{
    checkpoint::{CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Result, Tensor, add, bail},
    residency::{Blocks, RunError},
};
pub use config::LtxAutoencoderConfig;
use original::Names;
use pass::Pass;

/// Sides of tiles that a plan may choose, in latents: of 1024 to 256 pixels.
const SIDES: [usize; 5] = [32, 24, 16, 12, 8];
/// Latent frames after which every convolution of the encoder has seen as many frames as its kernel spans.
const WARM: usize = 2;

/// The shape of an autoencoder; its weights come from a store.
#[derive(Debug, Clone)]
pub struct LtxAutoencoder {
    config: LtxAutoencoderConfig,
    /// Mean and standard deviation of each channel of the latents.
    statistics: [Vec<f32>; 2],
}

impl LtxAutoencoder {
    /// Finds every tensor of an autoencoder.
    ///
    /// # Errors
    /// When the configuration is wrong or not supported, a tensor is missing, or a tensor has the wrong shape.
    pub fn open(part: &Part) -> std::result::Result<(Self, Component), CheckpointError> {
        let config = part.config(LtxAutoencoderConfig::from_shapes)?;
        config.check(part)?;
        let is_original = original::is_original(&part.tensors);
        let renamed = is_original.then(|| original::renamed(&part.tensors, &config));
        let (tensors, names) = (renamed.as_ref().unwrap_or(&part.tensors), Names::new(&config));
        let component = Component::bind(
            Role::Autoencoder,
            "AutoencoderKLLTXVideo",
            &config.blueprint(),
            tensors,
            |name| StoredName::whole(if is_original { names.original(name) } else { name.to_owned() }),
            &part.path,
        )?;
        let channels = config.latent_channels;
        let statistic = |name: &str, otherwise: f32| {
            let stored =
                tensors.get(name).filter(|stored| stored.shape() == [channels] && !stored.is_hollow());
            let Some(stored) = stored else { return Ok(vec![otherwise; channels]) };
            stored.values()
        };
        let statistics = [statistic("latents_mean", 0.0)?, statistic("latents_std", 1.0)?];
        Ok((Self { config, statistics }, component))
    }

    /// Whether it is one of the versions from 0.9.5 on, by its encoder.
    pub fn is_from_095(&self) -> bool {
        self.config.is_folded()
    }

    /// Number of latent channels of the autoencoder in `tensors`, if there is one.
    pub fn channels_of(tensors: &TensorTable) -> Option<usize> {
        match tensors.get("decoder.conv_in.conv.weight")?.shape() {
            [_, channels, _, _, _] => Some(*channels),
            _ => None,
        }
    }

    /// Decodes a clip `[1, channels, frames, height, width]` to frames.
    fn decode_tile(&self, blocks: Blocks<'_>, latents: &Tensor) -> std::result::Result<Frames, RunError> {
        Pass::new(&self.config, blocks, self.config.decoder_causal).decode(latents)
    }

    /// Decodes a clip, in tiles of some latent frames if it is longer than those, and hands over the frames. Of two
    /// neighbouring tiles, the earlier one is blended into the later one.
    fn decode_in_time(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        span: Option<Span>,
        mut show: impl FnMut(usize, Frames) -> std::result::Result<(), RunError>,
    ) -> std::result::Result<(), RunError> {
        let (count, step) = (latents.dim(2)?, self.frames_per_latent());
        let Some(span) = span.filter(|span| span.cuts(count)) else {
            return show(0, self.decode_tile(blocks, latents)?);
        };
        let mut before: Frames = Vec::new();
        let mut decode = |number: usize| -> std::result::Result<(), RunError> {
            let start = number * span.step;
            // One latent frame more: the first one of a tile becomes a single frame, which the tile before has, too.
            let part = latents.narrow(2, start, (span.length + 1).min(count - start))?.contiguous()?;
            let mut frames = self.decode_tile(blocks, &part)?;
            frames.drain(..usize::from(number > 0));
            let extent = before.len().min(frames.len());
            for (index, (frame, before)) in frames.iter_mut().zip(before.drain(..)).enumerate() {
                let share = index as f64 / extent as f64;
                *frame = add(&before.affine(1.0 - share, 0.0)?, &frame.affine(share, 0.0)?)?;
            }
            let shown = span.step * step + usize::from(number == 0);
            before = frames.split_off(shown.min(frames.len()));
            show(start * step + usize::from(number > 0), frames)
        };
        decode(0)?;
        blocks.repeat(span.tiles(count) - 1, |number| decode(1 + number))
    }

    /// Encodes an area of a clip to mean and log variance of its latents. A causal encoder takes one latent frame after
    /// the other, so that memory does not grow with their number.
    fn encode_area(
        &self,
        blocks: Blocks<'_>,
        reel: &Reel<'_>,
        area: Area,
    ) -> std::result::Result<Tensor, RunError> {
        let (is_causal, step) = (self.config.encoder_causal, self.frames_per_latent());
        let pass = Pass::new(&self.config, blocks, is_causal);
        let frames = |range: Range<usize>| -> Result<Frames> {
            range.map(|index| reel.part(index, area, blocks.dtype())).collect()
        };
        if !is_causal {
            return Ok(Tensor::stack(&pass.encode(frames(0..reel.count)?)?, 2)?);
        }
        let count = 1 + (reel.count - 1) / step;
        let mut moments: Frames = Vec::new();
        let mut encode = |index: usize| -> std::result::Result<(), RunError> {
            let end = 1 + index * step;
            moments.extend(pass.encode(frames(if index == 0 { 0 } else { end - step }..end)?)?);
            Ok(())
        };
        (0..count.min(WARM)).try_for_each(&mut encode)?;
        blocks.repeat(count.saturating_sub(WARM), |index| encode(WARM + index))?;
        Ok(stacked(moments, count)?)
    }
}

impl Autoencoder for LtxAutoencoder {
    fn latent_channels(&self) -> usize {
        self.config.latent_channels
    }

    fn image_channels(&self) -> usize {
        self.config.in_channels
    }

    fn scale(&self) -> usize {
        self.config.scale()
    }

    fn frames_per_latent(&self) -> usize {
        self.config.frames_per_latent()
    }

    fn tile_sides(&self) -> &'static [usize] {
        &SIDES
    }

    fn is_cut(&self, tiling: Tiling, [frames, height, width]: [usize; 3]) -> bool {
        tiling.tile < height.max(width) || Span::of(tiling).cuts(frames)
    }

    fn unscale(&self, latents: &Tensor) -> Result<Tensor> {
        let [mean, deviation] = &self.statistics;
        let factor = self.config.scaling_factor as f32;
        let scaled =
            latents.broadcast_mul(&per_channel(deviation.iter().map(|value| value / factor), latents)?)?;
        scaled.broadcast_add(&per_channel(mean.iter().copied(), latents)?)
    }

    fn rescale(&self, latents: &Tensor) -> Result<Tensor> {
        let [mean, deviation] = &self.statistics;
        let factor = self.config.scaling_factor as f32;
        let centred = latents.broadcast_add(&per_channel(mean.iter().map(|value| -value), latents)?)?;
        centred.broadcast_mul(&per_channel(deviation.iter().map(|value| factor / value), latents)?)
    }

    fn decode(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<Tensor, RunError> {
        let is_image = latents.rank() == 4;
        let clip = as_clip(&latents.to_dtype(blocks.dtype())?)?;
        let whole = |tile: &Tensor| -> std::result::Result<Tensor, RunError> {
            Ok(Tensor::stack(&self.decode_tile(blocks, tile)?, 2)?)
        };
        let decoded = match tiling {
            Some(tiling) => {
                tiling.decode(&clip, self.scale(), |tile| blocks.by_shape(tile, |tile| whole(tile)))?
            }
            None => whole(&clip)?,
        };
        Ok(if is_image { decoded.squeeze(2)? } else { decoded })
    }

    fn decode_clip(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
        show: Show<'_>,
    ) -> std::result::Result<(), RunError> {
        let latents = as_clip(&latents.to_dtype(blocks.dtype())?)?;
        let &[_, _, _, height, width] = latents.dims() else {
            let refuse = || -> Result<()> { bail!("a clip has the shape {:?}", latents.dims()) };
            return Ok(refuse()?);
        };
        for place in Tiling::places(tiling, [height, width]) {
            let tile = place.of(&latents)?;
            // The tile stands for its frames, which are handed over.
            blocks.by_shape(&tile, |tile| {
                let span = tiling.map(Span::of);
                self.decode_in_time(blocks, tile, span, |first, frames| {
                    show(Piece { place, first, frames })
                })?;
                Ok(tile.clone())
            })?;
        }
        Ok(())
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        images: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<(Tensor, Tensor), RunError> {
        let clip = as_clip(images)?;
        let &[_, _, count, height, width] = clip.dims() else {
            let refuse = || -> Result<_> { bail!("a clip has the shape {:?}", clip.dims()) };
            return Ok(refuse()?);
        };
        let frame = |index: usize| clip.narrow(2, index, 1)?.squeeze(2)?.contiguous();
        let (mean, spread) =
            self.encode_clip(blocks, &Reel { count, height, width, frame: &frame }, tiling)?;
        Ok(if images.rank() == 4 { (mean.squeeze(2)?, spread.squeeze(2)?) } else { (mean, spread) })
    }

    fn encode_clip(
        &self,
        blocks: Blocks<'_>,
        reel: &Reel<'_>,
        tiling: Option<Tiling>,
    ) -> std::result::Result<(Tensor, Tensor), RunError> {
        let moments = match tiling {
            Some(tiling) => tiling.encode_areas([reel.height, reel.width], self.scale(), |area| {
                // The first frame stands for all of them.
                let first = reel.part(0, area, blocks.dtype())?;
                blocks.by_shape(&first, |_| self.encode_area(blocks, reel, area))
            })?,
            None => self.encode_area(blocks, reel, reel.whole())?,
        };
        let channels = self.config.latent_channels;
        // All channels share one variance.
        let log_variance = moments.narrow(1, channels, 1)?.clamp(-30.0, 20.0)?;
        let log_variance = Tensor::cat(&vec![log_variance; channels], 1)?;
        Ok((moments.narrow(1, 0, channels)?, log_variance))
    }
}

/// Tiles of some latent frames.
#[derive(Debug, Clone, Copy)]
struct Span {
    /// Latent frames of a tile, besides the first one, which becomes a single frame.
    length: usize,
    /// Latent frames from one tile to the next.
    step: usize,
}

impl Span {
    /// Those that go with square tiles: the smaller the side, the fewer frames. With tiles of 256 pixels they are those of
    /// diffusers, 16 frames with a step of 8.
    fn of(tiling: Tiling) -> Self {
        let length = (tiling.tile / 4).max(2);
        Self { length, step: length - (length / 4).max(1) }
    }

    /// Whether a clip is longer than a tile.
    fn cuts(self, latents: usize) -> bool {
        latents > self.length + 1
    }

    /// The number of tiles. A single latent frame at the end belongs to the tile before.
    fn tiles(self, latents: usize) -> usize {
        (latents - 1).div_ceil(self.step)
    }
}
