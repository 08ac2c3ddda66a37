//! Putting frames between those of a clip.

use std::{ops::RangeInclusive, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{Request, RequestError};

/// How many times as many frames there may be.
pub const FACTORS: RangeInclusive<u32> = 2..=8;

/// How many frames are put between those of a clip, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interpolation {
    /// How many times as many frames there are, and how many times as many in a second.
    pub factor: u32,
    /// Whether frames are made across cuts to another scene, too. Otherwise the last frame before a cut is repeated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub across_cuts: bool,
}

/// The clip that gets more frames.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Interpolate {
    /// Its file.
    pub path: PathBuf,
    /// How many, and where.
    pub how: Interpolation,
}

/// What makes a generated clip smoother.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Smooth {
    /// The file of the network.
    pub model: PathBuf,
    /// How many frames it makes, and where.
    pub how: Interpolation,
}

impl Smooth {
    /// Checks that there is a clip, and the factor.
    pub(super) fn validate(&self, frames: u32) -> Result<(), RequestError> {
        if frames <= 1 { Err(RequestError::SmoothsImage) } else { self.how.validate() }
    }
}

impl Interpolation {
    /// So many times as many frames, and none across cuts.
    pub fn times(factor: u32) -> Self {
        Self { factor, across_cuts: false }
    }

    /// The number of frames of a clip that had so many. The last one is repeated, so that the clip is as long as before.
    pub fn frames(self, frames: u32) -> u32 {
        frames.saturating_mul(self.factor)
    }

    /// Checks the factor.
    pub(crate) fn validate(self) -> Result<(), RequestError> {
        if FACTORS.contains(&self.factor) {
            Ok(())
        } else {
            Err(RequestError::InterpolationFactor(self.factor))
        }
    }
}

impl Interpolate {
    /// Checks the factor, and that there is something between the frames, whose number in the request is that of the result.
    pub(crate) fn validate(&self, request: &Request) -> Result<(), RequestError> {
        self.how.validate()?;
        if request.frames <= self.how.factor { Err(RequestError::NothingBetween) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_and_single_frames_are_checked() {
        let checked = |factor: u32, frames: u32| {
            let how = Interpolation::times(factor);
            let wanted = Interpolate { path: "a.mp4".into(), how };
            let frames = how.frames(frames);
            wanted.validate(&Request { interpolate: Some(wanted.clone()), frames, ..Request::default() })
        };
        assert_eq!(Interpolation::times(4).frames(25), 100);
        for factor in FACTORS {
            assert!(checked(factor, 2).is_ok());
            assert!(matches!(checked(factor, 1), Err(RequestError::NothingBetween)));
        }
        let smooth = Smooth { model: "rife.safetensors".into(), how: Interpolation::times(2) };
        assert!(smooth.validate(5).is_ok());
        assert!(matches!(smooth.validate(1), Err(RequestError::SmoothsImage)));
        for factor in [0, 1, 9] {
            assert!(matches!(checked(factor, 2), Err(RequestError::InterpolationFactor(_))));
        }
    }
}
