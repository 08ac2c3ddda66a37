//! Errors about input clips.

use std::{io, path::PathBuf};

use crate::units::without_numbers;

/// Why an input clip cannot be used. [`ClipError::advice`] says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum ClipError {
    /// The file cannot be read.
    #[error("the clip {} cannot be read: {}", path.display(), without_numbers(&cause.to_string()))]
    Read {
        /// Which file.
        path: PathBuf,
        /// The system error.
        cause: io::Error,
    },
    /// The file has the name of a clip, and is none.
    #[error("{} is not a clip that can be read", path.display())]
    NotAClip {
        /// Which file.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error("the clip {} is damaged: {detail}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// The details.
        detail: String,
    },
    /// The file ends before the frames that are needed.
    #[error("the clip {} is incomplete: it ends after frame {readable} of {frames}", path.display())]
    Truncated {
        /// Which file.
        path: PathBuf,
        /// Frames that are whole.
        readable: u32,
        /// Frames that should be there.
        frames: u32,
    },
    /// The file ends before its list of frames.
    #[error("the clip {} is incomplete: its list of frames is missing", path.display())]
    NoIndex {
        /// Which file.
        path: PathBuf,
    },
    /// There is only sound.
    #[error("{} has no video", path.display())]
    NoVideo {
        /// Which file.
        path: PathBuf,
    },
    /// The video has no frames.
    #[error("the video in {} has no frames", path.display())]
    NoFrames {
        /// Which file.
        path: PathBuf,
    },
    /// The range starts after the last frame.
    #[error("the clip {} has {frames} frames, so frame {start} is not in it", path.display())]
    BeyondEnd {
        /// Which file.
        path: PathBuf,
        /// Frames that it has at the frame rate.
        frames: u32,
        /// The first frame of the range.
        start: u32,
    },
    /// The range has fewer frames than the run needs.
    #[error("{frames} frames of {} are too few: {needed} are needed", path.display())]
    TooShort {
        /// Which file.
        path: PathBuf,
        /// Frames in the range, at the frame rate of the request.
        frames: u32,
        /// Frames that are needed.
        needed: u32,
    },
    /// The range has more frames than can be read at once.
    #[error("{frames} frames of {} are too many; {} can be read at once", path.display(), super::MOST_FRAMES)]
    TooLong {
        /// Which file.
        path: PathBuf,
        /// Frames in the range.
        frames: u32,
    },
    /// The frames are larger than any model can use.
    #[error("the frames of {} are too large: {width}×{height} pixels", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// Pixels in a row.
        width: u32,
        /// Rows.
        height: u32,
    },
    /// Sluice has no decoder for it, and ffmpeg is not there.
    #[error("{} is {format}, which Sluice reads with the program ffmpeg, and ffmpeg is not on the PATH", path.display())]
    NeedsFfmpeg {
        /// Which file.
        path: PathBuf,
        /// What it is, such as `HEVC video`.
        format: String,
    },
    /// ffmpeg cannot read it either.
    #[error("ffmpeg cannot read {}: {detail}", path.display())]
    Ffmpeg {
        /// Which file.
        path: PathBuf,
        /// What it said.
        detail: String,
    },
}

impl ClipError {
    /// What the user can do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Read { .. } => "Choose a file that exists and that you are allowed to read.",
            Self::Damaged { .. } | Self::NoIndex { .. } => {
                "Use the original file: this copy may be the result of an interrupted transfer."
            }
            Self::Truncated { .. } => "Use the original file, or a range of frames that are there.",
            Self::NotAClip { .. } => "Choose an MP4 or MOV clip.",
            Self::NoVideo { .. } | Self::NoFrames { .. } => "Choose a file with video.",
            Self::BeyondEnd { .. } => "Choose frames that are in the clip.",
            Self::TooShort { .. } => "Use fewer frames, a longer range, or a longer clip.",
            Self::TooLong { .. } => "Choose a shorter range of frames.",
            Self::TooLarge { .. } => "Scale the clip down first.",
            Self::NeedsFfmpeg { .. } => "Install ffmpeg, or convert the clip to MP4 with H.264.",
            Self::Ffmpeg { .. } => "Convert the clip to MP4 with H.264.",
        }
    }
}
