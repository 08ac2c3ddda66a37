//! Regions: parts of an image with prompts of their own.

use std::{fmt, path::PathBuf, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{Request, RequestError};

/// Parts of an image with prompts of their own, as Latent Couple of A1111's web UI and masked conditionings of ComfyUI have
/// them: in each step there is a prediction for each prompt, and each counts in its part of the image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Regions {
    /// The regions. Where several overlap, they share the place by their weights.
    pub all: Vec<Region>,
    /// How much the prompt of the image counts inside of regions, from 0 to 1. Outside, it counts alone.
    pub base: f32,
    /// The part of the shorter side over which a region fades in at its edges, from 0 to 0.5.
    pub fade: f32,
}

/// A part of an image, and what is in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Region {
    /// Describes what is in it.
    pub prompt: String,
    /// Where it is.
    pub area: Area,
    /// How strongly it counts where regions overlap, above 0.
    pub weight: f32,
}

/// Where a region is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// Left, top, width and height, as parts of the width and height of the image.
    Box([f32; 4]),
    /// The white part of an image in this file, which is stretched to the size of the image.
    Mask(PathBuf),
}

impl Default for Regions {
    fn default() -> Self {
        Self { all: Vec::new(), base: 0.2, fade: 0.05 }
    }
}

impl Default for Region {
    fn default() -> Self {
        Self { prompt: String::new(), area: Area::Box([0.0, 0.0, 1.0, 1.0]), weight: 1.0 }
    }
}

/// How far the right and the lower edge of a box may be outside: sums of parts such as 0.7 and 0.3 are not exact.
const ROUNDED: f32 = 1e-4;

impl Area {
    /// The file of its mask.
    pub fn mask(&self) -> Option<&PathBuf> {
        match self {
            Self::Box(_) => None,
            Self::Mask(path) => Some(path),
        }
    }

    /// Whether it has a size, and is inside of the image.
    fn is_inside(&self) -> bool {
        let Self::Box([left, top, width, height]) = *self else { return true };
        let along = |start: f32, length: f32| start >= 0.0 && length > 0.0 && start + length <= 1.0 + ROUNDED;
        along(left, width) && along(top, height)
    }
}

impl fmt::Display for Area {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Box([left, top, width, height]) => write!(f, "{left},{top},{width},{height}"),
            Self::Mask(path) => path.display().fmt(f),
        }
    }
}

/// The text is neither a box nor the path of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected left, top, width and height between 0 and 1, such as 0,0,0.5,1, or the file of a mask")]
pub struct NoArea;

impl FromStr for Area {
    type Err = NoArea;

    /// Four numbers are a box, everything else is a file.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers: Option<Vec<f32>> = text.split(',').map(|number| number.trim().parse().ok()).collect();
        match numbers.as_deref() {
            None if text.trim().is_empty() => Err(NoArea),
            None => Ok(Self::Mask(text.into())),
            Some(&[left, top, width, height]) => Ok(Self::Box([left, top, width, height])),
            Some(_) => Err(NoArea),
        }
    }
}

