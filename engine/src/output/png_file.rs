//! PNG files, animated for clips: written in one piece or not at all.

use std::{
    io::{self, BufWriter, Write as _},
    path::Path,
};

use png::{BitDepth, ColorType, Compression, Encoder, EncodingError, SrgbRenderingIntent};
use tempfile::NamedTempFile;

use super::{
    Image, Media, OutputError, Settings, a1111,
    chunks::{MADE_OF, PARAMETERS, SLUICE},
    file::{Existing, folder_of, persist, temporary_file, write_error},
    made_of::About,
};

/// In a second.
const MILLISECONDS: u16 = 1000;

/// Writes an image, or a clip as an animated PNG, with its settings: as JSON for Sluice and in A1111's format for other
/// programs. An existing file is replaced atomically. The same image and settings give the same bytes.
pub fn write_png(path: &Path, media: &Media, settings: &Settings) -> Result<(), OutputError> {
    write(path, media, settings.into(), Existing::Replace)
}

/// Writes an image, or a clip as an animated PNG.
pub(super) fn write(
    path: &Path,
    media: &Media,
    about: About<'_>,
    existing: Existing,
) -> Result<(), OutputError> {
    let first = media.checked()?;
    let rate = match media {
        Media::Image(_) => None,
        Media::Clip(clip) => Some(clip.rate),
    };
    let file = written(path, media.frames(), first, rate, None, about)?;
    persist(file, path, existing)
}

/// Writes an image with or without settings under a name that must be free.
pub(super) fn export(path: &Path, image: &Image, settings: Option<&Settings>) -> Result<(), OutputError> {
    let file = written(path, std::slice::from_ref(image), image, None, None, settings.into())?;
    persist(file, path, Existing::Keep)
}

/// Writes one frame of a clip into a folder that is not in place yet: quickly, because there are many.
pub(super) fn write_frame(
    path: &Path,
    frame: &Image,
    settings: Option<&Settings>,
) -> Result<(), OutputError> {
    let fast = Some(Compression::Fast);
    let file = written(path, std::slice::from_ref(frame), frame, None, fast, settings.into())?;
    persist(file, path, Existing::Replace)
}

fn written(
    path: &Path,
    frames: &[Image],
    first: &Image,
    rate: Option<f32>,
    compression: Option<Compression>,
    about: About<'_>,
) -> Result<NamedTempFile, OutputError> {
    let mut file = temporary_file(folder_of(path)).map_err(|cause| write_error(path, cause))?;
    encode(&mut file, frames, first, rate, compression, about).map_err(|error| match error {
        EncodingError::IoError(cause) => write_error(path, cause),
        other => write_error(path, io::Error::other(other)),
    })?;
    Ok(file)
}

fn encode(
    file: &mut NamedTempFile,
    frames: &[Image],
    first: &Image,
    rate: Option<f32>,
    compression: Option<Compression>,
    about: About<'_>,
) -> Result<(), EncodingError> {
    let has_opacity = !first.opacity.is_empty();
    let mut file = BufWriter::new(file);
    let mut encoder = Encoder::new(&mut file, first.width, first.height);
    if let Some(rate) = rate {
        encoder.set_animated(frames.len() as u32, 0)?;
        encoder.set_frame_delay(MILLISECONDS, (rate * f32::from(MILLISECONDS)).round() as u16)?;
    }
    if let Some(compression) = compression {
        encoder.set_compression(compression);
    }
    encoder.set_color(if has_opacity { ColorType::Rgba } else { ColorType::Rgb });
    encoder.set_depth(BitDepth::Eight);
    encoder.set_source_srgb(SrgbRenderingIntent::Perceptual);
    if let Some(mark) = about.mark()? {
        encoder.add_text_chunk(MADE_OF.to_owned(), mark)?;
    }
    if let Some(settings) = about.settings {
        encoder.add_itxt_chunk(SLUICE.to_owned(), settings.to_json().map_err(io::Error::from)?)?;
        // NUL ends a text in PNG.
        let parameters = a1111::write(settings).replace('\0', " ");
        if parameters.chars().all(|character| u8::try_from(character).is_ok()) {
            encoder.add_text_chunk(PARAMETERS.to_owned(), parameters)?;
        } else {
            encoder.add_itxt_chunk(PARAMETERS.to_owned(), parameters)?;
        }
    }
    let mut writer = encoder.write_header()?;
    for frame in frames {
        match has_opacity {
            true => writer.write_image_data(&with_opacity(frame))?,
            false => writer.write_image_data(&frame.pixels)?,
        }
    }
    writer.finish()?;
    Ok(file.flush()?)
}

/// Colours and opacity of each pixel.
fn with_opacity(frame: &Image) -> Vec<u8> {
    let colours = frame.pixels.as_chunks::<3>().0.iter();
    colours
        .zip(&frame.opacity)
        .flat_map(|(&[red, green, blue], &opacity)| [red, green, blue, opacity])
        .collect()
}
