//! H.264: from frames to the samples of an MP4 file. The encoder is behind [`GroupEncoder`].

mod bits;
#[cfg(feature = "openh264")]
mod cisco;
mod rust;
mod sps;

use rayon::prelude::*;
use yuv::{BufferStoreMut, YuvConversionMode, YuvPlanarImageMut, YuvRange, YuvStandardMatrix, rgb_to_yuv420};

use super::{Image, unencodable::Unencodable};
pub(crate) use sps::Sps;

/// Frames from one keyframe to the next: seeking decodes at most this many.
pub(super) const GROUP: usize = 24;
/// Macroblocks per frame of the largest level.
const LARGEST_FRAME: u32 = 139_264;

/// What all encoders are told.
#[derive(Debug, Clone, Copy)]
struct Setup {
    /// Pixels per row, even.
    width: u32,
    /// Rows, even.
    height: u32,
    /// Frames in 1000 seconds.
    rate: u32,
    /// Level times ten.
    level: u8,
}

/// A frame in 4:2:0, BT.709, limited range.
struct Planes {
    luma: Vec<u8>,
    blue: Vec<u8>,
    red: Vec<u8>,
}

/// An encoder of H.264 in the High profile, 4:2:0, without B-frames.
trait GroupEncoder: Sync {
    /// Encodes frames that refer to each other only, as a byte stream with start codes: a keyframe with its parameter
    /// sets, then the others in order. The same frames give the same bytes.
    fn encode(&self, frames: &[Planes]) -> Result<Vec<u8>, Unencodable>;
}

/// An encoded clip.
#[derive(Debug)]
pub(super) struct Stream {
    /// Pixels per row, even: one more than the frames have if that is odd.
    pub width: u32,
    /// Rows, even.
    pub height: u32,
    /// The sequence parameter set, with its header byte.
    pub sps: Vec<u8>,
    /// The picture parameter set, with its header byte.
    pub pps: Vec<u8>,
    /// The frames in order.
    pub samples: Vec<Sample>,
}

/// An encoded frame.
#[derive(Debug)]
pub(super) struct Sample {
    /// Its units, each after its length in four bytes.
    pub bytes: Vec<u8>,
    /// Whether decoding can start here.
    pub is_key: bool,
}

/// Encodes frames of one size. `rate` is the number of frames in 1000 seconds.
pub(super) fn encode(frames: &[Image], rate: u32) -> Result<Stream, Unencodable> {
    let first = frames.first().ok_or_else(|| Unencodable::Encoder("there are no frames".to_owned()))?;
    let [width, height] = [first.width, first.height].map(|side| side.next_multiple_of(2));
    let level = level(width, height, rate).ok_or(Unencodable::TooLarge)?;
    let encoder = encoder(Setup { width, height, rate, level });
    let groups: Vec<Vec<u8>> = frames
        .par_chunks(GROUP)
        .map(|group| {
            let planes: Result<Vec<Planes>, _> =
                group.iter().map(|frame| planes(frame, width, height)).collect();
            encoder.encode(&planes?)
        })
        .collect::<Result<_, _>>()?;
    let mut stream = Stream { width, height, sps: Vec::new(), pps: Vec::new(), samples: Vec::new() };
    for group in &groups {
        stream.append(group);
    }
    if stream.samples.len() != frames.len() {
        let (made, asked) = (stream.samples.len(), frames.len());
        return Err(Unencodable::Encoder(format!("the encoder made {made} frames of {asked}")));
    }
    stream.sps = sps::with_usability(&stream.sps, rate)
        .ok_or_else(|| Unencodable::Encoder("the encoder wrote no valid parameter set".to_owned()))?;
    Ok(stream)
}

#[cfg(not(feature = "openh264"))]
fn encoder(setup: Setup) -> impl GroupEncoder {
    rust::Encoder(setup)
}

#[cfg(feature = "openh264")]
fn encoder(setup: Setup) -> impl GroupEncoder {
    cisco::Encoder(setup)
}

