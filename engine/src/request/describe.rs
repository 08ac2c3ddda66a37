//! Images that a language model describes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{RequestError, Writing};

/// The most pixels that are read of an image unless something else is asked for, as Qwen's models are usually run.
pub const SEEN: u32 = 1280 * 28 * 28;
/// The most pixels that can be asked for, as published.
pub const MOST_SEEN: u32 = 16_384 * 28 * 28;
/// The least of them.
const LEAST_SEEN: u32 = 56 * 56;
/// One side of an image is at most so many times the other.
const LONGEST_RATIO: u32 = 200;

/// Images, and how they are described. Several are described together, in one text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Describe {
    /// The files.
    pub images: Vec<PathBuf>,
    /// Larger images are made smaller until they have so many pixels.
    pub pixels: u32,
    /// How the text is written.
    pub writing: Writing,
}

impl Default for Describe {
    fn default() -> Self {
        Self { images: Vec::new(), pixels: SEEN, writing: Writing::default() }
    }
}

impl Describe {
    /// Checks everything but the images.
    ///
    /// # Errors
    /// When there is nothing to do, or a number makes no sense.
    pub fn validate(&self) -> Result<(), RequestError> {
        if self.images.is_empty() {
            return Err(RequestError::NothingToDescribe);
        }
        if !(LEAST_SEEN..=MOST_SEEN).contains(&self.pixels) {
            let Self { pixels, .. } = *self;
            return Err(RequestError::SeenPixels { pixels, least: LEAST_SEEN, most: MOST_SEEN });
        }
        self.writing.check()
    }

    /// Checks the width and height of an image.
    ///
    /// # Errors
    /// When it is so narrow that no model is made for it.
    pub fn check_size([width, height]: [u32; 2]) -> Result<(), RequestError> {
        let (shorter, longer) = (width.min(height), width.max(height));
        if longer > shorter.saturating_mul(LONGEST_RATIO) {
            return Err(RequestError::TooNarrow { width, height });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_and_an_instruction_are_needed_and_numbers_have_bounds() {
        let writing = Writing { instruction: "Describe it.".to_owned(), ..Writing::default() };
        let good = Describe { images: vec!["fox.png".into()], writing, ..Describe::default() };
        assert_eq!(good.validate(), Ok(()));
        let none = Describe { images: Vec::new(), ..good.clone() };
        assert_eq!(none.validate(), Err(RequestError::NothingToDescribe));
        let mute = Describe { writing: Writing::default(), ..good.clone() };
        assert_eq!(mute.validate(), Err(RequestError::NoInstruction));
        for pixels in [0, LEAST_SEEN - 1, MOST_SEEN + 1] {
            let refused = Describe { pixels, ..good.clone() }.validate();
            assert!(matches!(refused, Err(RequestError::SeenPixels { .. })), "{pixels}");
        }
        assert_eq!(Describe::check_size([200, 1]), Ok(()));
        assert_eq!(Describe::check_size([4, 801]), Err(RequestError::TooNarrow { width: 4, height: 801 }));
    }
}
