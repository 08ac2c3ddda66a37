//! What all autoencoders have in common.

use std::fmt;

use super::Tiling;
use crate::{
    nn::{Result, Tensor},
    residency::{Blocks, RunError},
};

/// Pixels to latents and back.
///
/// It holds the shape of the network and no weights: they come from the store, block by block.
pub trait Autoencoder: fmt::Debug + Send + Sync {
    /// Channels of its latents.
    fn latent_channels(&self) -> usize;

    /// Channels of its images.
    fn image_channels(&self) -> usize;

    /// Pixels for each latent, in each direction.
    fn scale(&self) -> usize;

    /// From the scale of diffusion to that of [`decode`](Self::decode).
    fn unscale(&self, latents: &Tensor) -> Result<Tensor>;

    /// From the scale of [`encode`](Self::encode) to that of diffusion.
    fn rescale(&self, latents: &Tensor) -> Result<Tensor>;

    /// Latents `[batch, channels, height, width]` to images `[batch, 3, scale · height, scale · width]` in −1…1. With a
    /// tiling, in overlapping tiles whose borders are blended: that takes less memory, and pixels near the borders
    /// differ slightly.
    fn decode(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<Tensor, RunError>;

    /// Images `[batch, 3, height, width]` in −1…1 to mean and log variance of their latents,
    /// `[batch, channels, height / scale, width / scale]` each. With a tiling, in overlapping tiles as
    /// [`decode`](Self::decode).
    fn encode(
        &self,
        blocks: Blocks<'_>,
        images: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<(Tensor, Tensor), RunError>;
}
