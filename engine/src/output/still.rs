//! Writes single images for other programs: as PNG, JPEG or WebP, with their settings or without.

use std::path::Path;

use image::{ExtendedColorType, ImageEncoder as _, codecs::jpeg::JpegEncoder};
use serde::{Deserialize, Serialize};

use super::{
    Image, Media, OutputError, Settings,
    clip_file::{caught, texts},
    exif,
    file::{Existing, write_whole},
    png_file,
    unencodable::Unencodable,
    webp,
};

/// Most bytes of Exif data in a JPEG file, whose segments have 16-bit lengths.
const LARGEST_SEGMENT: usize = 65_000;

/// A kind of file for single images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StillFormat {
    /// Exact, and the largest.
    #[default]
    Png,
    /// Lossy, for everything.
    Jpeg,
    /// Lossy, smaller than JPEG.
    WebP,
}

impl StillFormat {
    /// All of them, the exact one first.
    pub const ALL: [Self; 3] = [Self::Png, Self::Jpeg, Self::WebP];

    /// Its name.
    pub fn title(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::WebP => "WebP",
        }
    }

    /// The extension of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::WebP => "webp",
        }
    }

    /// Whether `quality` changes the file.
    pub fn is_lossy(self) -> bool {
        self != Self::Png
    }
}

/// Writes an image under a name that must be free. `quality` is that of lossy formats, 1…100.
///
/// # Errors
///
/// [`OutputError::Exists`] if the name is taken; [`OutputError::SettingsTooLong`] if a JPEG file has no room for the
/// settings.
pub fn export_image(
    path: &Path,
    image: &Image,
    format: StillFormat,
    quality: u8,
    settings: Option<&Settings>,
) -> Result<(), OutputError> {
    let media = Media::Image(image.clone());
    let image = media.checked()?;
    let bytes = match format {
        StillFormat::Png => return png_file::export(path, image, settings),
        StillFormat::Jpeg => as_jpeg(path, image, quality, settings),
        StillFormat::WebP => as_webp(path, image, quality, settings),
    }?;
    write_whole(path, &bytes, Existing::Keep)
}

/// An image as a JPEG of a quality from 1 to 100.
pub(super) fn as_jpeg(
    path: &Path,
    image: &Image,
    quality: u8,
    settings: Option<&Settings>,
) -> Result<Vec<u8>, OutputError> {
    let quality = quality.clamp(1, 100);
    let Image { width, height, pixels, .. } = image;
    if (*width).max(*height) > u16::MAX.into() {
        return Err(Unencodable::TooLarge.at(path, image));
    }
    let exif = match settings {
        Some(settings) => {
            let [json, parameters] = texts(path, settings)?;
            Some(exif::write(&format!("Sluice:{json}"), &parameters))
        }
        None => None,
    };
    if exif.as_ref().is_some_and(|exif| exif.len() > LARGEST_SEGMENT) {
        return Err(OutputError::SettingsTooLong { path: path.to_owned() });
    }
    caught(path, || {
        let mut bytes = Vec::new();
        let mut encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
        let failed = |detail: String| OutputError::Encoder { path: path.to_owned(), detail };
        if let Some(exif) = exif {
            encoder.set_exif_metadata(exif).map_err(|error| failed(error.to_string()))?;
        }
        encoder
            .write_image(pixels, *width, *height, ExtendedColorType::Rgb8)
            .map_err(|error| failed(error.to_string()))?;
        Ok(bytes)
    })
}

/// The same as a WebP.
pub(super) fn as_webp(
    path: &Path,
    image: &Image,
    quality: u8,
    settings: Option<&Settings>,
) -> Result<Vec<u8>, OutputError> {
    let exif = match settings {
        Some(settings) => {
            let [json, parameters] = texts(path, settings)?;
            Some(exif::write(&format!("Sluice:{json}"), &parameters))
        }
        None => None,
    };
    let frame = std::slice::from_ref(image);
    let quality = quality.clamp(1, 100);
    caught(path, || {
        webp::encode_with(frame, 1.0, quality.into(), exif.as_deref()).map_err(|error| error.at(path, image))
    })
}
