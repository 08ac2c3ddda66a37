//! The video track of an MP4 or MOV file: where its frames are, when they are shown, and how.
//!
//! Every number comes from the file, so every sum is checked, and no table is larger than the file.

use std::{fs::File, io, ops::Range, path::Path};

use super::{
    ClipError,
    sound::SoundTrack,
    tables::{Fragments, Sample, sample_table},
};
use crate::output::{
    Sps,
    mp4::{Boxes, child, children, full, read_box, top_boxes},
};

/// Most bytes of an index.
const LARGEST_INDEX: u64 = 256 << 20;
/// Macroblocks per frame of the largest level.
const LARGEST_FRAME: u64 = 139_264;
/// Bytes of a sample description before its boxes.
const DESCRIPTION: usize = 78;
/// One, in the matrix of a track.
const ONE: i32 = 0x1_0000;

/// The video track of a file.
#[derive(Debug)]
pub(super) struct Track {
    /// The frames in the order of decoding.
    pub samples: Vec<Sample>,
    /// Units of time in a second.
    pub timescale: u32,
    /// What decodes it.
    pub coding: Coding,
    /// Pixels per row and rows as coded.
    pub coded: [u32; 2],
    /// Columns and rows to show, of those that were coded.
    pub shown: Option<[Range<u32>; 2]>,
    /// Width of a pixel in heights of a pixel.
    pub pixel_aspect: f64,
    /// Quarter turns clockwise.
    pub turns: u8,
    /// Whether the file has sound.
    pub has_sound: bool,
    /// Sound that can be copied.
    pub sound: Option<SoundTrack>,
    /// Bytes of the file.
    pub file_length: u64,
    /// The part of the time to show, in units of time.
    edit: Option<Edit>,
}

/// When a track is shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Edit {
    /// The part of its time that is shown, in its units.
    pub part: Range<i64>,
    /// Seconds of nothing before it.
    pub delay: f64,
}

/// How frames are coded.
#[derive(Debug)]
pub(super) enum Coding {
    /// H.264 in 4:2:0 with 8 bits.
    H264 {
        /// Parameter sets, with start codes.
        headers: Vec<u8>,
        /// What they say.
        sps: Sps,
        /// Bytes of the length before each unit.
        length_bytes: u8,
        /// The colour matrix that the file names besides, as in H.273.
        matrix: Option<u32>,
    },
    /// Anything else, by name.
    Other(String),
}

