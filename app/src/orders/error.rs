//! Why an order cannot be carried out.

use std::{io, path::PathBuf};

use sluice_engine::{request::Preprocessor, source::SourceError};

use crate::mapping::MAKERS;

/// Why an order cannot be carried out. [`OrderError::advice`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// Nothing of this kind has this name.
    #[error("there is no {kind} named {name:?}")]
    Unknown {
        /// Such as `model`.
        kind: &'static str,
        /// The name.
        name: String,
        /// The most similar name.
        near: Option<String>,
        /// Some of the names that there are.
        known: Vec<String>,
    },
    /// A picture or a clip is not base64.
    #[error("{what} is no file in base64: {detail}")]
    NotBase64 {
        /// Such as `the input image`.
        what: String,
        /// What is wrong.
        detail: String,
    },
    /// A picture cannot be read.
    #[error("{what} cannot be read as an image: {detail}")]
    NotAnImage {
        /// Such as `the input image`.
        what: String,
        /// What is wrong.
        detail: String,
    },
    /// A clip cannot be read.
    #[error("{what} cannot be read as a clip: {detail}")]
    NotAClip {
        /// Such as `the control clip`.
        what: String,
        /// What is wrong.
        detail: String,
    },
    /// A file of an order cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The mask says nothing.
    #[error("the mask has no transparent pixels, so there is nothing to inpaint")]
    OpaqueMask,
    /// A region with two areas.
    #[error("a region has a box or a mask, not both")]
    BoxAndMask,
    /// A mask without an image.
    #[error("there is a mask and no input image")]
    MaskAlone,
    /// Strength without an image.
    #[error("there is a denoising strength and no input image")]
    StrengthAlone,
    /// Something around an image, and no image.
    #[error("there is something to add around the input image, and no input image")]
    OutpaintAlone,
    /// The preprocessor is for ControlNets only.
    #[error("the preprocessor {0} makes no map")]
    MakesNoMap(&'static str),
    /// A model for a preprocessor without one.
    #[error("the preprocessor {0} needs no model")]
    NeedsNoModel(&'static str),
    /// A picture cannot be written to a temporary file.
    #[error("{} cannot be written: {cause}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
}

impl OrderError {
    /// What the person can do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::Unknown { kind, near, known, .. } => {
                let near = near.as_ref().map(|near| format!("Did you mean {near}? ")).unwrap_or_default();
                match known.is_empty() {
                    true => format!("{near}No {kind} was found in the model folders."),
                    false => format!("{near}There are: {}.", known.join(", ")),
                }
            }
            Self::NotBase64 { .. } => {
                "Send the bytes of a PNG, JPEG or WebP file in base64, with or without `data:image/png;base64,` \
                 before it; of a clip those of an MP4 file. Addresses and paths are not read."
                    .to_owned()
            }
            Self::NotAnImage { .. } => "Send a PNG, JPEG or WebP file.".to_owned(),
            Self::NotAClip { .. } => "Send an MP4 file with H.264 video.".to_owned(),
            Self::Source(error) => error.advice().to_owned(),
            Self::BoxAndMask => "Leave one of the two out.".to_owned(),
            Self::MakesNoMap(_) => {
                let names = MAKERS.map(Preprocessor::name);
                format!("There are: {}.", names.join(", "))
            }
            Self::NeedsNoModel(_) => "Leave the model out.".to_owned(),
            Self::OpaqueMask => "Make the area to inpaint transparent.".to_owned(),
            Self::MaskAlone | Self::StrengthAlone | Self::OutpaintAlone => "Send the image, too.".to_owned(),
            Self::Write { .. } => "Check the free space of the folder for temporary files.".to_owned(),
        }
    }
}
