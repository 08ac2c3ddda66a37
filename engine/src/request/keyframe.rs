//! Images at chosen frames of a clip.

use std::{fmt, path::PathBuf, str::FromStr};

use serde::{Deserialize, Serialize};

use super::RequestError;

/// An image at a frame of a clip after the first; written as `40=image.png`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyframe {
    /// The frame, counted from 0.
    pub frame: u32,
    /// The file of the image, which is fitted like the first image.
    pub path: PathBuf,
}

impl fmt::Display for Keyframe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.frame, self.path.display())
    }
}

/// A text that is not a keyframe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("write the number of the frame, = and the file, such as 40=image.png")]
pub struct NoKeyframe;

impl FromStr for Keyframe {
    type Err = NoKeyframe;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (frame, path) = text.split_once('=').ok_or(NoKeyframe)?;
        let frame = frame.trim().parse().map_err(|_| NoKeyframe)?;
        if path.is_empty() {
            return Err(NoKeyframe);
        }
        Ok(Self { frame, path: path.into() })
    }
}

/// Checks that keyframes are different frames after the first of a clip with so many frames, the last of which may have
/// an image of its own.
pub(super) fn validate(
    keyframes: &[Keyframe],
    has_last_image: bool,
    frames: u32,
) -> Result<(), RequestError> {
    for (index, Keyframe { frame, .. }) in keyframes.iter().enumerate() {
        if !(1..frames).contains(frame) {
            return Err(RequestError::KeyframeOutside { frame: *frame, last: frames.saturating_sub(1) });
        }
        let is_last = has_last_image && *frame == frames - 1;
        if is_last || keyframes[..index].iter().any(|other| other.frame == *frame) {
            return Err(RequestError::KeyframeTwice(*frame));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyframes_are_read_and_written() {
        let keyframe: Keyframe = "40=a=b.png".parse().unwrap();
        assert_eq!(keyframe, Keyframe { frame: 40, path: "a=b.png".into() });
        assert_eq!(keyframe.to_string().parse::<Keyframe>().unwrap(), keyframe);
        for text in ["", "a.png", "x=a.png", "-1=a.png", "3="] {
            assert!(text.parse::<Keyframe>().is_err(), "{text}");
        }
    }

    #[test]
    fn keyframes_are_different_frames_after_the_first() {
        let at = |frame| Keyframe { frame, path: "a.png".into() };
        assert_eq!(validate(&[at(1), at(8)], false, 9), Ok(()));
        assert_eq!(validate(&[at(1), at(7)], true, 9), Ok(()));
        assert_eq!(validate(&[at(1), at(8)], true, 9), Err(RequestError::KeyframeTwice(8)));
        for frame in [0, 9] {
            let outside = RequestError::KeyframeOutside { frame, last: 8 };
            assert_eq!(validate(&[at(1), at(frame)], false, 9), Err(outside));
        }
        assert_eq!(validate(&[at(3), at(3)], false, 9), Err(RequestError::KeyframeTwice(3)));
    }
}