/// The video track of a file, or `None` if it is no MP4 or MOV file.
pub(super) fn open(path: &Path, file: &mut File) -> Result<Option<Track>, ClipError> {
    let owned = || path.to_owned();
    let failed = |cause: io::Error| match cause.kind() {
        io::ErrorKind::UnexpectedEof => ClipError::NoIndex { path: owned() },
        io::ErrorKind::FileTooLarge => damaged(path, "its list of frames is too large"),
        _ => ClipError::Read { path: owned(), cause },
    };
    let found = top_boxes(file).map_err(failed)?;
    let known = [b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"];
    if !found.boxes.first().is_some_and(|first| known.contains(&&first.kind)) {
        return Ok(None);
    }
    let Some(moov) = found.boxes.iter().find(|found| &found.kind == b"moov") else {
        return Err(ClipError::NoIndex { path: owned() });
    };
    let file_length = file.metadata().map_err(failed)?.len();
    let moov = read_box(file, *moov, LARGEST_INDEX).map_err(failed)?;
    let sound = children(&moov, b"trak").filter(|trak| handler(trak) == Some(*b"soun"));
    let mut sound = sound.peekable();
    let has_sound = sound.peek().is_some();
    let trak = children(&moov, b"trak").find(|trak| handler(trak) == Some(*b"vide"));
    let trak = trak.ok_or_else(|| ClipError::NoVideo { path: owned() })?;
    let incomplete = || damaged(path, "a part of its index is missing");
    let mut track = track(trak, &moov).ok_or_else(incomplete)?;
    track.file_length = file_length;
    track.has_sound = has_sound;
    track.sound = sound.find_map(|trak| SoundTrack::read(trak, &moov, file_length));
    track.samples = sample_table(trak, file_length).ok_or_else(incomplete)?;
    let id = track_id(trak).ok_or_else(incomplete)?;
    let mut fragments = Fragments::new(&moov, id);
    for moof in found.boxes.iter().filter(|found| &found.kind == b"moof") {
        let payload = match read_box(file, *moof, LARGEST_INDEX) {
            // A recording that was cut off keeps what comes before.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
            result => result.map_err(failed)?,
        };
        fragments.append(&payload, moof.start, &mut track.samples).ok_or_else(incomplete)?;
    }
    if track.samples.is_empty() {
        return Err(ClipError::NoFrames { path: owned() });
    }
    if let Coding::H264 { sps, .. } = &track.coding {
        let blocks = u64::from(sps.coded_width.div_ceil(16)) * u64::from(sps.coded_height.div_ceil(16));
        if blocks > LARGEST_FRAME {
            return Err(ClipError::TooLarge { path: owned(), width: sps.width, height: sps.height });
        }
    }
    track.trim();
    Ok(Some(track))
}

pub(super) fn damaged(path: &Path, detail: &str) -> ClipError {
    ClipError::Damaged { path: path.to_owned(), detail: detail.to_owned() }
}

/// What a track is.
fn handler(trak: &[u8]) -> Option<[u8; 4]> {
    child(trak, &[b"mdia", b"hdlr"])?.get(8..)?.first_chunk().copied()
}

fn track_id(trak: &[u8]) -> Option<u32> {
    let (version, rest) = full(child(trak, &[b"tkhd"])?)?;
    word(rest, if version == 1 { 16 } else { 8 })
}

fn track(trak: &[u8], moov: &[u8]) -> Option<Track> {
    let (version, rest) = full(child(trak, &[b"mdia", b"mdhd"])?)?;
    let timescale = word(rest, if version == 1 { 16 } else { 8 })?;
    if timescale == 0 {
        return None;
    }
    let (version, rest) = full(child(trak, &[b"tkhd"])?)?;
    let matrix = if version == 1 { 48 } else { 36 };
    let turns = match [0, 4, 12, 16].map(|at| word(rest, matrix + at).unwrap_or(0) as i32) {
        [0, ONE, b, 0] if b == -ONE => 1,
        [a, 0, 0, d] if a == -ONE && d == -ONE => 2,
        [0, b, ONE, 0] if b == -ONE => 3,
        _ => 0,
    };
    let stsd = full(child(trak, &[b"mdia", b"minf", b"stbl", b"stsd"])?)?.1;
    let (kind, description) = Boxes(stsd.get(4..)?).next()?;
    let boxes = description.get(DESCRIPTION..).unwrap_or_default();
    let side = |at: usize| {
        description.get(at..).and_then(|rest| rest.first_chunk()).map(|side| u16::from_be_bytes(*side))
    };
    let coding = coding(kind, boxes);
    let coded = match &coding {
        Coding::H264 { sps, .. } => [sps.width, sps.height],
        Coding::Other(_) => [side(24)?.into(), side(26)?.into()],
    };
    Some(Track {
        samples: Vec::new(),
        timescale,
        coding,
        coded,
        shown: child(boxes, &[b"clap"]).and_then(|clap| aperture(clap, coded)),
        pixel_aspect: child(boxes, &[b"pasp"]).and_then(pixel_aspect).unwrap_or(1.0),
        turns,
        has_sound: false,
        sound: None,
        file_length: 0,
        edit: edit(trak, moov, timescale),
    })
}

fn coding(kind: [u8; 4], boxes: &[u8]) -> Coding {
    let other = |name: &str| Coding::Other(name.to_owned());
    match &kind {
        b"avc1" | b"avc3" => h264(boxes).unwrap_or_else(|| other("H.264 video of an unusual form")),
        b"hvc1" | b"hev1" => other("HEVC video"),
        b"av01" => other("AV1 video"),
        b"vp08" | b"vp09" => other("VP8 or VP9 video"),
        b"mp4v" => other("MPEG-4 video"),
        b"apch" | b"apcn" | b"apcs" | b"apco" | b"ap4h" | b"ap4x" => other("ProRes video"),
        _ => Coding::Other(format!("video in the format “{}”", kind.escape_ascii())),
    }
}

/// H.264 that can be decoded here; anything else under its name.
fn h264(boxes: &[u8]) -> Option<Coding> {
    let avcc = child(boxes, &[b"avcC"])?;
    let length_bytes = avcc.get(4)? % 4 + 1;
    let mut rest = avcc.get(5..)?;
    let (mut headers, mut first) = (Vec::new(), None);
    for mask in [31, 255] {
        let (count, mut units) = rest.split_first()?;
        for _ in 0..count & mask {
            let (length, after) = units.split_first_chunk()?;
            let (unit, after) = after.split_at_checked(u16::from_be_bytes(*length).into())?;
            headers.extend([0, 0, 0, 1]);
            headers.extend(unit);
            first = first.or_else(|| Sps::parse(unit));
            units = after;
        }
        rest = units;
    }
    let sps = first?;
    if sps.depth > 8 {
        return Some(Coding::Other(format!("H.264 video with {} bits", sps.depth)));
    }
    let chroma = ["no colours", "4:2:0", "4:2:2", "4:4:4"];
    if sps.chroma != 1 {
        let chroma = chroma.get(sps.chroma as usize).unwrap_or(&"unknown colours");
        return Some(Coding::Other(format!("H.264 video with {chroma}")));
    }
    if sps.interlaced {
        return Some(Coding::Other("interlaced H.264 video".to_owned()));
    }
    let colour = child(boxes, &[b"colr"]).filter(|colour| colour.starts_with(b"ncl"));
    let matrix = colour.and_then(|colour| colour.get(8..)?.first_chunk());
    let matrix = matrix.map(|matrix| u16::from_be_bytes(*matrix).into());
    Some(Coding::H264 { headers, sps, length_bytes, matrix })
}

fn pixel_aspect(pasp: &[u8]) -> Option<f64> {
    let (across, down) = (word(pasp, 0)?, word(pasp, 4)?);
    let aspect = f64::from(across) / f64::from(down);
    (0.1..=10.0).contains(&aspect).then_some(aspect)
}

/// The clean aperture: columns and rows.
fn aperture(clap: &[u8], coded: [u32; 2]) -> Option<[Range<u32>; 2]> {
    let fraction = |at: usize| {
        let (over, under) = (word(clap, at)? as i32, word(clap, at + 4)? as i32);
        (under != 0).then(|| f64::from(over) / f64::from(under))
    };
    let side = |at: usize, coded: u32| {
        let (length, shift) = (fraction(at)?, fraction(at + 16)?);
        let start = ((f64::from(coded) - length) / 2.0 + shift).round();
        let (start, end) = (start, start + length.round());
        let fits = start >= 0.0 && end <= f64::from(coded) && start < end;
        fits.then_some(start as u32..end as u32)
    };
    Some([side(0, coded[0])?, side(8, coded[1])?])
}

/// The part of the time that the first edit shows.
pub(super) fn edit(trak: &[u8], moov: &[u8], timescale: u32) -> Option<Edit> {
    let (version, rest) = full(child(moov, &[b"mvhd"])?)?;
    let movie_scale = word(rest, if version == 1 { 16 } else { 8 })?;
    let (version, rest) = full(child(trak, &[b"edts", b"elst"])?)?;
    let count = word(rest, 0)? as usize;
    let entry_bytes = if version == 1 { 20 } else { 12 };
    let edits = rest.get(4..)?.chunks_exact(entry_bytes).take(count).map(|entry| {
        let (duration, start) = if version == 1 {
            (long(entry, 0)?, long(entry, 8)? as i64)
        } else {
            (word(entry, 0)?.into(), (word(entry, 4)? as i32).into())
        };
        Some((duration, start))
    });
    // An edit that starts nowhere is a pause; more than one part is not supported and shows everything.
    let (pauses, parts): (Vec<_>, Vec<(u64, i64)>) =
        edits.map_while(|edit| edit).partition(|(_, start)| *start < 0);
    let [(duration, start)] = parts[..] else { return None };
    let delay =
        pauses.iter().map(|(duration, _)| *duration as f64).sum::<f64>() / f64::from(movie_scale.max(1));
    let length = i128::from(duration) * i128::from(timescale) / i128::from(movie_scale.max(1));
    let end = if duration == 0 { i64::MAX } else { start.checked_add(i64::try_from(length).ok()?)? };
    Some(Edit { part: start..end, delay })
}

impl Track {
    /// When the first frame is shown, in seconds of the movie.
    pub(super) fn starts_at(&self, first: i64) -> f64 {
        let (from, delay) = self.edit.as_ref().map_or((0, 0.0), |edit| (edit.part.start, edit.delay));
        delay + first.saturating_sub(from).max(0) as f64 / f64::from(self.timescale)
    }

    /// Leaves frames that no one sees out of the display: they have no time.
    fn trim(&mut self) {
        let Some(Edit { part: edit, .. }) = &self.edit else { return };
        let is_seen = |sample: &Sample| {
            sample.shown_at.saturating_add(sample.duration.into()) > edit.start && sample.shown_at < edit.end
        };
        if self.samples.iter().any(is_seen) {
            self.samples.iter_mut().for_each(|sample| sample.is_shown = is_seen(sample));
        }
    }
}

pub(super) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|word| u32::from_be_bytes(*word))
}

pub(super) fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|word| u64::from_be_bytes(*word))
}
