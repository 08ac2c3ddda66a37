//! The picture that a run starts from.

use std::path::PathBuf;

use sluice_engine::request::{Fit, SourceImage, SourceMask};

use super::names::named;

/// Flags about it.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SourceArgs {
    /// A picture to draw over: PNG, JPEG or WebP.
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// The part of the steps that is taken, above 0 and at most 1: the more, the less of the picture is left.
    #[arg(
        long, value_name = "NUMBER", default_value_t = SourceImage::default().strength, requires = "image",
        allow_negative_numbers = true
    )]
    strength: f64,
    /// How a picture of another shape is brought to the size.
    #[arg(long, value_name = "NAME", default_value = Fit::default().name(), value_parser = named(&Fit::ALL, Fit::name), requires = "image")]
    fit: Fit,
    /// A picture in which what is to be drawn anew is light and what stays is dark; it is brought to the size as the
    /// other is.
    #[arg(long, value_name = "FILE", requires = "image")]
    mask: Option<PathBuf>,
    /// Pixels over which what is new fades into what stayed.
    #[arg(long, value_name = "PIXELS", default_value_t = SourceMask::default().blur, requires = "mask")]
    mask_blur: u32,
    /// Does not put the pixels back that are not masked: they are what the autoencoder makes of them.
    #[arg(long, requires = "mask")]
    redraw_all: bool,
}

impl SourceArgs {
    /// The picture, if there is one.
    pub fn source(&self) -> Option<SourceImage> {
        let mask = self.mask.clone().map(|path| SourceMask {
            path,
            blur: self.mask_blur,
            keeps_the_rest: !self.redraw_all,
        });
        let path = self.image.clone()?;
        Some(SourceImage { path, strength: self.strength, fit: self.fit, mask })
    }
}
