//! What a run generates.

use serde::{Deserialize, Serialize};

use super::Image;

/// What a run generates for one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Media {
    /// An image.
    Image(Image),
    /// A video clip.
    Clip(Clip),
}

/// Frames of one size, in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Clip {
    /// At least one.
    pub frames: Vec<Image>,
    /// Frames per second.
    pub rate: f32,
}

impl Media {
    /// Its frames: an image is one.
    pub fn frames(&self) -> &[Image] {
        match self {
            Self::Image(image) => std::slice::from_ref(image),
            Self::Clip(clip) => &clip.frames,
        }
    }

    /// The same, to be changed.
    pub fn frames_mut(&mut self) -> &mut [Image] {
        match self {
            Self::Image(image) => std::slice::from_mut(image),
            Self::Clip(clip) => &mut clip.frames,
        }
    }

    /// The image, or the first frame of a clip.
    pub fn first(&self) -> Option<&Image> {
        self.frames().first()
    }
}
