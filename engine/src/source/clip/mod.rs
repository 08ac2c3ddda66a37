//! Input clips: MP4 and MOV with H.264 and folders of images are read here, everything else by the program ffmpeg if it
//! is there.

mod decode;
mod demux;
mod error;
mod folder;
mod piped;
mod sound;
mod tables;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fs::File, ops::Range, path::Path};

use rayon::prelude::*;

use super::fitted;
use crate::{
    output::{Image, Sound, ffmpeg},
    request::{Fit, SourceClip},
};
use decode::Stopped;
use demux::{Coding, Track};

pub use error::ClipError;

/// Most frames that are read at once.
pub const MOST_FRAMES: u32 = 20_000;
/// Frames that are resized at once.
const BATCH: usize = 8;
/// Largest change of the pixels' aspect that is ignored.
const SQUARE: f64 = 0.01;

/// What the header of an MP4 or MOV file says.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipInfo {
    /// Pixels per row as shown: cropped, with square pixels, upright.
    pub width: u32,
    /// Rows as shown.
    pub height: u32,
    /// Frames.
    pub frames: u32,
    /// Seconds.
    pub seconds: f64,
    /// Frames per second, on average.
    pub rate: f64,
    /// Whether it has sound.
    pub has_sound: bool,
    /// Whether reading its frames needs the program ffmpeg.
    pub needs_ffmpeg: bool,
}

impl ClipInfo {
    /// Reads the header of a file. `None` if it is no MP4 or MOV file, whose header only ffmpeg can read.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is damaged or has no video.
    pub fn open(path: &Path) -> Result<Option<Self>, ClipError> {
        let mut file = open_file(path)?;
        Ok(demux::open(path, &mut file)?.map(|track| track.info()))
    }
}

/// Reads the frames of a range as RGB images of this width and height. The range counts frames at `rate` per second,
/// into which clips of another or a variable rate are resampled: each frame is the one that is shown in the middle of
/// its time. Without a rate, the range counts the clip's own frames.
///
/// A folder is a clip at this rate, with an image for each frame.
///
/// The range is cut at the end of the clip. Memory is needed for the returned frames and a few of the clip's own.
///
/// # Errors
/// Fails if the file is missing, damaged, incomplete or without video, if the range is behind its end, or if it needs
/// ffmpeg and that is not there.
pub fn read_clip(
    wanted: &SourceClip,
    rate: Option<f32>,
    (width, height): (u32, u32),
) -> Result<Vec<Image>, ClipError> {
    let path = &wanted.path;
    if path.is_dir() {
        return folder::read_frames(wanted, (width, height));
    }
    let mut file = open_file(path)?;
    let track = match demux::open(path, &mut file)? {
        Some(track) if matches!(track.coding, Coding::H264 { .. }) => track,
        other => {
            let format = match other.map(|track| track.coding) {
                Some(Coding::Other(name)) => name,
                _ => "a clip of another format".to_owned(),
            };
            return by_ffmpeg(wanted, rate, (width, height), format);
        }
    };
    let order = track.shown_order();
    let ticks = Ticks { track: &track, order: &order, rate };
    let range = wanted.range.of(ticks.frames());
    if range.is_empty() {
        let (frames, start) = (ticks.frames(), wanted.range.start);
        return Err(ClipError::BeyondEnd { path: path.clone(), frames, start });
    }
    if range.len() > MOST_FRAMES as usize {
        return Err(ClipError::TooLong { path: path.clone(), frames: range.len() as u32 });
    }
    // Several frames of the result may be one of the clip.
    let numbers: Vec<usize> = range.map(|frame| ticks.sample(frame)).collect();
    let mut distinct = numbers.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let mut decoded = BTreeMap::new();
    let mut waiting = Vec::with_capacity(BATCH);
    // Resizing takes longer than decoding, and frames do not depend on each other there.
    let mut resize = |waiting: &mut Vec<(usize, Image)>| {
        let resized: Vec<(usize, Image)> = waiting
            .par_drain(..)
            .map(|(number, frame)| (number, fitted(&track.upright(frame), wanted.fit, width, height)))
            .collect();
        decoded.extend(resized);
    };
    let result = decode::decode(path, &mut file, &track, &distinct, |number, frame| {
        waiting.push((number, frame));
        if waiting.len() == BATCH {
            resize(&mut waiting);
        }
    });
    resize(&mut waiting);
    match result {
        Ok(()) => {}
        Err(Stopped::Unsupported) => {
            let format = "H.264 video with unusual features".to_owned();
            return by_ffmpeg(wanted, rate, (width, height), format);
        }
        Err(Stopped::Failed(error)) => return Err(error),
    }
    let missing = || demux::damaged(path, "a frame is missing");
    // Those that are shown more than once follow each other.
    let frames = numbers.iter().enumerate().map(|(place, number)| {
        let is_last = numbers.get(place + 1) != Some(number);
        let frame = if is_last { decoded.remove(number) } else { decoded.get(number).cloned() };
        frame.ok_or_else(missing)
    });
    frames.collect()
}

