//! The input clip of a request.

use std::{fmt, ops::Range, path::PathBuf, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{Fit, RequestError};

/// An input clip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceClip {
    /// Its file: MP4 or MOV with H.264; any other with the program ffmpeg.
    pub path: PathBuf,
    /// The frames to use, counted at the frame rate of the request.
    pub range: FrameRange,
    /// Denoising strength, above 0 and at most 1: the higher it is, the less of the clip is left. Without meaning for a
    /// clip that is extended.
    pub strength: f64,
    /// Whether the clip is continued from its last frames, and not changed.
    pub extends: bool,
    /// How its frames are fitted to the requested size.
    pub fit: Fit,
}

impl Default for SourceClip {
    fn default() -> Self {
        Self {
            path: PathBuf::new(),
            range: FrameRange::default(),
            strength: 0.6,
            extends: false,
            fit: Fit::default(),
        }
    }
}

impl SourceClip {
    /// Checks what can be checked without the file and the model.
    pub fn validate(&self) -> Result<(), RequestError> {
        if !(self.strength > 0.0 && self.strength <= 1.0) {
            return Err(RequestError::Strength(self.strength));
        }
        if self.range.end.is_some_and(|end| end <= self.range.start) {
            return Err(RequestError::FrameRange(self.range));
        }
        Ok(())
    }
}

/// Frames of a clip, counted from 0; written as `0..48`, `12..` or `..48`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FrameRange {
    /// The first frame.
    pub start: u32,
    /// The frame after the last one; all frames if absent.
    pub end: Option<u32>,
}

impl FrameRange {
    /// The part of a clip with this many frames; empty if the clip is shorter.
    pub fn of(self, frames: u32) -> Range<u32> {
        let end = self.end.unwrap_or(frames).min(frames);
        self.start.min(end)..end
    }
}

impl fmt::Display for FrameRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end {
            Some(end) => write!(f, "{}..{end}", self.start),
            None => write!(f, "{}..", self.start),
        }
    }
}

/// A text that is not a range of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write the first frame, two dots and the frame after the last one, such as 0..48 or 12..")]
pub struct NoFrameRange;

impl FromStr for FrameRange {
    type Err = NoFrameRange;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (start, end) = text.split_once("..").ok_or(NoFrameRange)?;
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| NoFrameRange);
        Ok(Self {
            start: if start.trim().is_empty() { 0 } else { number(start)? },
            end: if end.trim().is_empty() { None } else { Some(number(end)?) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_and_written() {
        for (text, start, end) in
            [("0..48", 0, Some(48)), ("12..", 12, None), ("..9", 0, Some(9)), ("..", 0, None)]
        {
            let range: FrameRange = text.parse().unwrap();
            assert_eq!(range, FrameRange { start, end });
            assert_eq!(range.to_string().parse::<FrameRange>().unwrap(), range);
        }
        for text in ["", "3", "a..b", "-1..3", "1..2..3"] {
            assert!(text.parse::<FrameRange>().is_err(), "{text}");
        }
        let range = FrameRange { start: 4, end: Some(9) };
        assert_eq!((range.of(20), range.of(6), range.of(2)), (4..9, 4..6, 2..2));
    }

    #[test]
    fn an_empty_range_is_refused() {
        let range = FrameRange { start: 4, end: Some(4) };
        let clip = SourceClip { range, ..SourceClip::default() };
        assert_eq!(clip.validate(), Err(RequestError::FrameRange(range)));
        assert!(SourceClip { strength: 0.0, ..SourceClip::default() }.validate().is_err());
        assert_eq!(SourceClip::default().validate(), Ok(()));
    }
}
