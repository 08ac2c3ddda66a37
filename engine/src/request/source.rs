//! The image that a request starts from.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::RequestError;

/// How an image of another shape is brought to the size of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// It fills the size; what stands out is cut off on both sides alike.
    #[default]
    Crop,
    /// It fills the size and loses its proportions.
    Stretch,
    /// All of it is there; its outermost pixels are repeated beside it.
    Pad,
}

impl Fit {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Crop, Self::Stretch, Self::Pad];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crop => "crop",
            Self::Stretch => "stretch",
            Self::Pad => "pad",
        }
    }

    /// The name in the window.
    pub fn title(self) -> &'static str {
        match self {
            Self::Crop => "Crop",
            Self::Stretch => "Stretch",
            Self::Pad => "Pad",
        }
    }
}

/// The source of image to image and inpainting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceImage {
    /// Its file: PNG, JPEG or WebP.
    pub path: PathBuf,
    /// Denoising strength: the part of the steps that is taken, above 0 and at most 1. The higher, the less of the image
    /// is left.
    pub strength: f64,
    /// How it is brought to the size of the request; the mask is brought there in the same way.
    pub fit: Fit,
    /// Where it may change; everywhere if absent.
    pub mask: Option<SourceMask>,
}

impl Default for SourceImage {
    fn default() -> Self {
        Self { path: PathBuf::new(), strength: 0.6, fit: Fit::default(), mask: None }
    }
}

/// The mask for inpainting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceMask {
    /// An image: light parts are inpainted, dark parts stay.
    pub path: PathBuf,
    /// Pixels of the finished image over which what is new fades into what stayed.
    pub blur: u32,
    /// Whether the pixels that are not masked are put back in the end, so that they are the source's to the bit.
    /// Otherwise they are what the autoencoder makes of them.
    pub keeps_the_rest: bool,
}

impl Default for SourceMask {
    fn default() -> Self {
        Self { path: PathBuf::new(), blur: 4, keeps_the_rest: true }
    }
}

/// The most pixels over which a mask may fade.
pub const WIDEST_BLUR: u32 = 256;

impl SourceImage {
    /// Checks what needs neither the files nor a model.
    pub(super) fn validate(&self) -> Result<(), RequestError> {
        if !(self.strength > 0.0 && self.strength <= 1.0) {
            return Err(RequestError::Strength(self.strength));
        }
        match &self.mask {
            Some(mask) if mask.blur > WIDEST_BLUR => Err(RequestError::MaskBlur(mask.blur)),
            _ => Ok(()),
        }
    }
}
