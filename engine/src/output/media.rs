//! What a run generates.

use serde::{Deserialize, Serialize};

use super::{Image, OutputError, Sound};

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
    /// The sound of the clip that it was made from.
    pub sound: Option<Sound>,
}

impl Clip {
    /// A clip without sound.
    pub fn silent(frames: Vec<Image>, rate: f32) -> Self {
        Self { frames, rate, sound: None }
    }
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

    /// Whether it is a clip.
    pub fn is_clip(&self) -> bool {
        matches!(self, Self::Clip(_))
    }

    /// Whether it has frames, all of them of one size and with as many bytes as that takes.
    pub fn is_whole(&self) -> bool {
        const LONGEST: u32 = 1 << 20;
        let fits = |frame: &Image| {
            let pixels = u64::from(frame.width) * u64::from(frame.height);
            frame.width.max(frame.height) <= LONGEST
                && (frame.opacity.is_empty() || frame.opacity.len() as u64 == pixels)
        };
        self.frames().iter().all(fits) && self.checked().is_ok()
    }

    /// The first frame, if there is one and all have its size and as many bytes as that takes.
    pub(super) fn checked(&self) -> Result<&Image, OutputError> {
        let Some(first) = self.first() else {
            return Err(OutputError::Pixels { width: 0, height: 0, bytes: 0 });
        };
        let (width, height) = (first.width, first.height);
        let expected = u64::from(width) * u64::from(height) * 3;
        let fits = |frame: &Image| {
            (frame.width, frame.height) == (width, height)
                && expected > 0
                && expected == frame.pixels.len() as u64
        };
        match self.frames().iter().find(|frame| !fits(frame)) {
            Some(frame) => Err(OutputError::Pixels { width, height, bytes: frame.pixels.len() }),
            None => Ok(first),
        }
    }
}
