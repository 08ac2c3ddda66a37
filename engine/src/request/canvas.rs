//! The size of what is generated.

/// The size of what is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canvas {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames: 1 for an image.
    pub frames: u32,
    /// Reference images. Some models of clips read them as latent frames before the clip.
    pub references: usize,
    /// Images at frames of a clip after the first. Some models read them as latent frames before the clip.
    pub later_images: usize,
}

impl Canvas {
    /// Rows and columns of latents that stand for `scale` by `scale` pixels each.
    pub fn latents(self, scale: usize) -> [usize; 2] {
        [self.height, self.width].map(|side| side as usize / scale)
    }
}
