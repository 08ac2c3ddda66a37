//! Image prompts: images that a network reads beside the prompt, through an IP-Adapter.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{
    RequestError,
    control_net::{is_part_of_run, levels_between},
};

/// An IP-Adapter (Ye et al. 2023, arXiv:2308.06721) with the images that are read through it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImagePrompt {
    /// Its file.
    pub adapter: PathBuf,
    /// The images, of which the middle is read.
    pub images: Vec<PathBuf>,
    /// How strongly they count; 1 is as trained.
    pub weight: f32,
    /// The fraction of the steps before which they are not read.
    pub start: f64,
    /// The fraction of the steps after which they are not read.
    pub end: f64,
}

impl Default for ImagePrompt {
    fn default() -> Self {
        Self { adapter: PathBuf::new(), images: Vec::new(), weight: 1.0, start: 0.0, end: 1.0 }
    }
}

impl ImagePrompt {
    /// Most of them in a request.
    pub const MOST: usize = 4;
    /// Most images of one.
    pub const MOST_IMAGES: usize = 8;
    /// Largest weight.
    pub const LARGEST_WEIGHT: f32 = 2.0;

    /// Checks what can be checked without the files and the model.
    pub(super) fn validate(&self) -> Result<(), RequestError> {
        if self.images.is_empty() || self.images.iter().any(|image| image.as_os_str().is_empty()) {
            return Err(RequestError::ImagePromptWithoutImage);
        }
        if self.images.len() > Self::MOST_IMAGES {
            return Err(RequestError::TooManyPromptImages(self.images.len()));
        }
        if !(0.0..=Self::LARGEST_WEIGHT).contains(&self.weight) {
            return Err(RequestError::ImagePromptWeight(self.weight));
        }
        if !is_part_of_run(self.start..self.end) {
            return Err(RequestError::ImagePromptRange { start: self.start, end: self.end });
        }
        Ok(())
    }

    /// The noise levels at which they are read, as those of a [ControlNet](super::ControlNet::levels).
    pub fn levels(&self, sigmas: &[f32]) -> [f32; 2] {
        levels_between(self.start..self.end, sigmas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_ranges_and_numbers_out_of_bounds_are_refused() {
        assert_eq!(ImagePrompt::default().validate(), Err(RequestError::ImagePromptWithoutImage));
        let usual = ImagePrompt { images: vec!["fox.png".into()], ..ImagePrompt::default() };
        assert_eq!(usual.validate(), Ok(()));
        for weight in [-0.1, 2.5, f32::NAN] {
            let prompt = ImagePrompt { weight, ..usual.clone() };
            assert!(matches!(prompt.validate(), Err(RequestError::ImagePromptWeight(_))), "{weight}");
        }
        for (start, end) in [(0.5, 0.5), (-0.1, 1.0), (0.0, 1.1), (0.6, 0.4), (f64::NAN, 1.0)] {
            let prompt = ImagePrompt { start, end, ..usual.clone() };
            assert!(matches!(prompt.validate(), Err(RequestError::ImagePromptRange { .. })), "{start} {end}");
        }
        let many = ImagePrompt { images: vec!["fox.png".into(); 9], ..usual };
        assert_eq!(many.validate(), Err(RequestError::TooManyPromptImages(9)));
    }
}