impl Regions {
    /// Most of them in an image.
    pub const MOST: usize = 8;
    /// The largest weight.
    pub const STRONGEST: f32 = 10.0;
    /// The widest fading.
    pub const WIDEST_FADE: f32 = 0.5;

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl Request {
    /// The prompts that describe what is seen: that of the image, and those of its regions.
    pub fn positive_prompts(&self) -> impl Iterator<Item = &str> {
        let regions = self.regions.all.iter().map(|region| region.prompt.as_str());
        std::iter::once(self.prompt.as_str()).chain(regions)
    }

    /// Checks what can be checked of its regions without their files and the model.
    pub(super) fn validate_regions(&self) -> Result<(), RequestError> {
        let Regions { all, base, fade } = &self.regions;
        if all.is_empty() {
            return Ok(());
        }
        if all.len() > Regions::MOST {
            return Err(RequestError::TooManyRegions(all.len()));
        }
        if !(0.0..=1.0).contains(base) {
            return Err(RequestError::RegionBase(*base));
        }
        if !(0.0..=Regions::WIDEST_FADE).contains(fade) {
            return Err(RequestError::RegionFade(*fade));
        }
        let mask = self.source.as_ref().and_then(|source| source.mask.as_ref());
        if mask.is_some_and(|mask| mask.only_masked.is_some()) {
            return Err(RequestError::RegionsOfPart);
        }
        for (number, Region { prompt, area, weight }) in (1..).zip(all) {
            if prompt.trim().is_empty() {
                return Err(RequestError::RegionWithoutPrompt(number));
            }
            if !area.is_inside() {
                return Err(RequestError::RegionArea(area.to_string()));
            }
            if !(*weight > 0.0 && *weight <= Regions::STRONGEST) {
                return Err(RequestError::RegionWeight(*weight));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{SourceImage, SourceMask};

    fn region(prompt: &str, area: &str) -> Region {
        Region { prompt: prompt.to_owned(), area: area.parse().unwrap(), ..Region::default() }
    }

    fn with(all: Vec<Region>) -> Request {
        Request { regions: Regions { all, ..Regions::default() }, ..Request::default() }
    }

    #[test]
    fn areas_are_read_as_they_are_written() {
        let half = Area::Box([0.0, 0.0, 0.5, 1.0]);
        assert_eq!(half.to_string().parse(), Ok(half));
        assert_eq!(" 0.25, 0, .5, 1".parse(), Ok(Area::Box([0.25, 0.0, 0.5, 1.0])));
        assert_eq!("masks/left,right.png".parse(), Ok(Area::Mask("masks/left,right.png".into())));
        for wrong in ["", " ", "0,0,1", "0,0,1,1,1", "0.5"] {
            assert_eq!(wrong.parse::<Area>(), Err(NoArea), "{wrong}");
        }
    }

    #[test]
    fn regions_that_make_no_sense_are_refused() {
        let fox = || region("a fox", "0.7,0,0.3,1");
        assert_eq!(with(vec![fox(), region("an owl", "owl.png")]).validate_regions(), Ok(()));
        for (all, error) in [
            (vec![fox(); 9], RequestError::TooManyRegions(9)),
            (vec![fox(), region(" ", "0,0,1,1")], RequestError::RegionWithoutPrompt(2)),
            (vec![region("a fox", "0.8,0,0.3,1")], RequestError::RegionArea("0.8,0,0.3,1".into())),
            (vec![region("a fox", "0,0,0,1")], RequestError::RegionArea("0,0,0,1".into())),
            (vec![region("a fox", "0,NaN,1,1")], RequestError::RegionArea("0,NaN,1,1".into())),
            (vec![Region { weight: 0.0, ..fox() }], RequestError::RegionWeight(0.0)),
        ] {
            assert_eq!(with(all).validate_regions(), Err(error));
        }
        let with_base = |base, fade| {
            let regions = Regions { all: vec![fox()], base, fade };
            Request { regions, ..Request::default() }.validate_regions()
        };
        assert_eq!(with_base(1.5, 0.0), Err(RequestError::RegionBase(1.5)));
        assert_eq!(with_base(0.0, 0.6), Err(RequestError::RegionFade(0.6)));
        let mask = SourceMask { only_masked: Some(32), ..SourceMask::default() };
        let source = Some(SourceImage { mask: Some(mask), ..SourceImage::default() });
        let part = Request { source, ..with(vec![fox()]) };
        assert_eq!(part.validate_regions(), Err(RequestError::RegionsOfPart));
    }

    #[test]
    fn the_prompt_of_the_image_comes_first() {
        let request = Request { prompt: "a wood".to_owned(), ..with(vec![region("a fox", "0,0,1,1")]) };
        assert_eq!(request.positive_prompts().collect::<Vec<_>>(), ["a wood", "a fox"]);
    }
}
