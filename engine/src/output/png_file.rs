//! PNG files: written in one piece or not at all, and read only as far as the settings need it.

use std::{
    fs::File,
    io::{self, BufWriter, Write as _},
    path::Path,
};

use png::{BitDepth, ColorType, Encoder, EncodingError, SrgbRenderingIntent};
use tempfile::NamedTempFile;

use super::{
    Clip, Image, Media, OutputError, RestoredSettings, Settings, a1111,
    chunks::{self, ChunkError, PARAMETERS, SLUICE},
    settings::{JsonError, Origin, SETTINGS_VERSION},
};

/// In a second.
const MILLISECONDS: u16 = 1000;

/// Writes an image, or a clip as an animated PNG, with its settings: as JSON for Sluice and in A1111's format for other programs. An existing file is
/// replaced atomically. The same image and settings give the same bytes.
pub fn write_png(path: &Path, media: &Media, settings: &Settings) -> Result<(), OutputError> {
    let file = write_beside(path, media, settings)?;
    file.persist(path).map_err(|error| write_error(path, error.error))?;
    Ok(())
}

/// Like [`write_png`], but an existing file is an error.
pub(super) fn write_new_png(path: &Path, media: &Media, settings: &Settings) -> Result<(), OutputError> {
    let file = write_beside(path, media, settings)?;
    file.persist_noclobber(path).map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => OutputError::Exists { path: path.to_owned() },
        _ => write_error(path, error.error),
    })?;
    Ok(())
}

/// Reads the settings in an image: Sluice's own or, if there are none, A1111's.
pub fn read_settings(path: &Path) -> Result<RestoredSettings, OutputError> {
    let owned = || path.to_owned();
    let file = File::open(path).map_err(|cause| OutputError::Read { path: owned(), cause })?;
    let texts = chunks::read_texts(file).map_err(|error| match error {
        ChunkError::Io(cause) => OutputError::Read { path: owned(), cause },
        ChunkError::NotPng => OutputError::NotPng { path: owned() },
        ChunkError::Truncated => OutputError::Truncated { path: owned() },
        ChunkError::Damaged(detail) => OutputError::Damaged { path: owned(), detail: detail.to_owned() },
        ChunkError::TooLarge(keyword) => OutputError::TooLarge { path: owned(), keyword },
    })?;
    if let Some(json) = &texts.sluice {
        let settings = Settings::from_json(json).map_err(|error| match error {
            JsonError::Newer(found) => {
                OutputError::NewerVersion { path: owned(), found, known: SETTINGS_VERSION }
            }
            JsonError::Malformed(error) => OutputError::Damaged { path: owned(), detail: error.to_string() },
        })?;
        let notes = settings.note_on_precision().into_iter().collect();
        return Ok(RestoredSettings { settings, origin: Origin::Sluice, notes });
    }
    let parameters = texts.parameters.as_deref().map(str::trim).filter(|text| !text.is_empty());
    parameters.map(a1111::parse).ok_or_else(|| OutputError::NoSettings { path: owned() })
}

fn write_beside(path: &Path, media: &Media, settings: &Settings) -> Result<NamedTempFile, OutputError> {
    let Some(first) = media.first() else {
        return Err(OutputError::Pixels { width: 0, height: 0, bytes: 0 });
    };
    let expected = u64::from(first.width) * u64::from(first.height) * 3;
    let fits = |image: &Image| expected > 0 && expected == image.pixels.len() as u64;
    if let Some(image) = media.frames().iter().find(|image| !fits(image)) {
        let (width, height, bytes) = (first.width, first.height, image.pixels.len());
        return Err(OutputError::Pixels { width, height, bytes });
    }
    let mut file = temporary_file(folder_of(path)).map_err(|cause| write_error(path, cause))?;
    encode(&mut file, media, first, settings).map_err(|error| match error {
        EncodingError::IoError(cause) => write_error(path, cause),
        other => write_error(path, io::Error::other(other)),
    })?;
    // Without this a full disk may show up only after the rename.
    file.as_file().sync_all().map_err(|cause| write_error(path, cause))?;
    Ok(file)
}

fn encode(
    file: &mut NamedTempFile,
    media: &Media,
    first: &Image,
    settings: &Settings,
) -> Result<(), EncodingError> {
    let mut file = BufWriter::new(file);
    let mut encoder = Encoder::new(&mut file, first.width, first.height);
    if let Media::Clip(Clip { frames, rate }) = media {
        encoder.set_animated(frames.len() as u32, 0)?;
        encoder.set_frame_delay(MILLISECONDS, (rate * f32::from(MILLISECONDS)).round() as u16)?;
    }
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_source_srgb(SrgbRenderingIntent::Perceptual);
    encoder.add_itxt_chunk(SLUICE.to_owned(), settings.to_json().map_err(io::Error::from)?)?;
    // NUL ends a text in PNG.
    let parameters = a1111::write(settings).replace('\0', " ");
    if parameters.chars().all(|character| u8::try_from(character).is_ok()) {
        encoder.add_text_chunk(PARAMETERS.to_owned(), parameters)?;
    } else {
        encoder.add_itxt_chunk(PARAMETERS.to_owned(), parameters)?;
    }
    let mut writer = encoder.write_header()?;
    for frame in media.frames() {
        writer.write_image_data(&frame.pixels)?;
    }
    writer.finish()?;
    Ok(file.flush()?)
}

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

/// A temporary file that is deleted unless it is renamed.
pub(super) fn temporary_file(folder: &Path) -> io::Result<NamedTempFile> {
    // The standard library creates it with the usual permissions; tempfile would make it private.
    tempfile::Builder::new().prefix(".sluice-").suffix(".tmp").make_in(folder, |path| File::create_new(path))
}

pub(super) fn write_error(path: &Path, cause: io::Error) -> OutputError {
    let path = path.to_owned();
    match cause.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => OutputError::DiskFull { path },
        io::ErrorKind::IsADirectory => OutputError::IsFolder { path },
        _ => OutputError::Write { path, cause },
    }
}
