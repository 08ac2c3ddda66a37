//! The input image of a run, for image to image and inpainting.

use std::path::PathBuf;

use sluice_engine::request::{Fit, SourceImage, SourceMask};

use super::names::named;

/// The input image and its mask.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct SourceArgs {
    /// The input image: a PNG, JPEG or WebP file.
    #[arg(long, alias = "image", value_name = "FILE")]
    init_image: Option<PathBuf>,
    /// Denoising strength, above 0 and up to 1: the higher, the more the image changes.
    #[arg(
        long, alias = "denoising-strength", value_name = "NUMBER", default_value_t = SourceImage::default().strength, requires = "init_image",
        allow_negative_numbers = true
    )]
    strength: f64,
    /// How to fit an input image with another aspect ratio to the size of the output.
    #[arg(long, value_name = "NAME", default_value = Fit::default().name(), value_parser = named(&Fit::ALL, Fit::name), requires = "init_image")]
    fit: Fit,
    /// The area to inpaint: an image that is white where the input image changes and black where it stays.
    #[arg(long, value_name = "FILE", requires = "init_image")]
    mask: Option<PathBuf>,
    /// Pixels over which the inpainted area fades into the rest.
    #[arg(long, value_name = "PIXELS", default_value_t = SourceMask::default().blur, requires = "mask")]
    mask_blur: u32,
    /// Do not paste the unmasked pixels of the input image back into the result. They then change slightly, because
    /// they go through the autoencoder.
    #[arg(long, alias = "redraw-all", requires = "mask")]
    no_paste_back: bool,
}

impl SourceArgs {
    /// The input image, if there is one.
    pub fn source(&self) -> Option<SourceImage> {
        let mask = self.mask.clone().map(|path| SourceMask {
            path,
            blur: self.mask_blur,
            keeps_the_rest: !self.no_paste_back,
        });
        let path = self.init_image.clone()?;
        Some(SourceImage { path, strength: self.strength, fit: self.fit, mask })
    }
}
