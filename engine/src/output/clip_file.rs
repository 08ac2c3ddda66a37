//! Writes an image or a clip in the format that its path asks for.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use super::{
    Clip, Codec, Encoding, Image, Media, OutputError, Settings, a1111,
    chunks::MADE_OF,
    ffmpeg,
    file::{Existing, write_error, write_whole},
    format::Format,
    gif_file, h264,
    made_of::{About, InputMark},
    mp4::{
        self,
        tags::{COMMENT, Key, TOOL},
    },
    png_file, sequence,
    still::{self, as_jpeg},
    unencodable::Unencodable,
    webp,
};

/// Frames per second have three decimals in files.
const THOUSANDTHS: f32 = 1000.0;

/// Writes an image or a clip with its settings, in the format that the extension of `path` names. An existing file is
/// replaced; until everything is on the disk the file has another name. The same frames and settings give the same bytes.
pub fn write_media(
    path: &Path,
    media: &Media,
    settings: &Settings,
    encoding: impl Into<Encoding>,
) -> Result<(), OutputError> {
    write(path, media, settings, encoding.into(), Existing::Replace)
}

/// The same for what was not generated, without settings. PNG files and clips of videos keep the mark of the file that they were
/// made of.
pub fn write_plain(
    path: &Path,
    media: &Media,
    made_of: Option<&InputMark>,
    codec: Codec,
) -> Result<(), OutputError> {
    write_with(path, media, About { made_of, ..About::default() }, codec.into(), Existing::Replace)
}

pub(super) fn write(
    path: &Path,
    media: &Media,
    settings: &Settings,
    encoding: Encoding,
    existing: Existing,
) -> Result<(), OutputError> {
    write_with(path, media, settings.into(), encoding, existing)
}

fn write_with(
    path: &Path,
    media: &Media,
    about: About<'_>,
    Encoding { codec, quality }: Encoding,
    existing: Existing,
) -> Result<(), OutputError> {
    let settings = about.settings;
    let format = Format::of(path, media.is_clip(), codec)?;
    let first = media.checked()?;
    let Media::Clip(clip) = media else {
        let bytes = match format {
            Format::Jpeg => as_jpeg(path, first, quality, settings),
            Format::WebP => still::as_webp(path, first, quality, settings),
            _ => return png_file::write(path, media, about, existing),
        }?;
        return write_whole(path, &bytes, existing);
    };
    let bytes = match format {
        Format::Png | Format::Jpeg => return png_file::write(path, media, about, existing),
        Format::Frames => return sequence::write(path, clip, settings, existing),
        Format::Ffmpeg(codec) => return ffmpeg::write(path, clip, first, about, codec, existing),
        // An encoder that panics must not cost the frames.
        Format::Mp4 => caught(path, || as_mp4(path, clip, first, about)),
        Format::WebP => animated(path, clip, first, settings, webp::encode),
        Format::Gif => animated(path, clip, first, settings, gif_file::encode),
    }?;
    write_whole(path, &bytes, existing)
}

pub(super) fn caught(
    path: &Path,
    encode: impl FnOnce() -> Result<Vec<u8>, OutputError>,
) -> Result<Vec<u8>, OutputError> {
    catch_unwind(AssertUnwindSafe(encode)).unwrap_or_else(|_| {
        let detail = "an internal error occurred in the encoder".to_owned();
        Err(OutputError::Encoder { path: path.to_owned(), detail })
    })
}

/// The settings as JSON, and in A1111's format.
pub(super) fn texts(path: &Path, settings: &Settings) -> Result<[String; 2], OutputError> {
    let json = settings.to_json().map_err(|error| write_error(path, error.into()))?;
    Ok([json, a1111::write(settings).replace('\0', " ")])
}

fn as_mp4(path: &Path, clip: &Clip, first: &Image, about: About<'_>) -> Result<Vec<u8>, OutputError> {
    let rate = (clip.rate * THOUSANDTHS).round() as u32;
    let stream = h264::encode(&clip.frames, rate).map_err(|error| error.at(path, first))?;
    let (sound, size) = (clip.sound.as_ref(), [first.width, first.height]);
    let Some(settings) = about.settings else {
        let mark = about.mark().map_err(|error| write_error(path, error))?;
        let tags: Vec<_> = mark.iter().map(|mark| (Key::Named(MADE_OF), mark.as_str())).collect();
        return Ok(mp4::mux(&stream, sound, size, rate, &tags));
    };
    let [json, parameters] = texts(path, settings)?;
    let tool = format!("Sluice {}", settings.sluice_version);
    let tags = [
        (Key::Named("parameters"), parameters.as_str()),
        (Key::Named("comment"), &parameters),
        (Key::Named("sluice"), &json),
        // Not JSON here: Wan2GP would take it for its own.
        (Key::ITunes(COMMENT), &parameters),
        (Key::ITunes(TOOL), &tool),
    ];
    Ok(mp4::mux(&stream, sound, size, rate, &tags))
}

/// An animation in a format that keeps the settings as texts.
fn animated(
    path: &Path,
    clip: &Clip,
    first: &Image,
    settings: Option<&Settings>,
    encode: impl FnOnce(&Clip, Option<&[String; 2]>) -> Result<Vec<u8>, Unencodable>,
) -> Result<Vec<u8>, OutputError> {
    let texts = settings.map(|settings| texts(path, settings)).transpose()?;
    caught(path, || encode(clip, texts.as_ref()).map_err(|error| error.at(path, first)))
}
