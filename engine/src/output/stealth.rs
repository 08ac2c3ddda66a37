//! Settings that are hidden in the alpha channel of a PNG file: one bit in each pixel, column by column. NovelAI and an
//! extension of A1111's web UI write them.

use std::{
    fs::File,
    io::{BufReader, Read as _},
    path::Path,
};

use flate2::read::GzDecoder;
use png::{ColorType, Decoder, Transformations};
use serde_json::Value;

/// How plain and packed texts begin.
const PLAIN: &[u8; 15] = b"stealth_pnginfo";
const PACKED: &[u8; 15] = b"stealth_pngcomp";
/// Most pixels of an image that is looked at, and most bytes of its text.
const MOST_PIXELS: u64 = 64 << 20;
const LONGEST: u64 = 4 << 20;

/// The texts in a file, if it has any; those of NovelAI by their names.
pub(super) fn read(path: &Path) -> Vec<(String, String)> {
    let Some(text) = hidden(path) else { return Vec::new() };
    let Ok(Value::Object(named)) = serde_json::from_str::<Value>(&text) else {
        return vec![("parameters".to_owned(), text)];
    };
    if !named.contains_key("Comment") {
        return vec![("parameters".to_owned(), text)];
    }
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    named.into_iter().map(|(name, value)| (name.to_lowercase(), text(value))).collect()
}

fn hidden(path: &Path) -> Option<String> {
    let mut decoder = Decoder::new(BufReader::new(File::open(path).ok()?));
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info().ok()?;
    let (width, height) = (reader.info().width as usize, reader.info().height as usize);
    // Files that never had an alpha channel are not decoded.
    let channels = match reader.output_color_type().0 {
        ColorType::Rgba => 4,
        ColorType::GrayscaleAlpha => 2,
        _ => return None,
    };
    if width as u64 * height as u64 > MOST_PIXELS {
        return None;
    }
    let mut pixels = vec![0; reader.output_buffer_size()?];
    reader.next_frame(&mut pixels).ok()?;
    let bit = |place: usize| {
        let (x, y) = (place / height, place % height);
        pixels.get((y * width + x) * channels + channels - 1).map(|alpha| alpha & 1)
    };
    let bytes = |from: usize, count: usize| -> Option<Vec<u8>> {
        if (from + count).checked_mul(8)? > width * height {
            return None;
        }
        let byte = |place: usize| {
            (0..8).try_fold(0_u8, |byte, number| Some(byte << 1 | bit((from + place) * 8 + number)?))
        };
        (0..count).map(byte).collect()
    };
    let start = bytes(0, PLAIN.len())?;
    let is_packed = start == PACKED;
    if !is_packed && start != PLAIN {
        return None;
    }
    let length = bytes(PLAIN.len(), 4)?;
    let bits = u32::from_be_bytes(length.try_into().ok()?);
    let data = bytes(PLAIN.len() + 4, (bits / 8) as usize)?;
    if !is_packed {
        return String::from_utf8(data).ok();
    }
    let mut text = String::new();
    GzDecoder::new(data.as_slice()).take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}