impl Stream {
    /// Adds the units of a byte stream.
    fn append(&mut self, bytes: &[u8]) {
        for unit in units(bytes) {
            match unit.first().map(|header| header & 31) {
                Some(7) => unit.clone_into(&mut self.sps),
                Some(8) => unit.clone_into(&mut self.pps),
                Some(kind @ (1 | 5)) => {
                    // The first slice of a frame starts with macroblock 0, whose code is a set bit.
                    let is_first = unit.get(1).is_some_and(|byte| byte & 0x80 != 0);
                    if is_first || self.samples.is_empty() {
                        self.samples.push(Sample { bytes: Vec::new(), is_key: kind == 5 });
                    }
                    if let Some(sample) = self.samples.last_mut() {
                        sample.bytes.extend((unit.len() as u32).to_be_bytes());
                        sample.bytes.extend(unit);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The units of a byte stream, without start codes.
fn units(bytes: &[u8]) -> Vec<&[u8]> {
    let mut units = Vec::new();
    let mut start = None;
    let mut at = 0;
    while at + 3 <= bytes.len() {
        if bytes[at..at + 3] == [0, 0, 1] {
            if let Some(start) = start {
                units.push(trimmed(&bytes[start..at]));
            }
            start = Some(at + 3);
            at += 3;
        } else {
            at += 1;
        }
    }
    units.extend(start.map(|start| trimmed(&bytes[start..])));
    units
}

/// A unit never ends with a zero: those belong to the next start code.
fn trimmed(unit: &[u8]) -> &[u8] {
    let length = unit.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    &unit[..length]
}

/// The smallest level, times ten, for a size and a rate: frame size, decoding speed and three reference frames.
fn level(width: u32, height: u32, rate: u32) -> Option<u8> {
    // Level, macroblocks per second, per frame, and in the buffer of decoded frames.
    const LEVELS: [(u8, u64, u32, u32); 16] = [
        (10, 1_485, 99, 396),
        (11, 3_000, 396, 900),
        (12, 6_000, 396, 2_376),
        (20, 11_880, 396, 2_376),
        (21, 19_800, 792, 4_752),
        (22, 20_250, 1_620, 8_100),
        (30, 40_500, 1_620, 8_100),
        (31, 108_000, 3_600, 18_000),
        (32, 216_000, 5_120, 20_480),
        (40, 245_760, 8_192, 32_768),
        (42, 522_240, 8_704, 34_816),
        (50, 589_824, 22_080, 110_400),
        (51, 983_040, 36_864, 184_320),
        (52, 2_073_600, 36_864, 184_320),
        (60, 4_177_920, LARGEST_FRAME, 696_320),
        (62, 16_711_680, LARGEST_FRAME, 696_320),
    ];
    let frame = width.div_ceil(16).checked_mul(height.div_ceil(16))?;
    let second = (u64::from(frame) * u64::from(rate)).div_ceil(1000);
    let references = frame.checked_mul(rust::REFERENCES)?;
    let fits = |&&(_, speed, size, buffer): &&(u8, u64, u32, u32)| {
        second <= speed && frame <= size && references <= buffer
    };
    LEVELS.iter().find(fits).map(|&(level, ..)| level)
}

/// Converts a frame, whose last column or row is repeated if its size is odd.
fn planes(frame: &Image, width: u32, height: u32) -> Result<Planes, Unencodable> {
    let even;
    let pixels = if (frame.width, frame.height) == (width, height) {
        &frame.pixels
    } else {
        even = padded(frame, width, height);
        &even
    };
    let samples = width as usize * height as usize;
    let mut planes = Planes { luma: vec![0; samples], blue: vec![0; samples / 4], red: vec![0; samples / 4] };
    let mut image = YuvPlanarImageMut {
        y_plane: BufferStoreMut::Borrowed(&mut planes.luma),
        y_stride: width,
        u_plane: BufferStoreMut::Borrowed(&mut planes.blue),
        u_stride: width / 2,
        v_plane: BufferStoreMut::Borrowed(&mut planes.red),
        v_stride: width / 2,
        width,
        height,
    };
    let (range, matrix) = (YuvRange::Limited, YuvStandardMatrix::Bt709);
    rgb_to_yuv420(&mut image, pixels, 3 * width, range, matrix, YuvConversionMode::Balanced)
        .map_err(|error| Unencodable::Encoder(error.to_string()))?;
    Ok(planes)
}

fn padded(frame: &Image, width: u32, height: u32) -> Vec<u8> {
    let row_bytes = 3 * frame.width as usize;
    let mut pixels = Vec::with_capacity(3 * width as usize * height as usize);
    for row in 0..height.min(frame.height + 1) {
        let start = row.min(frame.height - 1) as usize * row_bytes;
        let row = &frame.pixels[start..start + row_bytes];
        pixels.extend_from_slice(row);
        if width > frame.width {
            pixels.extend_from_slice(&row[row_bytes - 3..]);
        }
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_follows_size_and_rate() {
        for (width, height, rate, expected) in [
            (128, 128, 8_000, 10),
            (832, 480, 16_000, 30),
            (832, 480, 30_000, 31),
            (1280, 704, 24_000, 31),
            (1280, 720, 60_000, 32),
            (1920, 1080, 30_000, 40),
            (3840, 2160, 30_000, 51),
        ] {
            assert_eq!(level(width, height, rate), Some(expected), "{width}×{height}");
        }
        assert_eq!(level(16_384, 16_384, 16_000), None);
    }

    #[test]
    fn units_are_found_between_start_codes() {
        let bytes = [0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x68, 3, 0, 0, 0, 1, 0x65, 0x88, 0];
        assert_eq!(units(&bytes), [&[0x67, 1, 2][..], &[0x68, 3], &[0x65, 0x88]]);
        assert!(units(&[1, 2, 3]).is_empty());
    }

    #[test]
    fn odd_sizes_repeat_the_last_pixels() {
        let frame = Image::opaque(1, 3, vec![1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let expected =
            [[1, 2, 3], [1, 2, 3], [4, 5, 6], [4, 5, 6], [7, 8, 9], [7, 8, 9], [7, 8, 9], [7, 8, 9]];
        assert_eq!(padded(&frame, 2, 4), expected.concat());
    }
}
