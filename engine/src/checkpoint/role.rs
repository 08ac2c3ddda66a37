//! The roles of components in a model.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The role of a component in a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Turns a prompt into embeddings.
    TextEncoder,
    /// Predicts the noise, or the direction, of noisy latents.
    Denoiser,
    /// Decodes latents to pixels, and encodes pixels to latents.
    Autoencoder,
    /// Enlarges images.
    Upscaler,
    /// Makes the frames between those of a clip.
    Interpolator,
    /// Makes maps of images for ControlNets.
    Preprocessor,
    /// Makes masks of what points and boxes show.
    Segmenter,
    /// Finds faces, hands or persons in images.
    Detector,
    /// Writes text.
    LanguageModel,
}

impl Role {
    /// Whether its matrices are always held as they are stored: it is small, errors in it are seen at once, or files of
    /// every precision are at hand.
    pub fn stays_as_stored(self) -> bool {
        !matches!(self, Self::TextEncoder | Self::Denoiser)
    }

    /// Whether its speed is learned from its own stages, not from the denoiser's: runs of other models have it, too.
    pub fn has_own_speed(self) -> bool {
        match self {
            Self::Upscaler | Self::Interpolator | Self::Preprocessor | Self::Segmenter | Self::Detector => {
                true
            }
            Self::TextEncoder | Self::Denoiser | Self::Autoencoder | Self::LanguageModel => false,
        }
    }

    /// The identifier in machine-readable output.
    pub fn id(self) -> &'static str {
        match self {
            Self::TextEncoder => "text_encoder",
            Self::Denoiser => "denoiser",
            Self::Autoencoder => "autoencoder",
            Self::Upscaler => "upscaler",
            Self::Interpolator => "interpolator",
            Self::Preprocessor => "preprocessor",
            Self::Segmenter => "segmenter",
            Self::Detector => "detector",
            Self::LanguageModel => "language_model",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TextEncoder => "text encoder",
            Self::Denoiser => "denoiser",
            Self::Autoencoder => "autoencoder",
            Self::Upscaler => "upscaler",
            Self::Interpolator => "frame interpolator",
            Self::Preprocessor => "preprocessor",
            Self::Segmenter => "segmenter",
            Self::Detector => "detector",
            Self::LanguageModel => "language model",
        })
    }
}
