//! The interface of all autoencoders.

use std::fmt;

use super::Tiling;
use crate::{
    nn::{Result, Tensor},
    residency::{Blocks, RunError},
};

/// Decodes latents to pixels, and encodes pixels to latents.
///
/// It holds the shape of the network but no weights; they come from the store, block by block.
pub trait Autoencoder: fmt::Debug + Send + Sync {
    /// Channels of the latents.
    fn latent_channels(&self) -> usize;

    /// Channels of the images.
    fn image_channels(&self) -> usize;

    /// Pixels per latent, in each direction.
    fn scale(&self) -> usize;

    /// Converts latents from the scale of diffusion to that of [`decode`](Self::decode).
    fn unscale(&self, latents: &Tensor) -> Result<Tensor>;

    /// Converts latents from the scale of [`encode`](Self::encode) to that of diffusion.
    fn rescale(&self, latents: &Tensor) -> Result<Tensor>;

    /// Decodes latents `[batch, channels, height, width]` to images
    /// `[batch, 3, scale · height, scale · width]` in −1…1. With a tiling, decodes overlapping tiles and
    /// blends their borders; this takes less memory, and changes pixels near the borders slightly.
    fn decode(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<Tensor, RunError>;

    /// Encodes images `[batch, 3, height, width]` in −1…1 to mean and log variance of their latents,
    /// `[batch, channels, height / scale, width / scale]` each. With a tiling, encodes overlapping tiles like
    /// [`decode`](Self::decode).
    fn encode(
        &self,
        blocks: Blocks<'_>,
        images: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<(Tensor, Tensor), RunError>;
}
