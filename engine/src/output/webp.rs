//! WebP files, mostly animated: encoded by libwebp, with the settings as Exif data.

use std::io::{self, Read};

use webp_animation::{Encoder, EncoderOptions, EncodingConfig};

use super::{Clip, Image, exif, unencodable::Unencodable};

/// Visually close to the frames, at about a fifth of a GIF's bytes.
const QUALITY: f32 = 85.0;
/// Longest side that the format has, in pixels.
const LONGEST_SIDE: u32 = 16_383;
/// Flag for Exif data in the header.
const HAS_EXIF: u8 = 8;
const HAS_ANIMATION: u8 = 2;
/// Most bytes of Exif data, and of XMP data, that are read.
const LARGEST: u32 = 16 << 20;

/// The bytes of an animation, with its settings as JSON and in A1111's format if it has any.
pub(super) fn encode(clip: &Clip, texts: Option<&[String; 2]>) -> Result<Vec<u8>, Unencodable> {
    let exif = texts.map(|[json, parameters]| exif::write(&format!("Sluice:{json}"), parameters));
    encode_with(&clip.frames, clip.rate, QUALITY, exif.as_deref())
}

/// The bytes of a file with frames, or with one frame, which is an image. `quality` is at most 100.
pub(super) fn encode_with(
    frames: &[Image],
    rate: f32,
    quality: f32,
    exif: Option<&[u8]>,
) -> Result<Vec<u8>, Unencodable> {
    let failed = |error: webp_animation::Error| Unencodable::Encoder(format!("{error:?}"));
    let Some(first) = frames.first() else {
        return Err(Unencodable::Encoder("there are no frames".to_owned()));
    };
    let size = (first.width, first.height);
    if size.0.max(size.1) > LONGEST_SIDE {
        return Err(Unencodable::TooLarge);
    }
    let options = EncoderOptions {
        encoding_config: Some(EncodingConfig::new_lossy(quality)),
        color_mode: webp_animation::ColorMode::Rgb,
        ..EncoderOptions::default()
    };
    let mut encoder = Encoder::new_with_options(size, options).map_err(failed)?;
    let milliseconds = |frame: usize| (frame as f64 * 1000.0 / f64::from(rate)).round() as i32;
    for (number, frame) in frames.iter().enumerate() {
        encoder.add_frame(&frame.pixels, milliseconds(number)).map_err(failed)?;
    }
    let file = encoder.finalize(milliseconds(frames.len())).map_err(failed)?;
    let Some(exif) = exif else { return Ok(file.to_vec()) };
    with_exif(&file, size, exif)
        .ok_or_else(|| Unencodable::Encoder("the encoder wrote no valid file".to_owned()))
}

/// Adds Exif data to a file. One without an extended header gets one.
fn with_exif(file: &[u8], (width, height): (u32, u32), exif: &[u8]) -> Option<Vec<u8>> {
    let chunks = file.get(12..)?;
    let mut out = b"RIFF\0\0\0\0WEBP".to_vec();
    if chunks.starts_with(b"VP8X") {
        out.extend(chunks);
        *out.get_mut(20)? |= HAS_EXIF;
    } else {
        out.extend(b"VP8X\x0A\0\0\0");
        out.extend([HAS_EXIF & !HAS_ANIMATION, 0, 0, 0]);
        out.extend(&(width - 1).to_le_bytes()[..3]);
        out.extend(&(height - 1).to_le_bytes()[..3]);
        out.extend(chunks);
    }
    out.extend(b"EXIF");
    out.extend((exif.len() as u32).to_le_bytes());
    out.extend(exif);
    if !exif.len().is_multiple_of(2) {
        out.push(0);
    }
    let size = u32::try_from(out.len() - 8).ok()?;
    out[4..8].copy_from_slice(&size.to_le_bytes());
    Some(out)
}

/// The texts in the first Exif and XMP data of a file whose first 12 bytes were read.
pub(super) fn read_texts(file: &mut impl Read) -> io::Result<Vec<(String, String)>> {
    let (mut texts, mut wanted) = (Vec::new(), vec![*b"EXIF", *b"XMP "]);
    while !wanted.is_empty() {
        let mut header = [0; 8];
        match file.read_exact(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(texts),
            result => result?,
        }
        let [kind, size] = [0, 4].map(|at| [header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let size = u32::from_le_bytes(size);
        let mut chunk = file.take(u64::from(size) + u64::from(size % 2));
        let Some(place) = wanted.iter().position(|wanted| *wanted == kind && size <= LARGEST) else {
            io::copy(&mut chunk, &mut io::sink())?;
            continue;
        };
        wanted.remove(place);
        let mut data = Vec::new();
        chunk.read_to_end(&mut data)?;
        data.truncate(size as usize);
        match &kind {
            b"EXIF" => texts.extend(exif::read(&data)),
            _ => texts.push(("xmp".to_owned(), String::from_utf8_lossy(&data).into_owned())),
        }
    }
    Ok(texts)
}
