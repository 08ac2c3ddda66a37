//! Animated GIF files, with the settings as comments.

use std::io::{self, Read};

use gif::{AnyExtension, Encoder, EncodingError, Extension, Frame, Repeat};
use rayon::prelude::*;

use super::{Clip, unencodable::Unencodable};

/// Of NeuQuant, from 1 for the best palette to 30 for the fastest one.
const SPEED: i32 = 10;
/// Frames that are encoded at once.
const BATCH: usize = 16;
/// The shortest time of a frame in hundredths of a second: players show anything shorter for a tenth of a second.
const SHORTEST: u64 = 2;
/// What a comment with Sluice's settings starts with.
const SLUICE: &str = "Sluice:";
/// Most bytes of comments that are read.
const LONGEST: usize = 8 << 20;
const COMMENT: u8 = Extension::Comment as u8;

/// The bytes of a file, with the settings as JSON and in A1111's format if there are any.
pub(super) fn encode(clip: &Clip, texts: Option<&[String; 2]>) -> Result<Vec<u8>, Unencodable> {
    let side = |side: u32| u16::try_from(side).map_err(|_| Unencodable::TooLarge);
    let size = match clip.frames.first() {
        Some(first) => [side(first.width)?, side(first.height)?],
        None => [0; 2],
    };
    encode_sized(clip, size, texts).map_err(|error| Unencodable::Encoder(error.to_string()))
}

fn encode_sized(
    clip: &Clip,
    [width, height]: [u16; 2],
    texts: Option<&[String; 2]>,
) -> Result<Vec<u8>, EncodingError> {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, width, height, &[])?;
    encoder.set_repeat(Repeat::Infinite)?;
    let comments = texts.map(|[json, parameters]| [parameters.clone(), format!("{SLUICE}{json}")]);
    for comment in comments.iter().flatten() {
        encoder.write_raw_extension(AnyExtension(COMMENT), &[comment.as_bytes()])?;
    }
    // Delays are whole hundredths; rounding the ends of the frames keeps the clip's duration.
    let end = |frame: usize| (frame as f64 * 100.0 / f64::from(clip.rate)).round() as u64;
    for (number, group) in clip.frames.chunks(BATCH).enumerate() {
        let before = number * BATCH;
        let frames: Vec<Frame> = group
            .par_iter()
            .enumerate()
            .map(|(place, frame)| {
                let mut encoded = Frame::from_rgb_speed(width, height, &frame.pixels, SPEED);
                let frame = before + place;
                encoded.delay = (end(frame + 1) - end(frame)).max(SHORTEST) as u16;
                encoded.make_lzw_pre_encoded();
                encoded
            })
            .collect();
        for frame in &frames {
            encoder.write_lzw_pre_encoded_frame(frame)?;
        }
    }
    drop(encoder);
    Ok(out)
}

/// The texts in a file whose first 6 bytes were read: the comments before the first frame.
pub(super) fn read_texts(file: &mut impl Read) -> io::Result<Vec<(String, String)>> {
    match read_comments(file) {
        Ok(comments) => Ok(comments.into_iter().map(named).collect()),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn named(comment: Vec<u8>) -> (String, String) {
    let comment = String::from_utf8_lossy(&comment).into_owned();
    match comment.strip_prefix(SLUICE) {
        Some(json) => ("sluice".to_owned(), json.to_owned()),
        None => ("comment".to_owned(), comment),
    }
}

fn read_comments(file: &mut impl Read) -> io::Result<Vec<Vec<u8>>> {
    let mut comments = Vec::new();
    let mut screen = [0; 7];
    file.read_exact(&mut screen)?;
    if screen[4] & 0x80 != 0 {
        let colours = 2_u64 << (screen[4] & 7);
        io::copy(&mut file.take(3 * colours), &mut io::sink())?;
    }
    let mut byte = [0];
    let mut left = LONGEST;
    loop {
        file.read_exact(&mut byte)?;
        if byte[0] != 0x21 {
            return Ok(comments);
        }
        file.read_exact(&mut byte)?;
        let is_comment = byte[0] == COMMENT;
        let mut text = Vec::new();
        loop {
            file.read_exact(&mut byte)?;
            if byte[0] == 0 {
                break;
            }
            let mut block = vec![0; byte[0].into()];
            file.read_exact(&mut block)?;
            if is_comment {
                left = left.saturating_sub(block.len());
                text.extend(block);
            }
            if left == 0 {
                return Ok(comments);
            }
        }
        if is_comment {
            comments.push(text);
        }
    }
}
