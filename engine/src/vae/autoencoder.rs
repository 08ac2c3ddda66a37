//! The interface of all autoencoders.

use std::fmt;

use super::{Reel, Show, Tiling};
use crate::{
    nn::{Result, Tensor, bail},
    residency::{Blocks, RunError},
};

/// Decodes latents to pixels, and encodes pixels to latents.
///
/// It holds the shape of the network but no weights; they come from the store, block by block.
pub trait Autoencoder: fmt::Debug + Send + Sync {
    /// Channels of the latents.
    fn latent_channels(&self) -> usize;

    /// Channels of the images that it is given.
    fn image_channels(&self) -> usize;

    /// Pixels per latent, in each direction.
    fn scale(&self) -> usize;

    /// Frames per latent frame of a clip, after the first.
    fn frames_per_latent(&self) -> usize {
        1
    }

    /// Sides of tiles that a plan may choose, in latents, from large to small.
    fn tile_sides(&self) -> &'static [usize] {
        &Tiling::SIDES
    }

    /// Whether decoding latents of this number of frames, height and width in tiles is anything else than decoding them
    /// whole. Tiles may also have fewer frames.
    fn is_cut(&self, tiling: Tiling, [_, height, width]: [usize; 3]) -> bool {
        tiling.tile < height.max(width)
    }

    /// Whether diffusion starts from a sample of the encoded distribution, or from its mean.
    fn is_sampled(&self) -> bool {
        true
    }

    /// Converts latents from the scale of diffusion to that of [`decode`](Self::decode).
    fn unscale(&self, latents: &Tensor) -> Result<Tensor>;

    /// Converts latents from the scale of [`encode`](Self::encode) to that of diffusion.
    fn rescale(&self, latents: &Tensor) -> Result<Tensor>;

    /// Decodes latents `[batch, channels, height, width]` to images
    /// `[batch, 3, scale · height, scale · width]` in −1…1, or with a fourth channel for their opacity. With a tiling, decodes overlapping tiles and
    /// blends their borders; this takes less memory, and changes pixels near the borders slightly. Autoencoders of clips
    /// also decode one clip, `[1, channels, frames, height, width]`, whole.
    fn decode(
        &self,
        blocks: Blocks<'_>,
        latents: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<Tensor, RunError>;

    /// Decodes the latents of one clip, `[1, channels, frames, height, width]`, and hands over its frames as they are
    /// finished, so that memory does not grow with their number. With a tiling, these are frames of overlapping
    /// tiles, which [`Seams`](super::Seams) blends.
    ///
    /// # Errors
    /// When the autoencoder is one of images.
    fn decode_clip(
        &self,
        _blocks: Blocks<'_>,
        latents: &Tensor,
        _tiling: Option<Tiling>,
        _show: Show<'_>,
    ) -> std::result::Result<(), RunError> {
        let refuse =
            || -> Result<()> { bail!("an autoencoder of images got a clip of shape {:?}", latents.dims()) };
        Ok(refuse()?)
    }

    /// Encodes images `[batch, 3, height, width]` in −1…1 to mean and log variance of their latents,
    /// `[batch, channels, height / scale, width / scale]` each. With a tiling, encodes overlapping tiles like
    /// [`decode`](Self::decode). Autoencoders of clips also encode one clip, `[1, 3, frames, height, width]`.
    fn encode(
        &self,
        blocks: Blocks<'_>,
        images: &Tensor,
        tiling: Option<Tiling>,
    ) -> std::result::Result<(Tensor, Tensor), RunError>;

    /// Encodes a clip to mean and log variance of its latents, `[1, channels, frames, height, width]` each.
    fn encode_clip(
        &self,
        blocks: Blocks<'_>,
        reel: &Reel<'_>,
        tiling: Option<Tiling>,
    ) -> std::result::Result<(Tensor, Tensor), RunError> {
        self.encode(blocks, &reel.clip()?, tiling)
    }
}
