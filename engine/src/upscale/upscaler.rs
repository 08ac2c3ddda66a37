//! The interface of all upscalers.

use std::fmt;

use crate::{
    nn::Tensor,
    residency::{Blocks, RunError},
};

/// The [reach](Upscaler::reach) of a network with a part that sees all places, such as a mean of a channel: no pixel is too far
/// away.
pub(super) const EVERYTHING: usize = usize::MAX;

/// Enlarges images by a whole factor.
///
/// It holds the shape of the network but no weights; they come from the store, block by block.
pub trait Upscaler: fmt::Debug + Send + Sync {
    /// The name of the architecture.
    fn architecture(&self) -> &'static str;

    /// Pixels of the result per pixel of the image, in each direction.
    fn factor(&self) -> usize;

    /// Height and width of what it is given must be multiples of this.
    fn multiple(&self) -> usize {
        1
    }

    /// How many pixels away an image can change a pixel of the result.
    fn reach(&self) -> usize;

    /// Enlarges an image `[1, 3, height, width]` in 0…1 to `[1, 3, factor · height, factor · width]`, about in 0…1.
    ///
    /// # Errors
    /// When weights cannot be read, memory runs out, or the run is cancelled.
    fn upscale(&self, blocks: Blocks<'_>, image: &Tensor) -> Result<Tensor, RunError>;
}
