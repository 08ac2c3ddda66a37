//! The input image of a request, for image to image and inpainting.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Outpaint, RequestError};

/// How an input image with another aspect ratio is fitted to the requested size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Scale to fill, and crop both sides equally.
    #[default]
    Crop,
    /// Stretch, without keeping the aspect ratio.
    Stretch,
    /// Scale to fit, and repeat the edge pixels in the rest.
    Pad,
}

impl Fit {
    /// All of them, in the order in which they are listed.
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

/// An input image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceImage {
    /// Its file: PNG, JPEG or WebP.
    pub path: PathBuf,
    /// Denoising strength, above 0 and at most 1: the higher it is, the less of the input image is left.
    pub strength: f64,
    /// How it is fitted to the requested size; the mask is fitted in the same way.
    pub fit: Fit,
    /// The area to inpaint; the whole image if absent.
    pub mask: Option<SourceMask>,
    /// What is added to the image and generated.
    pub outpaint: Outpaint,
}

impl Default for SourceImage {
    fn default() -> Self {
        Self {
            path: PathBuf::new(),
            strength: 0.6,
            fit: Fit::default(),
            mask: None,
            outpaint: Outpaint::default(),
        }
    }
}

/// The area to inpaint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceMask {
    /// Its file: an image whose white area is inpainted, and whose black area stays.
    pub path: PathBuf,
    /// Mask blur: pixels over which the inpainted area fades into the rest.
    pub blur: u32,
    /// Whether the unmasked pixels of the input image are pasted back bit by bit. Otherwise they have gone
    /// through the autoencoder.
    pub keeps_the_rest: bool,
    /// Only masked: inpaint the masked area and this many pixels around it alone, in the requested size, and put it back
    /// into the input image, whose size the result has. The whole image is inpainted if absent.
    pub only_masked: Option<u32>,
}

impl Default for SourceMask {
    fn default() -> Self {
        Self { path: PathBuf::new(), blur: 4, keeps_the_rest: true, only_masked: None }
    }
}

/// Largest mask blur in pixels.
pub const WIDEST_BLUR: u32 = 256;

impl SourceMask {
    /// Pixels around the masked area that "only masked" has in A1111.
    pub const USUAL_PADDING: u32 = 32;
    /// The most pixels around the masked area.
    pub const WIDEST_PADDING: u32 = 4096;
}

impl SourceImage {
    /// Whether only a part is generated: what a mask shows, or what is added around the image.
    pub fn is_inpainted(&self) -> bool {
        self.mask.is_some() || !self.outpaint.is_empty()
    }

    /// Checks what can be checked without the files and the model.
    pub(super) fn validate(&self) -> Result<(), RequestError> {
        if !(self.strength > 0.0 && self.strength <= 1.0) {
            return Err(RequestError::Strength(self.strength));
        }
        self.outpaint.validate()?;
        match &self.mask {
            Some(mask) if mask.blur > WIDEST_BLUR => Err(RequestError::MaskBlur(mask.blur)),
            Some(SourceMask { only_masked: Some(padding), .. }) if *padding > SourceMask::WIDEST_PADDING => {
                Err(RequestError::MaskPadding(*padding))
            }
            _ => Ok(()),
        }
    }
}
