//! What controls a clip, in models made for it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{
    Fit, FrameRange, Preprocessor, RequestError, SourceClip,
    control_net::{is_part_of_run, levels_between},
};
use crate::checkpoint::MapKind;

/// What controls a clip besides the prompt and the reference images: a clip of depths, poses or lines, or one of which
/// parts are generated anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Control {
    /// The controlling clip: a file, or a folder with an image for each frame.
    pub video: Option<PathBuf>,
    /// The frames of it to use, counted at the frame rate of the request.
    pub range: FrameRange,
    /// What is made of each frame of it first; one of [those for clips](Preprocessor::of_clips).
    pub preprocessor: Preprocessor,
    /// Its mask, white where the clip only controls, and black where its pixels stay: a clip, or an image for all
    /// frames.
    pub mask: Option<PathBuf>,
    /// How strongly it and the reference images control; 1 is as trained.
    pub strength: f32,
    /// The fraction of the steps before which they have no effect.
    pub start: f64,
    /// The fraction of the steps after which they have no effect.
    pub end: f64,
    /// How frames are fitted to the requested size.
    pub fit: Fit,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            video: None,
            range: FrameRange::default(),
            preprocessor: Preprocessor::default(),
            mask: None,
            strength: 1.0,
            start: 0.0,
            end: 1.0,
            fit: Fit::default(),
        }
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

    /// The kind of map that a network makes of each frame of its clip.
    pub fn estimated(&self) -> Option<MapKind> {
        self.video.as_ref().and(self.preprocessor.estimated())
    }

    /// Whether it has an effect in all steps.
    pub fn is_felt_always(&self) -> bool {
        self.start <= 0.0 && self.end >= 1.0
    }

    /// The noise levels at which it has an effect: those of the steps that lie between its start and its end, from
    /// above the first number up to the second. `sigmas` are those of the steps, and the last step's final one.
    pub fn levels(&self, sigmas: &[f32]) -> [f32; 2] {
        levels_between(self.start..self.end, sigmas)
    }

    /// Checks what can be checked without the files and the model.
    ///
    /// # Errors
    /// When a number is out of range, or something is given that needs a clip or another kind of input.
    pub fn validate(&self) -> Result<(), RequestError> {
        if !(0.0..=STRONGEST_CONTROL).contains(&self.strength) {
            return Err(RequestError::ControlStrength(self.strength));
        }
        if !is_part_of_run(self.start..self.end) {
            return Err(RequestError::ControlRange { start: self.start, end: self.end });
        }
        if self.video.is_none() && self.mask.is_some() {
            return Err(RequestError::MaskWithoutControl);
        }
        if self.video.is_none() && self.preprocessor != Preprocessor::None {
            return Err(RequestError::PreprocessorWithoutControl);
        }
        if self.preprocessor.takes_input() {
            return Err(RequestError::ControlPreprocessor(self.preprocessor.name()));
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
    use crate::request::Request;

    fn of_clip() -> Control {
        Control { video: Some("poses.mp4".into()), ..Control::default() }
    }

    #[test]
    fn masks_without_a_clip_and_strengths_out_of_range_are_refused() {
        let video = of_clip();
        assert_eq!(video.validate(), Ok(()));
        let mask = Control { mask: Some("mask.png".into()), ..Control::default() };
        assert_eq!(mask.validate(), Err(RequestError::MaskWithoutControl));
        let strong = Control { strength: f32::NAN, ..video };
        assert!(matches!(strong.validate(), Err(RequestError::ControlStrength(_))));
    }

    #[test]
    fn starts_and_ends_between_which_there_is_nothing_are_refused() {
        for (start, end) in [(0.5, 0.5), (-0.1, 1.0), (0.0, 1.1), (0.6, 0.4), (f64::NAN, 1.0)] {
            let control = Control { start, end, ..of_clip() };
            assert!(matches!(control.validate(), Err(RequestError::ControlRange { .. })), "{start} {end}");
        }
        let half = Control { end: 0.5, ..of_clip() };
        assert_eq!(half.validate(), Ok(()));
        assert_eq!(half.levels(&[8.0, 4.0, 2.0, 1.0, 0.0]), [2.0, 8.0]);
        assert!(!half.is_felt_always() && of_clip().is_felt_always());
    }

    #[test]
    fn preprocessors_are_for_clips() {
        for preprocessor in Preprocessor::of_clips() {
            let control = Control { preprocessor, ..of_clip() };
            assert_eq!(control.validate(), Ok(()), "{preprocessor:?}");
            let alone = Control { video: None, ..control };
            let refused = alone.validate() == Err(RequestError::PreprocessorWithoutControl);
            assert_eq!(refused, preprocessor != Preprocessor::None, "{preprocessor:?}");
            assert_eq!(alone.estimated(), None);
        }
        let input = Control { preprocessor: Preprocessor::Inpaint, ..of_clip() };
        assert_eq!(input.validate(), Err(RequestError::ControlPreprocessor("inpaint")));
    }

    #[test]
    fn each_frame_has_a_map_and_needs_what_makes_it() {
        let control = Some(Control { preprocessor: Preprocessor::Depth, ..of_clip() });
        let mut request = Request { frames: 9, control, ..Request::default() };
        assert_eq!(request.validate_inputs(), Err(RequestError::NoMapEstimator(MapKind::Depth)));
        assert_eq!([MapKind::Depth, MapKind::Pose].map(|kind| request.maps_made(kind)), [9, 0]);
        request.estimators.insert(MapKind::Depth, "depth.safetensors".into());
        assert_eq!(request.validate_inputs(), Ok(()));
    }

    #[test]
    fn older_settings_read_as_before() {
        let read: Control = serde_json::from_str(r#"{"video": "poses.mp4", "strength": 0.5}"#).unwrap();
        assert_eq!(read, Control { strength: 0.5, ..of_clip() });
    }
}
