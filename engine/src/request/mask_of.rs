//! A mask of what points and a box show in an image.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::RequestError;

/// An image, and what shows the part of it that a mask is made of. All places are in pixels of the image.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MaskOf {
    /// The image.
    pub image: PathBuf,
    /// Points in the part and beside it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<MaskPoint>,
    /// Left, top, right and bottom of a box around the part.
    #[serde(default, rename = "box", skip_serializing_if = "Option::is_none")]
    pub area: Option<[u32; 4]>,
}

/// A point in the part that a mask is made of, or beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MaskPoint {
    /// Its column.
    pub x: u32,
    /// Its row.
    pub y: u32,
    /// Whether it is in the part.
    pub inside: bool,
}

impl MaskOf {
    /// Checks it for an image of this width and height.
    ///
    /// # Errors
    /// When nothing shows what is meant, or something is not in the image.
    pub fn validate(&self, [width, height]: [u32; 2]) -> Result<(), RequestError> {
        if self.area.is_none() && !self.points.iter().any(|point| point.inside) {
            return Err(RequestError::NothingToMask);
        }
        if let Some(MaskPoint { x, y, .. }) =
            self.points.iter().find(|point| point.x >= width || point.y >= height)
        {
            return Err(RequestError::MaskPointOutside { x: *x, y: *y, width, height });
        }
        match self.area {
            Some([left, top, right, bottom])
                if left >= right || top >= bottom || right > width || bottom > height =>
            {
                Err(RequestError::MaskBox { left, top, right, bottom, width, height })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_meant_must_be_shown_and_in_the_image() {
        let point = |x, y, inside| MaskPoint { x, y, inside };
        let of = |points: &[MaskPoint], area| MaskOf { points: points.to_vec(), area, ..MaskOf::default() };
        let size = [40, 30];
        assert_eq!(of(&[point(39, 29, true)], None).validate(size), Ok(()));
        assert_eq!(of(&[], Some([0, 0, 40, 30])).validate(size), Ok(()));
        assert_eq!(of(&[], None).validate(size), Err(RequestError::NothingToMask));
        assert_eq!(of(&[point(3, 3, false)], None).validate(size), Err(RequestError::NothingToMask));
        let outside = RequestError::MaskPointOutside { x: 40, y: 3, width: 40, height: 30 };
        assert_eq!(of(&[point(1, 1, true), point(40, 3, false)], None).validate(size), Err(outside));
        for area in [[5, 5, 5, 9], [5, 9, 8, 9], [0, 0, 41, 30], [0, 0, 40, 31]] {
            let refused = of(&[], Some(area)).validate(size);
            assert!(matches!(refused, Err(RequestError::MaskBox { .. })), "{area:?}");
        }
    }
}
