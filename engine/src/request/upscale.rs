//! Enlarging an image or a clip.

use std::{ops::RangeInclusive, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{LONGEST_SIDE, Request, RequestError};

/// What a scale may be.
pub const SCALES: RangeInclusive<f32> = 1.0..=4.0;

/// What is enlarged, and how much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Upscale {
    /// The image or the clip.
    pub path: PathBuf,
    /// How many times as wide and as high the result is. If the model has another factor, its result is resized.
    pub scale: f32,
}

impl Upscale {
    /// Width and height of the result for an input of this width and height.
    pub fn size(&self, input: [u32; 2]) -> [u32; 2] {
        input.map(|side| ((side as f32 * self.scale).round() as u32).max(1))
    }

    /// Checks the scale and the size of the result, which is that of the request.
    pub(crate) fn validate(&self, request: &Request) -> Result<(), RequestError> {
        if !SCALES.contains(&self.scale) {
            return Err(RequestError::Scale(self.scale));
        }
        for (side, pixels) in [("width", request.width), ("height", request.height)] {
            if pixels > LONGEST_SIDE {
                return Err(RequestError::SideTooLong { side, pixels, longest: LONGEST_SIDE });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_scaled_and_never_vanish() {
        let upscale = |scale| Upscale { path: "a.png".into(), scale };
        assert_eq!(upscale(1.5).size([101, 1]), [152, 2]);
        assert_eq!(upscale(1.0).size([7, 1]), [7, 1]);
        for (scale, is_valid) in [(1.0, true), (4.0, true), (0.5, false), (4.5, false), (f32::NAN, false)] {
            let request = Request { upscale: Some(upscale(scale)), ..Request::default() };
            assert_eq!(upscale(scale).validate(&request).is_ok(), is_valid, "{scale}");
        }
        let large = Request { width: LONGEST_SIDE + 1, ..Request::default() };
        assert!(upscale(2.0).validate(&large).is_err());
    }
}
