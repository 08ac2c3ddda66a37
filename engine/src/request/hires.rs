//! Hires fix: what is generated is enlarged and denoised again.

use std::{convert::Infallible, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{ModelSource, Request, RequestError, SCALES, SourceImage};

/// The hires fix of A1111's web UI: an image is generated in the size of the request, enlarged, and denoised again, so that
/// it may be larger than what the model was trained for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Hires {
    /// How many times as wide and as high the result is.
    pub scale: f32,
    /// Denoising strength of the second pass, above 0 and at most 1.
    pub strength: f64,
    /// Steps of the second pass, of which the strength leaves some out; as many as in the first pass if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// What enlarges the image.
    pub enlarger: Enlarger,
}

/// What enlarges an image between two passes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Enlarger {
    /// Its latents are enlarged bilinearly. Below a denoising strength of about 0.5 the result is blurred.
    Latent,
    /// It is decoded, enlarged by an upscaler, and encoded again.
    Upscaler(ModelSource),
}

impl Default for Hires {
    fn default() -> Self {
        Self { scale: 2.0, strength: 0.5, steps: None, enlarger: Enlarger::default() }
    }
}

impl Default for Enlarger {
    fn default() -> Self {
        Self::Upscaler(ModelSource::Upscaler)
    }
}

impl Enlarger {
    /// The name that stands for latents on the command line.
    pub const LATENT: &str = "latent";

    /// The upscaler, if it is one.
    pub fn upscaler(&self) -> Option<&ModelSource> {
        match self {
            Self::Latent => None,
            Self::Upscaler(model) => Some(model),
        }
    }
}

impl FromStr for Enlarger {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            Self::LATENT => Ok(Self::Latent),
            model => Ok(Self::Upscaler(model.parse()?)),
        }
    }
}

impl fmt::Display for Enlarger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latent => f.write_str(Self::LATENT),
            Self::Upscaler(model) => model.fmt(f),
        }
    }
}

impl Hires {
    /// Width and height of the result for an image of this width and height: the nearest multiples of `multiple`.
    pub fn size(&self, first: [u32; 2], multiple: u32) -> [u32; 2] {
        let multiple = f64::from(multiple.max(1));
        first.map(|side| {
            let wanted = f64::from(side) * f64::from(self.scale);
            ((wanted / multiple).round() * multiple).max(multiple) as u32
        })
    }

    /// Checks what can be checked without the model.
    pub(super) fn validate(&self, request: &Request) -> Result<(), RequestError> {
        if !SCALES.contains(&self.scale) {
            return Err(RequestError::Scale(self.scale));
        }
        if !(self.strength > 0.0 && self.strength <= 1.0) {
            return Err(RequestError::Strength(self.strength));
        }
        match self.steps {
            Some(0) => return Err(RequestError::NoSteps),
            Some(steps) if steps > 1000 => return Err(RequestError::TooManySteps(steps)),
            _ => {}
        }
        if request.frames > 1 || request.is_of_clip() {
            return Err(RequestError::HiresOfClip);
        }
        match request.source {
            Some(_) => Err(RequestError::HiresOfInput),
            None => Ok(()),
        }
    }
}

impl Request {
    /// The two passes of a hires fix: the image alone, and image to image with what is enlarged. The second has no file.
    /// Sizes are multiples of `multiple`.
    pub fn passes(&self, multiple: u32) -> Option<[Self; 2]> {
        let hires = self.hires.as_ref()?;
        let first = Self { hires: None, ..self.clone() };
        let [width, height] = hires.size([self.width, self.height], multiple);
        let source = SourceImage { strength: hires.strength, ..SourceImage::default() };
        let steps = hires.steps.unwrap_or(self.steps);
        let second = Self { width, height, steps, source: Some(source), ..first.clone() };
        Some([first, second])
    }

    /// Width and height of what a request makes with a model whose sizes are multiples of `multiple`.
    pub fn result_size(&self, multiple: u32) -> [u32; 2] {
        let size = [self.width, self.height];
        self.hires.as_ref().map_or(size, |hires| hires.size(size, multiple))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_are_rounded_to_what_the_model_can_make() {
        let of = |scale| Hires { scale, ..Hires::default() };
        assert_eq!(of(2.0).size([512, 768], 8), [1024, 1536]);
        assert_eq!(of(1.5).size([104, 136], 16), [160, 208]);
        assert_eq!(of(1.0).size([64, 64], 64), [64, 64]);
        let hires = Some(of(2.0));
        assert_eq!(Request { hires, ..Request::default() }.result_size(8), [256, 256]);
        assert_eq!(Request::default().result_size(8), [128, 128]);
    }

    #[test]
    fn the_second_pass_starts_from_an_image() {
        let hires = Hires { strength: 0.3, steps: Some(7), ..Hires::default() };
        let request = Request { hires: Some(hires), ..Request::default() };
        let [first, second] = request.passes(8).unwrap();
        assert_eq!(first, Request::default());
        assert_eq!((second.steps, second.strength(), second.width), (7, Some(0.3), 256));
        assert!(first.passes(8).is_none());
    }

    #[test]
    fn what_cannot_be_denoised_again_is_refused() {
        let with = |hires| Request { hires: Some(hires), ..Request::default() };
        let check = |request: &Request| request.hires.as_ref().unwrap().validate(request);
        assert_eq!(check(&with(Hires::default())), Ok(()));
        let wrong = |hires| check(&with(hires)).unwrap_err();
        assert_eq!(wrong(Hires { scale: 4.5, ..Hires::default() }), RequestError::Scale(4.5));
        assert_eq!(wrong(Hires { strength: 0.0, ..Hires::default() }), RequestError::Strength(0.0));
        assert_eq!(wrong(Hires { steps: Some(0), ..Hires::default() }), RequestError::NoSteps);
        let clip = Request { frames: 9, ..with(Hires::default()) };
        assert_eq!(check(&clip), Err(RequestError::HiresOfClip));
        let source = Some(SourceImage::default());
        assert_eq!(check(&Request { source, ..with(Hires::default()) }), Err(RequestError::HiresOfInput));
    }

    #[test]
    fn enlargers_have_names() {
        for (name, enlarger) in [
            ("latent", Enlarger::Latent),
            ("upscaler", Enlarger::default()),
            ("4x.safetensors", Enlarger::Upscaler(ModelSource::Path("4x.safetensors".into()))),
        ] {
            assert_eq!(name.parse(), Ok(enlarger.clone()));
            assert_eq!(enlarger.to_string(), name);
        }
    }
}
