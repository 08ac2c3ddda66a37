//! Writes an MP4 file with a video track and maybe sound: `ftyp`, `moov`, `mdat`, so that players can start before they
//! have all of it. The sound comes first in `mdat`.

use super::{
    boxes::{write_box, write_full_box},
    tags::{Tag, write_tags},
};
use crate::output::{Sound, h264::Stream};

/// Units of time per frame: with a time scale of the frame rate in thousandths, every frame takes as many.
const FRAME: u32 = 1000;
/// Numbers of the tracks.
const VIDEO: u32 = 1;
const SOUND: u32 = 2;
/// Enabled, in the movie, in its preview.
const TRACK_FLAGS: u32 = 7;
/// The language `und` in three times five bits.
const UNDETERMINED: u16 = 0x55C4;
const UNITY: [u32; 9] = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];

/// A file with the frames of a stream, `rate` in 1000 seconds, and sound. `width` and `height` are those to show, at most
/// those of the stream.
pub fn mux(
    stream: &Stream,
    sound: Option<&Sound>,
    [width, height]: [u32; 2],
    rate: u32,
    tags: &[Tag],
) -> Vec<u8> {
    let mut out = Vec::new();
    write_box(&mut out, b"ftyp", |out| {
        out.extend(b"isom");
        out.extend(512_u32.to_be_bytes());
        out.extend(b"isomiso2avc1mp41");
    });
    // The place of the frames is known once the size of `moov` is, which does not depend on it.
    let movie = Movie { stream, sound, width, height, rate, tags };
    let mut moov = Vec::new();
    movie.write(&mut moov, 0);
    let sound = sound.map_or(&[][..], |sound| &sound.bytes);
    let frames: u64 = stream.samples.iter().map(|sample| sample.bytes.len() as u64).sum();
    let data = frames + sound.len() as u64;
    let is_large = data + 8 > u32::MAX.into();
    let first = out.len() + moov.len() + if is_large { 16 } else { 8 };
    movie.write(&mut out, first as u64);
    if is_large {
        out.extend(1_u32.to_be_bytes());
        out.extend(b"mdat");
        out.extend((data + 16).to_be_bytes());
    } else {
        out.extend((data as u32 + 8).to_be_bytes());
        out.extend(b"mdat");
    }
    out.extend(sound);
    stream.samples.iter().for_each(|sample| out.extend(&sample.bytes));
    out
}

struct Movie<'a> {
    stream: &'a Stream,
    sound: Option<&'a Sound>,
    width: u32,
    height: u32,
    rate: u32,
    tags: &'a [Tag<'a>],
}

impl Movie<'_> {
    fn duration(&self) -> u32 {
        self.stream.samples.len() as u32 * FRAME
    }

    /// Writes `moov` for data that start at `first`.
    fn write(&self, out: &mut Vec<u8>, first: u64) {
        write_box(out, b"moov", |out| {
            write_full_box(out, b"mvhd", 0, 0, |out| {
                words(out, [0, 0, self.rate, self.duration(), 0x1_0000]);
                out.extend([1, 0]); // Full volume.
                out.extend([0; 10]);
                words(out, UNITY);
                out.extend([0; 24]);
                words(out, [SOUND + 1]); // The next track.
            });
            let sound = self.sound.map_or(0, |sound| sound.bytes.len() as u64);
            write_box(out, b"trak", |out| self.track(out, first + sound));
            if let Some(sound) = self.sound {
                write_box(out, b"trak", |out| sound_track(out, sound, self.rate, first));
            }
            write_box(out, b"udta", |out| write_tags(out, self.tags));
        });
    }

    fn track(&self, out: &mut Vec<u8>, first_sample: u64) {
        write_full_box(out, b"tkhd", 0, TRACK_FLAGS, |out| {
            words(out, [0, 0, VIDEO, 0, self.duration(), 0, 0, 0, 0]);
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
                write_place(out);
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

/// A track of packets that start at `first`. `movie_scale` is the number of units of time of the movie in a second.
fn sound_track(out: &mut Vec<u8>, sound: &Sound, movie_scale: u32, first: u64) {
    let Sound { timescale, packets, timing, .. } = sound;
    let of_movie = |units: u64| {
        let scaled = u128::from(units) * u128::from(movie_scale) / u128::from((*timescale).max(1));
        u32::try_from(scaled).unwrap_or(u32::MAX)
    };
    let heard = of_movie(timing.heard.end - timing.heard.start);
    let delay = of_movie(timing.delay);
    write_full_box(out, b"tkhd", 0, TRACK_FLAGS, |out| {
        words(out, [0, 0, SOUND, 0, delay.saturating_add(heard), 0, 0, 1, 0x100_0000]); // Full volume.
        words(out, UNITY);
        words(out, [0, 0]);
    });
    write_box(out, b"edts", |out| {
        write_full_box(out, b"elst", 0, 0, |out| {
            words(out, [if delay > 0 { 2 } else { 1 }]);
            if delay > 0 {
                words(out, [delay, u32::MAX, 0x1_0000]); // Nothing.
            }
            words(out, [heard, timing.heard.start as u32, 0x1_0000]);
        });
    });
    write_box(out, b"mdia", |out| {
        write_full_box(out, b"mdhd", 0, 0, |out| {
            let duration: u64 = packets.iter().map(|packet| u64::from(packet.duration)).sum();
            words(out, [0, 0, *timescale, duration as u32]);
            out.extend(UNDETERMINED.to_be_bytes());
            out.extend([0; 2]);
        });
        write_handler(out, b"soun", b"SoundHandler");
        write_box(out, b"minf", |out| {
            write_full_box(out, b"smhd", 0, 0, |out| out.extend([0; 4]));
            write_place(out);
            write_box(out, b"stbl", |out| packet_tables(out, sound, first));
        });
    });
}

fn packet_tables(out: &mut Vec<u8>, sound: &Sound, first: u64) {
    let count = sound.packets.len() as u32;
    write_full_box(out, b"stsd", 0, 0, |out| {
        words(out, [1]);
        write_box(out, b"mp4a", |out| {
            out.extend([0, 0, 0, 0, 0, 0, 0, 1]); // The data are in this file.
            out.extend([0; 8]);
            out.extend(sound.channels.to_be_bytes());
            out.extend([0, 16, 0, 0, 0, 0]); // 16 bits when decoded.
            // The field ends at 65 535; the description has the number in any case.
            words(out, [u16::try_from(sound.rate).map_or(0, |rate| u32::from(rate) << 16)]);
            write_box(out, b"esds", |out| out.extend(&sound.description));
        });
    });
    write_full_box(out, b"stts", 0, 0, |out| {
        let runs: Vec<_> = sound.packets.chunk_by(|a, b| a.duration == b.duration).collect();
        words(out, [runs.len() as u32]);
        runs.iter().for_each(|run| words(out, [run.len() as u32, run[0].duration]));
    });
    write_full_box(out, b"stsc", 0, 0, |out| words(out, [1, 1, count, 1]));
    write_full_box(out, b"stsz", 0, 0, |out| {
        words(out, [0, count]);
        words(out, sound.packets.iter().map(|packet| packet.size));
    });
    write_full_box(out, b"stco", 0, 0, |out| words(out, [1, first as u32]));
}

/// Says that the data are in this file.
fn write_place(out: &mut Vec<u8>) {
    write_box(out, b"dinf", |out| {
        write_full_box(out, b"dref", 0, 0, |out| {
            words(out, [1]);
            write_full_box(out, b"url ", 0, 1, |_| {});
        });
    });
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
