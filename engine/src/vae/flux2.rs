//! FLUX.2's autoencoder (Black Forest Labs 2025): that of FLUX.1 with more channels. Diffusion sees patches of its latents,
//! scaled by the statistics of a batch norm.

use serde::Deserialize;

use super::{Autoencoder, AutoencoderKl, LatentScaling, Tiling, frames::per_channel};
use crate::{
    checkpoint::{CheckpointError, Component, Part, TensorTable},
    nn::{Result, Tensor},
    residency::{Blocks, RunError},
};

/// Side of the patches.
const PATCH: usize = 2;
/// Sides of tiles that a plan may choose, in patches: of 1024 to 128 pixels.
const SIDES: [usize; 6] = [64, 48, 32, 24, 16, 8];
const MEAN: &str = "bn.running_mean";
const VARIANCE: &str = "bn.running_var";

/// The shape of an autoencoder, and the statistics of its latents; its weights come from a store.
#[derive(Debug, Clone)]
pub struct Flux2Autoencoder {
    inner: AutoencoderKl,
    /// Mean and standard deviation of each value of a patch.
    statistics: [Vec<f32>; 2],
}

/// What the configuration has besides that of the inner autoencoder.
#[derive(Deserialize)]
#[serde(default)]
struct BatchNorm {
    /// Added to the variances.
    batch_norm_eps: f32,
}

impl Default for BatchNorm {
    fn default() -> Self {
        Self { batch_norm_eps: 1e-4 }
    }
}

impl Flux2Autoencoder {
    /// Finds every tensor of an autoencoder, under diffusers' or the original names.
    ///
    /// # Errors
    /// When the configuration is wrong, a tensor is missing, or a tensor has the wrong shape.
    pub fn open(part: &Part) -> std::result::Result<(Self, Component), CheckpointError> {
        Self::open_with(part, None)
    }

    /// The same with this number added to the variances of the batch norm, whatever the configuration says.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(
        part: &Part,
        batch_norm_eps: Option<f32>,
    ) -> std::result::Result<(Self, Component), CheckpointError> {
        let (inner, component) = AutoencoderKl::open(part, LatentScaling { factor: 1.0, shift: None })?;
        let configured = part.config(|_| Some(BatchNorm::default()))?;
        let batch_norm_eps = batch_norm_eps.unwrap_or(configured.batch_norm_eps);
        let channels = inner.latent_channels() * PATCH * PATCH;
        let statistic = |name: &str| match part.tensors.get(name) {
            Some(stored) if stored.is_hollow() => Ok(vec![1.0; channels]),
            Some(stored) if stored.shape() == [channels] => stored.values(),
            Some(stored) => Err(CheckpointError::Shape {
                path: part.path.clone(),
                name: name.to_owned(),
                found: stored.shape().to_vec(),
                expected: vec![channels],
            }),
            None => Err(CheckpointError::MissingTensor {
                path: part.path.clone(),
                name: name.to_owned(),
                missing: 1,
            }),
        };
        let deviation = |variance: f32| (variance + batch_norm_eps).sqrt();
        let deviations = statistic(VARIANCE)?.into_iter().map(deviation).collect();
        Ok((Self { inner, statistics: [statistic(MEAN)?, deviations] }, component))
    }

    /// Number of values in a patch of latents of the autoencoder in `tensors`, if there is one.
    pub fn channels_of(tensors: &TensorTable) -> Option<usize> {
        tensors.get(MEAN)?;
        AutoencoderKl::channels_of(tensors).map(|channels| channels * PATCH * PATCH)
    }
}

/// Tiles in latents of the inner autoencoder.
fn inner(tiling: Tiling) -> Tiling {
    Tiling { tile: PATCH * tiling.tile, overlap: PATCH * tiling.overlap }
}

/// `[batch, channels, height, width]` to `[batch, channels · 4, height / 2, width / 2]`.
fn split(latents: &Tensor) -> Result<Tensor> {
    let (batch, channels, height, width) = latents.dims4()?;
    let (rows, columns) = (height / PATCH, width / PATCH);
    let patches = latents.reshape((batch, channels, rows, PATCH, columns, PATCH))?;
    patches.permute([0, 1, 3, 5, 2, 4])?.reshape((batch, channels * PATCH * PATCH, rows, columns))
}

/// The opposite of [`split`].
fn joined(patches: &Tensor) -> Result<Tensor> {
    let (batch, values, rows, columns) = patches.dims4()?;
    let channels = values / (PATCH * PATCH);
    let latents = patches.reshape((batch, channels, PATCH, PATCH, rows, columns))?;
    latents.permute([0, 1, 4, 2, 5, 3])?.reshape((batch, channels, rows * PATCH, columns * PATCH))
}

impl Autoencoder for Flux2Autoencoder {
    fn latent_channels(&self) -> usize {
        self.inner.latent_channels() * PATCH * PATCH
    }

    fn image_channels(&self) -> usize {
        self.inner.image_channels()
    }

    fn scale(&self) -> usize {
        self.inner.scale() * PATCH
    }

    fn tile_sides(&self) -> &'static [usize] {
        &SIDES
    }

    fn is_sampled(&self) -> bool {
        false
    }

    fn unscale(&self, latents: &Tensor) -> Result<Tensor> {
        let [mean, deviation] = &self.statistics;
        let scaled = latents.broadcast_mul(&per_channel(deviation.iter().copied(), latents)?)?;
        scaled.broadcast_add(&per_channel(mean.iter().copied(), latents)?)
    }

    fn rescale(&self, latents: &Tensor) -> Result<Tensor> {
        let [mean, deviation] = &self.statistics;
        let centred = latents.broadcast_add(&per_channel(mean.iter().map(|value| -value), latents)?)?;
        centred.broadcast_mul(&per_channel(deviation.iter().map(|value| 1.0 / value), latents)?)
    }

    fn decode(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<Tensor, RunError> {
        self.inner.decode(blocks, &joined(latents)?, tiling.map(inner))
    }

    fn encode(
        &self,
        blocks: Blocks<'_>,
        images: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<(Tensor, Tensor), RunError> {
        let (mean, log_variance) = self.inner.encode(blocks, images, tiling.map(inner))?;
        Ok((split(&mean)?, split(&log_variance)?))
    }
}