/// The number of frames in a range of a clip, counted at `rate` per second; `None` if only ffmpeg can read it.
///
/// # Errors
/// Fails if the file cannot be read, is damaged or has no video.
pub fn count_frames(wanted: &SourceClip, rate: f32) -> Result<Option<u32>, ClipError> {
    let path = &wanted.path;
    let frames = if path.is_dir() {
        Some(folder::files(path)?.len() as u32)
    } else {
        let track = demux::open(path, &mut open_file(path)?)?;
        track.filter(|track| matches!(track.coding, Coding::H264 { .. })).map(|track| {
            let order = track.shown_order();
            Ticks { track: &track, order: &order, rate: Some(rate) }.frames()
        })
    };
    Ok(frames.map(|frames| wanted.range.of(frames).len() as u32))
}

/// The sound of a part of a clip, in seconds from its first frame. `None` if it has none, or none that MP4 files of
/// Sluice can have: in MP4 and MOV files, AAC and MP3.
///
/// # Errors
/// Fails if the file cannot be read or is damaged.
pub fn read_sound(path: &Path, seconds: Range<f64>) -> Result<Option<Sound>, ClipError> {
    if path.is_dir() {
        return Ok(None);
    }
    let mut file = open_file(path)?;
    let Some(track) = demux::open(path, &mut file)? else { return Ok(None) };
    let Some(sound) = &track.sound else { return Ok(None) };
    let order = track.shown_order();
    let start = track.starts_at(order.first().map_or(0, |&first| track.samples[first].shown_at));
    sound.part(path, &mut file, start + seconds.start..start + seconds.end)
}

fn open_file(path: &Path) -> Result<File, ClipError> {
    let failed = |cause| ClipError::Read { path: path.to_owned(), cause };
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(failed(std::io::ErrorKind::IsADirectory.into()));
    }
    Ok(file)
}

fn by_ffmpeg(
    wanted: &SourceClip,
    rate: Option<f32>,
    (width, height): (u32, u32),
    format: String,
) -> Result<Vec<Image>, ClipError> {
    let path = &wanted.path;
    let program = ffmpeg::find().ok_or(ClipError::NeedsFfmpeg { path: path.clone(), format })?;
    let mut frames = Vec::new();
    let end = Some(wanted.range.end.unwrap_or(u32::MAX).min(wanted.range.start.saturating_add(MOST_FRAMES)));
    let read = piped::read(&program, path, rate, end, |number, frame| {
        if number >= wanted.range.start {
            frames.push(fitted(&frame, wanted.fit, width, height));
        }
    })?;
    if frames.is_empty() {
        return Err(match read {
            0 => ClipError::NoFrames { path: path.clone() },
            frames => ClipError::BeyondEnd { path: path.clone(), frames, start: wanted.range.start },
        });
    }
    Ok(frames)
}

/// When frames are shown at a rate.
struct Ticks<'a> {
    track: &'a Track,
    /// Numbers of the frames in the order in which they are shown.
    order: &'a [usize],
    rate: Option<f32>,
}

