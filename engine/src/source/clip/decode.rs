//! Decodes the frames of an H.264 track.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{Read as _, Seek as _, SeekFrom},
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use rusty_h264::{DecodeError, Decoder, YuvFrame};
use yuv::{YuvPlanarImage, YuvRange, YuvStandardMatrix, yuv420_to_rgb};

use super::{
    ClipError,
    demux::{Coding, Track, damaged},
    tables::Sample,
};
use crate::output::{Image, Sps};

/// Largest frame in a file, in bytes.
const LARGEST_SAMPLE: u32 = 64 << 20;
/// From this many rows, video without a colour matrix is taken for BT.709, as players do.
const HIGH_DEFINITION: u32 = 720;

/// Why the decoder stopped.
pub(super) enum Stopped {
    /// It lacks something that this stream uses.
    Unsupported,
    /// Anything else.
    Failed(ClipError),
}

impl From<ClipError> for Stopped {
    fn from(error: ClipError) -> Self {
        Self::Failed(error)
    }
}

/// Decodes these frames of a track, numbered in the order of decoding, and hands each of them over once.
pub(super) fn decode(
    path: &Path,
    file: &mut File,
    track: &Track,
    wanted: &[usize],
    mut take: impl FnMut(usize, Image),
) -> Result<(), Stopped> {
    let Coding::H264 { headers, sps, length_bytes, matrix } = &track.coding else {
        return Err(Stopped::Unsupported);
    };
    let mut open: BTreeSet<usize> = wanted.iter().copied().collect();
    while let Some(&first) = open.first() {
        let start = track.samples[..=first].iter().rposition(|sample| sample.is_key).unwrap_or(0);
        let mut decoder = Decoder::new();
        let mut stream = headers.clone();
        for (number, sample) in track.samples.iter().enumerate().skip(start) {
            // Once past a keyframe, frames that nobody wants are skipped.
            if number > start && sample.is_key && open.range(..number).next().is_none() {
                break;
            }
            append_units(path, file, track, *sample, *length_bytes, sps, &mut stream)?;
            let decoded = catch_unwind(AssertUnwindSafe(|| decoder.decode(&stream)));
            stream.clear();
            let frame = match decoded {
                Ok(Ok(frame)) => frame,
                Ok(Err(DecodeError::Unsupported(_))) => return Err(Stopped::Unsupported),
                Ok(Err(error)) => {
                    return Err(damaged(path, &format!("frame {number}: {error}")).into());
                }
                Err(_) => {
                    return Err(damaged(path, &format!("frame {number} cannot be decoded")).into());
                }
            };
            if open.remove(&number) {
                let frame = frame
                    .and_then(|frame| to_rgb(&frame, sps, *matrix))
                    .ok_or_else(|| damaged(path, &format!("frame {number} is empty")))?;
                take(number, frame);
                if open.is_empty() {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Reads a frame and appends its units with start codes. Parameter sets that would change the size are refused.
fn append_units(
    path: &Path,
    file: &mut File,
    track: &Track,
    sample: Sample,
    length_bytes: u8,
    sps: &Sps,
    stream: &mut Vec<u8>,
) -> Result<(), ClipError> {
    let read_error = |cause| ClipError::Read { path: path.to_owned(), cause };
    if sample.size > LARGEST_SAMPLE {
        return Err(damaged(path, "a frame is too large"));
    }
    let mut bytes = Vec::with_capacity(sample.size as usize);
    file.seek(SeekFrom::Start(sample.offset)).map_err(read_error)?;
    file.take(sample.size.into()).read_to_end(&mut bytes).map_err(read_error)?;
    if bytes.len() < sample.size as usize {
        return Err(truncated(path, track));
    }
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let unit = rest
            .split_at_checked(length_bytes.into())
            .map(|(length, after)| (length.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte)), after))
            .and_then(|(length, after)| after.split_at_checked(length));
        let Some((unit, after)) = unit else { return Err(damaged(path, "a frame is cut off")) };
        rest = after;
        let is_needed = match unit.first().map(|header| header & 31) {
            Some(1 | 5 | 8) => true,
            Some(7) => {
                let size = |sps: &Sps| [sps.coded_width, sps.coded_height, sps.chroma, sps.depth];
                if Sps::parse(unit).is_none_or(|other| size(&other) != size(sps)) {
                    return Err(damaged(path, "the size of its frames changes"));
                }
                true
            }
            _ => false,
        };
        if is_needed {
            stream.extend([0, 0, 0, 1]);
            stream.extend(unit);
        }
    }
    Ok(())
}

fn truncated(path: &Path, track: &Track) -> ClipError {
    let is_whole = |sample: &&Sample| {
        sample.offset.checked_add(sample.size.into()).is_some_and(|end| end <= track.file_length)
    };
    ClipError::Truncated {
        path: path.to_owned(),
        readable: track.samples.iter().take_while(is_whole).count() as u32,
        frames: track.samples.len() as u32,
    }
}

/// Converts a decoded frame. `None` if it is smaller than it says.
fn to_rgb(frame: &YuvFrame, sps: &Sps, matrix: Option<u32>) -> Option<Image> {
    let (width, height) = (u32::try_from(frame.width).ok()?, u32::try_from(frame.height).ok()?);
    let mut pixels = vec![0; frame.width.checked_mul(frame.height)?.checked_mul(3)?];
    let image = YuvPlanarImage {
        y_plane: &frame.y,
        y_stride: width,
        u_plane: &frame.u,
        u_stride: width.div_ceil(2),
        v_plane: &frame.v,
        v_stride: width.div_ceil(2),
        width,
        height,
    };
    let range = if sps.full_range { YuvRange::Full } else { YuvRange::Limited };
    let named = [Some(sps.matrix), matrix].into_iter().flatten().find(|matrix| *matrix != 2);
    let matrix = match named {
        Some(5 | 6) => YuvStandardMatrix::Bt601,
        Some(7) => YuvStandardMatrix::Smpte240,
        Some(9 | 10) => YuvStandardMatrix::Bt2020,
        None if height < HIGH_DEFINITION => YuvStandardMatrix::Bt601,
        _ => YuvStandardMatrix::Bt709,
    };
    yuv420_to_rgb(&image, &mut pixels, 3 * width, range, matrix).ok()?;
    Some(Image::opaque(width, height, pixels))
}
