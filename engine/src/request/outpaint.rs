//! What is added around an input image.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::RequestError;

/// Pixels that are added to the sides of the input image and generated, before it is fitted to the requested size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Outpaint {
    /// On the left.
    pub left: u32,
    /// Above.
    pub top: u32,
    /// On the right.
    pub right: u32,
    /// Below.
    pub bottom: u32,
    /// Feather: pixels of the image at those sides over which it fades into what is generated.
    pub feather: u32,
}

impl Default for Outpaint {
    fn default() -> Self {
        Self { left: 0, top: 0, right: 0, bottom: 0, feather: Self::USUAL_FEATHER }
    }
}

impl Outpaint {
    /// The feather that hides most seams.
    pub const USUAL_FEATHER: u32 = 24;
    /// The most pixels on a side.
    pub const MOST: u32 = 4096;

    /// Left, top, right and bottom.
    pub fn sides(&self) -> [u32; 4] {
        [self.left, self.top, self.right, self.bottom]
    }

    /// Whether nothing is added.
    pub fn is_empty(&self) -> bool {
        self.sides() == [0; 4]
    }

    /// Width and height of an image with what is added to it.
    pub fn extended(&self, [width, height]: [u32; 2]) -> [u32; 2] {
        let sum = |length: u32, before: u32, after: u32| length.saturating_add(before).saturating_add(after);
        [sum(width, self.left, self.right), sum(height, self.top, self.bottom)]
    }

    pub(super) fn validate(&self) -> Result<(), RequestError> {
        match self.sides().into_iter().chain([self.feather]).max() {
            Some(pixels) if pixels > Self::MOST => Err(RequestError::Outpaint(pixels)),
            _ => Ok(()),
        }
    }
}

/// `128` for all sides, or `left,top,right,bottom`.
impl fmt::Display for Outpaint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [left, top, right, bottom] = self.sides();
        match left == top && top == right && right == bottom {
            true => write!(formatter, "{left}"),
            false => write!(formatter, "{left},{top},{right},{bottom}"),
        }
    }
}

/// What is not the sides of [`Outpaint`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write one number of pixels for all sides, or four: left,top,right,bottom, such as 0,0,256,0")]
pub struct NoSides;

impl FromStr for Outpaint {
    type Err = NoSides;

    fn from_str(text: &str) -> Result<Self, NoSides> {
        let numbers: Result<Vec<u32>, _> = text.split(',').map(|number| number.trim().parse()).collect();
        let [left, top, right, bottom] = match numbers.map_err(|_| NoSides)?[..] {
            [all] => [all; 4],
            [left, top, right, bottom] => [left, top, right, bottom],
            _ => return Err(NoSides),
        };
        Ok(Self { left, top, right, bottom, ..Self::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_read_as_they_are_written() {
        for (text, sides) in [("128", [128; 4]), ("0,0,256,0", [0, 0, 256, 0]), ("1, 2, 3, 4", [1, 2, 3, 4])]
        {
            let outpaint: Outpaint = text.parse().unwrap();
            assert_eq!(outpaint.sides(), sides);
            assert_eq!(outpaint.to_string().parse(), Ok(outpaint));
        }
        for text in ["", "1,2", "1,2,3", "a", "-1", "1,2,3,4,5"] {
            assert_eq!(text.parse::<Outpaint>(), Err(NoSides), "{text}");
        }
    }

    #[test]
    fn so_much_is_never_added() {
        let outpaint = |left| Outpaint { left, ..Outpaint::default() };
        assert_eq!(outpaint(Outpaint::MOST).validate(), Ok(()));
        assert_eq!(outpaint(Outpaint::MOST + 1).validate(), Err(RequestError::Outpaint(4097)));
        assert_eq!(outpaint(8).extended([u32::MAX, 4]), [u32::MAX, 4]);
    }
}
