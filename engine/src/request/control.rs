//! What controls a clip, in models made for it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Fit, FrameRange, RequestError, SourceClip};

/// What controls a clip besides the prompt and the reference images: a clip of depths, poses or lines, or one of which
/// parts are generated anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Control {
    /// The controlling clip: a file, or a folder with an image for each frame.
    pub video: Option<PathBuf>,
    /// The frames of it to use, counted at the frame rate of the request.
    pub range: FrameRange,
    /// Its mask, white where the clip only controls, and black where its pixels stay: a clip, or an image for all
    /// frames.
    pub mask: Option<PathBuf>,
    /// How strongly it and the reference images control; 1 is as trained.
    pub strength: f32,
    /// How frames are fitted to the requested size.
    pub fit: Fit,
}

impl Default for Control {
    fn default() -> Self {
        Self { video: None, range: FrameRange::default(), mask: None, strength: 1.0, fit: Fit::default() }
    }
}

/// Largest strength.
pub const STRONGEST_CONTROL: f32 = 10.0;

impl Control {
    /// Its clip.
    pub fn clip(&self) -> Option<SourceClip> {
        self.video.clone().map(|path| self.clip_of(path))
    }

    /// The clip of a file, in the same range.
    pub fn clip_of(&self, path: PathBuf) -> SourceClip {
        SourceClip { path, range: self.range, fit: self.fit, ..SourceClip::default() }
    }

    /// Checks what can be checked without the files and the model.
    pub fn validate(&self) -> Result<(), RequestError> {
        if !(0.0..=STRONGEST_CONTROL).contains(&self.strength) {
            return Err(RequestError::ControlStrength(self.strength));
        }
        if self.video.is_none() && self.mask.is_some() {
            return Err(RequestError::MaskWithoutControl);
        }
        if self.range.end.is_some_and(|end| end <= self.range.start) {
            return Err(RequestError::FrameRange(self.range));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_without_a_clip_and_strengths_out_of_range_are_refused() {
        let video = Control { video: Some("poses.mp4".into()), ..Control::default() };
        assert_eq!(video.validate(), Ok(()));
        let mask = Control { mask: Some("mask.png".into()), ..Control::default() };
        assert_eq!(mask.validate(), Err(RequestError::MaskWithoutControl));
        let strong = Control { strength: f32::NAN, ..video };
        assert!(matches!(strong.validate(), Err(RequestError::ControlStrength(_))));
    }
}
