//! The sound track of an MP4 or MOV file.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    ops::Range,
    path::Path,
};

use super::{
    ClipError,
    demux::{edit, word},
    tables::{Sample, sample_table},
};
use crate::output::{
    Packet, Sound, Timing,
    mp4::{Boxes, child, full},
    sound::{Part, described, units},
};

/// Most bytes of sound that are copied.
const MOST_BYTES: u64 = 256 << 20;
/// Bytes of a description of sound before its boxes, and how many more its versions 1 and 2 in MOV files have.
const DESCRIPTION: usize = 28;
const MORE: [usize; 3] = [0, 16, 36];

/// Sound whose packets can be copied into another file.
#[derive(Debug)]
pub(super) struct SoundTrack {
    channels: u16,
    rate: u32,
    description: Vec<u8>,
    timescale: u32,
    samples: Vec<Sample>,
    /// In time of the movie.
    timing: Timing,
}

impl SoundTrack {
    /// The track in a box `trak`. `None` if it is damaged, or neither AAC nor MP3.
    pub fn read(trak: &[u8], moov: &[u8], file_length: u64) -> Option<Self> {
        let (version, rest) = full(child(trak, &[b"mdia", b"mdhd"])?)?;
        let timescale = word(rest, if version == 1 { 16 } else { 8 }).filter(|scale| *scale > 0)?;
        let stsd = full(child(trak, &[b"mdia", b"minf", b"stbl", b"stsd"])?)?.1;
        let (kind, entry) = Boxes(stsd.get(4..)?).next()?;
        if &kind != b"mp4a" {
            return None;
        }
        let half = |at: usize| Some(u16::from_be_bytes(*entry.get(at..)?.first_chunk()?));
        let boxes = entry.get(DESCRIPTION + MORE.get(usize::from(half(8)?))?..)?;
        let description = child(boxes, &[b"esds"]).or_else(|| child(boxes, &[b"wave", b"esds"]))?;
        described(description)?;
        let samples = sample_table(trak, file_length).filter(|samples| !samples.is_empty())?;
        let all: u64 = samples.iter().map(|sample| u64::from(sample.duration)).sum();
        let (heard, delay) = match edit(trak, moov, timescale) {
            Some(edit) => {
                let [start, end] = [edit.part.start, edit.part.end].map(|time| time.max(0) as u64);
                (start..end.min(all), edit.delay)
            }
            None => (0..all, 0.0),
        };
        let timing = Timing { heard, delay: units(0.0..delay, timescale).end };
        let description = description.to_vec();
        Some(Self {
            channels: half(16)?,
            rate: word(entry, 24)? >> 16,
            description,
            timescale,
            samples,
            timing,
        })
    }

    /// The sound of a part of the movie, in seconds. `None` if nothing is heard there.
    pub fn part(
        &self,
        path: &Path,
        file: &mut File,
        seconds: Range<f64>,
    ) -> Result<Option<Sound>, ClipError> {
        let durations = self.samples.iter().map(|sample| sample.duration);
        let Some(Part { packets, timing }) = self.timing.part(durations, units(seconds, self.timescale))
        else {
            return Ok(None);
        };
        let samples = self.samples.get(packets).unwrap_or_default();
        let failed = |cause| ClipError::Read { path: path.to_owned(), cause };
        if samples.iter().map(|sample| u64::from(sample.size)).sum::<u64>() > MOST_BYTES {
            return Err(failed(io::ErrorKind::FileTooLarge.into()));
        }
        let mut bytes = Vec::new();
        for sample in samples {
            file.seek(SeekFrom::Start(sample.offset)).map_err(failed)?;
            let read = file.by_ref().take(sample.size.into()).read_to_end(&mut bytes).map_err(failed)?;
            if (read as u64) < sample.size.into() {
                return Err(failed(io::ErrorKind::UnexpectedEof.into()));
            }
        }
        let packet = |sample: &Sample| Packet { size: sample.size, duration: sample.duration };
        Ok(Some(Sound {
            channels: self.channels,
            rate: self.rate,
            description: self.description.clone(),
            timescale: self.timescale,
            packets: samples.iter().map(packet).collect(),
            bytes,
            timing,
        }))
    }
}
