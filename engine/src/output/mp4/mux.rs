//! Writes an MP4 file with one video track: `ftyp`, `moov`, `mdat`, so that players can start before they have all of it.

use super::{
    boxes::{write_box, write_full_box},
    tags::{Tag, write_tags},
};
use crate::output::h264::Stream;

/// Units of time per frame: with a time scale of the frame rate in thousandths, every frame takes as many.
const FRAME: u32 = 1000;
/// Enabled, in the movie, in its preview.
const TRACK_FLAGS: u32 = 7;
/// The language `und` in three times five bits.
const UNDETERMINED: u16 = 0x55C4;
const UNITY: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];

/// A file with the frames of a stream, `rate` in 1000 seconds. `width` and `height` are those to show, at most those of
/// the stream.
pub fn mux(stream: &Stream, [width, height]: [u32; 2], rate: u32, tags: &[Tag]) -> Vec<u8> {
    let mut out = Vec::new();
    write_box(&mut out, b"ftyp", |out| {
        out.extend(b"isom");
        out.extend(512_u32.to_be_bytes());
        out.extend(b"isomiso2avc1mp41");
    });
    // The place of the frames is known once the size of `moov` is, which does not depend on it.
    let video = Video { stream, width, height, rate, tags };
    let mut moov = Vec::new();
    video.write(&mut moov, 0);
    let data: u64 = stream.samples.iter().map(|sample| sample.bytes.len() as u64).sum();
    let is_large = data + 8 > u32::MAX.into();
    let first = out.len() + moov.len() + if is_large { 16 } else { 8 };
    video.write(&mut out, first as u64);
    if is_large {
        out.extend(1_u32.to_be_bytes());
        out.extend(b"mdat");
        out.extend((data + 16).to_be_bytes());
    } else {
        out.extend((data as u32 + 8).to_be_bytes());
        out.extend(b"mdat");
    }
    stream.samples.iter().for_each(|sample| out.extend(&sample.bytes));
    out
}

struct Video<'a> {
    stream: &'a Stream,
    width: u32,
    height: u32,
    rate: u32,
    tags: &'a [Tag<'a>],
}

impl Video<'_> {
    fn duration(&self) -> u32 {
        self.stream.samples.len() as u32 * FRAME
    }

    fn write(&self, out: &mut Vec<u8>, first_sample: u64) {
        write_box(out, b"moov", |out| {
            write_full_box(out, b"mvhd", 0, 0, |out| {
                words(out, [0, 0, self.rate, self.duration(), 0x1_0000]);
                out.extend([1, 0]); // Full volume.
                out.extend([0; 10]);
                words(out, UNITY);
                out.extend([0; 24]);
                words(out, [2]); // The next track.
            });
            write_box(out, b"trak", |out| self.track(out, first_sample));
            write_box(out, b"udta", |out| write_tags(out, self.tags));
        });
    }

    fn track(&self, out: &mut Vec<u8>, first_sample: u64) {
        write_full_box(out, b"tkhd", 0, TRACK_FLAGS, |out| {
            words(out, [0, 0, 1, 0, self.duration(), 0, 0, 0, 0]);
            words(out, UNITY);
            words(out, [self.width << 16, self.height << 16]);
        });
        write_box(out, b"mdia", |out| {
            write_full_box(out, b"mdhd", 0, 0, |out| {
                words(out, [0, 0, self.rate, self.duration()]);
                out.extend(UNDETERMINED.to_be_bytes());
                out.extend([0; 2]);
            });
            write_handler(out, b"vide", b"VideoHandler");
            write_box(out, b"minf", |out| {
                write_full_box(out, b"vmhd", 0, 1, |out| out.extend([0; 8]));
                write_box(out, b"dinf", |out| {
                    write_full_box(out, b"dref", 0, 0, |out| {
                        words(out, [1]);
                        write_full_box(out, b"url ", 0, 1, |_| {}); // In this file.
                    });
                });
                write_box(out, b"stbl", |out| self.samples(out, first_sample));
            });
        });
    }

    fn samples(&self, out: &mut Vec<u8>, first_sample: u64) {
        let samples = &self.stream.samples;
        let count = samples.len() as u32;
        write_full_box(out, b"stsd", 0, 0, |out| {
            words(out, [1]);
            write_box(out, b"avc1", |out| self.description(out));
        });
        write_full_box(out, b"stts", 0, 0, |out| words(out, [1, count, FRAME]));
        let keys: Vec<u32> =
            (1..).zip(samples).filter(|(_, sample)| sample.is_key).map(|(number, _)| number).collect();
        write_full_box(out, b"stss", 0, 0, |out| {
            words(out, [keys.len() as u32]);
            words(out, keys);
        });
        write_full_box(out, b"stsc", 0, 0, |out| words(out, [1, 1, count, 1]));
        write_full_box(out, b"stsz", 0, 0, |out| {
            words(out, [0, count]);
            words(out, samples.iter().map(|sample| sample.bytes.len() as u32));
        });
        // There is one chunk, and it starts near the beginning.
        write_full_box(out, b"stco", 0, 0, |out| words(out, [1, first_sample as u32]));
    }

    fn description(&self, out: &mut Vec<u8>) {
        let Stream { width, height, sps, pps, .. } = self.stream;
        out.extend([0, 0, 0, 0, 0, 0, 0, 1]); // The data are in this file.
        out.extend([0; 16]);
        out.extend((*width as u16).to_be_bytes());
        out.extend((*height as u16).to_be_bytes());
        words(out, [0x48_0000, 0x48_0000, 0]); // 72 dpi.
        out.extend([0, 1]);
        out.extend([0; 32]);
        out.extend([0, 24, 255, 255]);
        write_box(out, b"avcC", |out| {
            out.push(1);
            out.extend(&sps[1..4]);
            out.push(0xFC | 3); // Lengths have four bytes.
            for (count, unit) in [(0xE0 | 1, sps), (1, pps)] {
                out.push(count);
                out.extend((unit.len() as u16).to_be_bytes());
                out.extend(unit);
            }
            out.extend([0xFC | 1, 0xF8, 0xF8, 0]); // 4:2:0, 8 bits, no extensions.
        });
        if [*width, *height] != [self.width, self.height] {
            write_box(out, b"clap", |out| {
                let across = (self.width, self.width as i32 - *width as i32);
                let down = (self.height, self.height as i32 - *height as i32);
                words(out, [across.0, 1, down.0, 1, across.1 as u32, 2, down.1 as u32, 2]);
            });
        }
        write_box(out, b"colr", |out| {
            out.extend(b"nclx");
            out.extend([0, 1, 0, 1, 0, 1, 0]); // BT.709, limited range.
        });
        write_box(out, b"pasp", |out| words(out, [1, 1]));
    }
}

/// A handler, which says what the boxes beside it are.
pub(super) fn write_handler(out: &mut Vec<u8>, kind: &[u8; 4], name: &[u8]) {
    write_full_box(out, b"hdlr", 0, 0, |out| {
        words(out, [0]);
        out.extend(kind);
        out.extend([0; 12]);
        out.extend(name);
        out.push(0);
    });
}

fn words(out: &mut Vec<u8>, words: impl IntoIterator<Item = u32>) {
    words.into_iter().for_each(|word| out.extend(word.to_be_bytes()));
}