impl Ticks<'_> {
    fn first(&self) -> i64 {
        self.order.first().map_or(0, |&number| self.track.samples[number].shown_at)
    }

    /// The number of frames at this rate.
    fn frames(&self) -> u32 {
        match self.rate {
            None => self.order.len() as u32,
            Some(rate) => (self.track.seconds(self.order) * f64::from(rate)).round().max(1.0) as u32,
        }
    }

    /// The clip's own frame for a frame at this rate.
    fn sample(&self, frame: u32) -> usize {
        let place = match self.rate {
            None => frame as usize,
            Some(rate) => {
                let seconds = (f64::from(frame) + 0.5) / f64::from(rate);
                let time = (seconds * f64::from(self.track.timescale)).round() as i64;
                let time = self.first().saturating_add(time);
                let after = self.order.partition_point(|&number| self.track.samples[number].shown_at <= time);
                after.saturating_sub(1)
            }
        };
        self.order[place.min(self.order.len() - 1)]
    }
}

impl Track {
    /// Numbers of the frames in the order in which they are shown.
    fn shown_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..self.samples.len()).filter(|&number| self.samples[number].is_shown).collect();
        order.sort_by_key(|&number| self.samples[number].shown_at);
        order
    }

    /// From the start of the first to the end of the last frame.
    fn seconds(&self, order: &[usize]) -> f64 {
        let (Some(&first), Some(&last)) = (order.first(), order.last()) else { return 0.0 };
        let (first, last) = (&self.samples[first], &self.samples[last]);
        let ticks = last.shown_at.saturating_add(last.duration.into()).saturating_sub(first.shown_at);
        ticks.max(0) as f64 / f64::from(self.timescale)
    }

    /// Size as shown, before turning.
    fn square_size(&self) -> [u32; 2] {
        let [width, height] = match &self.shown {
            Some(shown) => [0, 1].map(|side| shown[side].end - shown[side].start),
            None => self.coded,
        };
        let is_square = (self.pixel_aspect - 1.0).abs() < SQUARE;
        let wider = (f64::from(width) * self.pixel_aspect).round().max(1.0) as u32;
        [if is_square { width } else { wider }, height]
    }

    fn info(&self) -> ClipInfo {
        let [width, height] = self.square_size();
        let (width, height) = if self.turns % 2 == 1 { (height, width) } else { (width, height) };
        let order = self.shown_order();
        let seconds = self.seconds(&order);
        let rate = if seconds > 0.0 { order.len() as f64 / seconds } else { 0.0 };
        let (frames, has_sound) = (order.len() as u32, self.has_sound);
        let needs_ffmpeg = !matches!(self.coding, Coding::H264 { .. });
        ClipInfo { width, height, frames, seconds, rate, has_sound, needs_ffmpeg }
    }

    /// A decoded frame as it is shown: cropped, with square pixels, and turned.
    fn upright(&self, frame: Image) -> Image {
        let frame = match &self.shown {
            Some(shown) if [frame.width, frame.height] == self.coded => cropped(&frame, shown),
            _ => frame,
        };
        let [width, height] = self.square_size();
        let frame = if frame.width == width { frame } else { fitted(&frame, Fit::Stretch, width, height) };
        turned(frame, self.turns)
    }
}

fn cropped(frame: &Image, [columns, rows]: &[Range<u32>; 2]) -> Image {
    let row_bytes = 3 * frame.width as usize;
    let (from, to) = (3 * columns.start as usize, 3 * columns.end as usize);
    let rows = rows.start as usize..rows.end as usize;
    let height = rows.len() as u32;
    let pixels = rows.flat_map(|row| &frame.pixels[row * row_bytes + from..row * row_bytes + to]);
    Image::opaque(columns.end - columns.start, height, pixels.copied().collect())
}

/// A frame after quarter turns clockwise.
fn turned(frame: Image, turns: u8) -> Image {
    let (width, height) = (frame.width as usize, frame.height as usize);
    let pixels = frame.pixels.as_chunks::<3>().0;
    let (new_width, new_height) = if turns % 2 == 1 { (height, width) } else { (width, height) };
    let source = |row: usize, column: usize| match turns {
        1 => (height - 1 - column) * width + row,
        2 => (height - 1 - row) * width + width - 1 - column,
        _ => column * width + width - 1 - row,
    };
    if turns == 0 {
        return frame;
    }
    let pixels = (0..new_height)
        .flat_map(|row| (0..new_width).map(move |column| (row, column)))
        .flat_map(|(row, column)| pixels[source(row, column)])
        .collect();
    Image::opaque(new_width as u32, new_height as u32, pixels)
}
