//! The autoencoder of LTX-Video (HaCohen et al. 2024, arXiv:2501.00103, section 2.2).
//!
//! The decoder's convolutions see the frame after as well as the frame before, so a tile is decoded with all its frames.
//! Only the frames of one level are in memory, and those of the level that is being computed from them.

mod config;
mod layers;
mod original;
mod pass;

use super::{
    Autoencoder, Piece, Show, Tiling,
    frames::{Frames, as_clip, per_channel},
};
use crate::{
    checkpoint::{CheckpointError, Component, Part, Role, StoredName, TensorTable},
    nn::{Result, Tensor, bail},
    residency::{Blocks, RunError},
};
pub use config::LtxAutoencoderConfig;
use original::Names;
use pass::Pass;

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

    /// Encodes a clip `[1, channels, frames, height, width]` to mean and log variance of its latents.
    fn encode_tile(&self, blocks: Blocks<'_>, clip: &Tensor) -> std::result::Result<Tensor, RunError> {
        Pass::new(&self.config, blocks, self.config.encoder_causal).encode(clip)
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
                show(Piece { place, first: 0, frames: self.decode_tile(blocks, tile)? })?;
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
        let clip = as_clip(&images.to_dtype(blocks.dtype())?)?;
        let moments = match tiling {
            Some(tiling) => tiling.encode(&clip, self.scale(), |tile| {
                blocks.by_shape(tile, |tile| self.encode_tile(blocks, tile))
            })?,
            None => self.encode_tile(blocks, &clip)?,
        };
        let moments = if images.rank() == 4 { moments.squeeze(2)? } else { moments };
        let channels = self.config.latent_channels;
        // All channels share one variance.
        let log_variance = moments.narrow(1, channels, 1)?.clamp(-30.0, 20.0)?;
        let log_variance = Tensor::cat(&vec![log_variance; channels], 1)?;
        Ok((moments.narrow(1, 0, channels)?, log_variance))
    }
}
