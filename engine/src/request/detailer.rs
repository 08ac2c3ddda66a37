//! Detailers: what a detector finds in an image is inpainted again, each at full resolution.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{Regions, Request, RequestError, SourceImage, SourceMask, WIDEST_BLUR};

/// What is found in an image, and how it is inpainted again: ADetailer of A1111's web UI, FaceDetailer in ComfyUI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Detailer {
    /// The file of the detector.
    pub model: PathBuf,
    /// How sure the detector must be, between 0 and 1.
    pub confidence: f32,
    /// The most boxes of an image that are inpainted.
    pub most: u32,
    /// Which boxes come first.
    pub order: BoxOrder,
    /// Pixels by which what is found grows on each side.
    pub grow: u32,
    /// Pixels over which what is inpainted fades into the rest.
    pub blur: u32,
    /// Pixels around it that the model sees.
    pub padding: u32,
    /// Denoising strength, above 0 and at most 1.
    pub strength: f64,
    /// Steps, of which the strength leaves some out; as many as those of the image if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Describes what is in the boxes; the prompt of the image if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// What to avoid there; the negative prompt of the image if empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub negative_prompt: String,
}

/// The order in which boxes are inpainted, of which the first ones count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoxOrder {
    /// The largest first.
    #[default]
    Largest,
    /// What the detector is surest of first.
    Surest,
    /// From the left to the right.
    LeftToRight,
    /// From the middle of the image outwards.
    MiddleFirst,
}

impl BoxOrder {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Largest, Self::Surest, Self::LeftToRight, Self::MiddleFirst];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Largest => "largest",
            Self::Surest => "surest",
            Self::LeftToRight => "left",
            Self::MiddleFirst => "middle",
        }
    }
}

impl Default for Detailer {
    /// The values are those of ADetailer. Its masks fade outwards too, which ours make up for by growing further.
    fn default() -> Self {
        Self {
            model: PathBuf::new(),
            confidence: 0.3,
            most: 10,
            order: BoxOrder::default(),
            grow: 4,
            blur: 4,
            padding: SourceMask::USUAL_PADDING,
            strength: 0.4,
            steps: None,
            prompt: String::new(),
            negative_prompt: String::new(),
        }
    }
}

impl Detailer {
    /// Most of them in a request.
    pub const MOST: usize = 4;
    /// Most boxes of an image.
    pub const MOST_BOXES: u32 = 100;
    /// Most pixels by which what is found grows.
    pub const WIDEST_GROWTH: u32 = 256;

    /// With a detector, and the usual settings.
    pub fn new(model: impl Into<PathBuf>) -> Self {
        Self { model: model.into(), ..Self::default() }
    }

    /// Checks what can be checked without the files and the model.
    fn validate(&self) -> Result<(), RequestError> {
        if self.model.as_os_str().is_empty() {
            return Err(RequestError::NoDetector);
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            return Err(RequestError::DetailerConfidence(self.confidence));
        }
        if !(1..=Self::MOST_BOXES).contains(&self.most) {
            return Err(RequestError::DetailerBoxes(self.most));
        }
        if self.grow > Self::WIDEST_GROWTH {
            return Err(RequestError::DetailerGrowth(self.grow));
        }
        if self.blur > WIDEST_BLUR {
            return Err(RequestError::MaskBlur(self.blur));
        }
        if self.padding > SourceMask::WIDEST_PADDING {
            return Err(RequestError::MaskPadding(self.padding));
        }
        if !(self.strength > 0.0 && self.strength <= 1.0) {
            return Err(RequestError::Strength(self.strength));
        }
        match self.steps {
            Some(0) => Err(RequestError::NoSteps),
            Some(steps) if steps > 1000 => Err(RequestError::TooManySteps(steps)),
            _ => Ok(()),
        }
    }
}

impl Request {
    /// The files of its detectors, each once.
    pub fn detectors(&self) -> Vec<&PathBuf> {
        let mut files = Vec::new();
        for Detailer { model, .. } in &self.detailers {
            if !files.contains(&model) {
                files.push(model);
            }
        }
        files
    }

    /// What inpaints one box of a detailer: image to image with a mask around it. It has no files, and the size of the
    /// image before it was enlarged.
    pub fn of_box(&self, detailer: &Detailer) -> Self {
        let own = |own: &String, whole: &String| if own.trim().is_empty() { whole } else { own }.clone();
        let (blur, only_masked) = (detailer.blur, Some(detailer.padding));
        let mask = SourceMask { blur, only_masked, keeps_the_rest: true, ..SourceMask::default() };
        let source = SourceImage { strength: detailer.strength, mask: Some(mask), ..SourceImage::default() };
        Self {
            prompt: own(&detailer.prompt, &self.prompt),
            negative_prompt: own(&detailer.negative_prompt, &self.negative_prompt),
            steps: detailer.steps.unwrap_or(self.steps),
            source: Some(source),
            batch: 1,
            variation: None,
            hires: None,
            refiner: None,
            regions: Regions::default(),
            control_nets: Vec::new(),
            estimators: BTreeMap::new(),
            smooth: None,
            detailers: Vec::new(),
            detail_of: None,
            ..self.clone()
        }
    }

    /// A setting that only images have that are generated, if it changes the details of one that exists.
    fn unfit_for_details(&self) -> Option<&'static str> {
        self.detail_of.as_ref()?;
        let settings = [
            ("regions", !self.regions.is_empty()),
            ("hires fix", self.hires.is_some()),
            ("a refiner", self.refiner.is_some()),
            ("a batch", self.batch > 1),
            ("a variation seed", self.variation.is_some()),
        ];
        settings.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }

    /// Checks what can be checked of its detailers without their files and the model.
    pub(super) fn validate_detailers(&self) -> Result<(), RequestError> {
        if self.detailers.is_empty() {
            return if self.detail_of.is_some() { Err(RequestError::NoDetailer) } else { Ok(()) };
        }
        if let Some(setting) = self.unfit_for_details() {
            return Err(RequestError::NotForDetails(setting));
        }
        if self.frames > 1 || self.is_of_clip() {
            return Err(RequestError::DetailerOfClip);
        }
        if self.detailers.len() > Detailer::MOST {
            return Err(RequestError::TooManyDetailers(self.detailers.len()));
        }
        self.detailers.iter().try_for_each(Detailer::validate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Hires, Refiner, Region, Variation};

    fn with(detailer: Detailer) -> Request {
        let prompt = "a crowd".to_owned();
        Request { prompt, detailers: vec![detailer], ..Request::default() }
    }

    #[test]
    fn a_box_is_inpainted_with_its_own_prompt_or_that_of_the_image() {
        let detailer = Detailer { strength: 0.3, padding: 7, ..Detailer::new("face.safetensors") };
        let hires = Some(Hires::default());
        let variation = Some(Variation { seed: 1, strength: 0.1 });
        let request = Request { hires, variation, batch: 3, ..with(detailer.clone()) };
        let own = request.of_box(&detailer);
        assert_eq!((own.prompt.as_str(), own.batch, own.strength()), ("a crowd", 1, Some(0.3)));
        assert_eq!((own.width, own.steps), (request.width, request.steps));
        assert!(own.hires.is_none() && own.variation.is_none() && own.detailers.is_empty());
        let mask = own.source.and_then(|source| source.mask).unwrap();
        assert_eq!((mask.only_masked, mask.blur, mask.keeps_the_rest), (Some(7), 4, true));
        let prompt = "a smiling face".to_owned();
        let own = request.of_box(&Detailer { prompt, steps: Some(9), ..detailer });
        assert_eq!((own.prompt.as_str(), own.steps), ("a smiling face", 9));
    }

    #[test]
    fn detailers_that_make_no_sense_are_refused() {
        let plain = || Detailer::new("face.safetensors");
        assert_eq!(with(plain()).validate_detailers(), Ok(()));
        for (detailer, error) in [
            (Detailer::default(), RequestError::NoDetector),
            (Detailer { confidence: 1.0, ..plain() }, RequestError::DetailerConfidence(1.0)),
            (Detailer { most: 0, ..plain() }, RequestError::DetailerBoxes(0)),
            (Detailer { grow: 257, ..plain() }, RequestError::DetailerGrowth(257)),
            (Detailer { blur: 257, ..plain() }, RequestError::MaskBlur(257)),
            (Detailer { padding: 4097, ..plain() }, RequestError::MaskPadding(4097)),
            (Detailer { strength: 0.0, ..plain() }, RequestError::Strength(0.0)),
            (Detailer { steps: Some(0), ..plain() }, RequestError::NoSteps),
        ] {
            assert_eq!(with(detailer).validate_detailers(), Err(error));
        }
        let clip = Request { frames: 9, ..with(plain()) };
        assert_eq!(clip.validate_detailers(), Err(RequestError::DetailerOfClip));
        let many = Request { detailers: vec![plain(); 5], ..Request::default() };
        assert_eq!(many.validate_detailers(), Err(RequestError::TooManyDetailers(5)));
        let nothing = Request { detail_of: Some("fox.png".into()), ..Request::default() };
        assert_eq!(nothing.validate_detailers(), Err(RequestError::NoDetailer));
    }

    #[test]
    fn details_of_an_image_that_exists_are_made_without_what_generates_images() {
        let own = || Request { detail_of: Some("fox.png".into()), ..with(Detailer::new("face.safetensors")) };
        assert_eq!(own().validate_detailers(), Ok(()));
        let regions = || Regions { all: vec![Region::default()], ..Regions::default() };
        let variation = Some(Variation { seed: 1, strength: 0.1 });
        for (request, setting) in [
            (Request { regions: regions(), ..own() }, "regions"),
            (Request { hires: Some(Hires::default()), ..own() }, "hires fix"),
            (Request { refiner: Some(Refiner::new("refiner".into())), ..own() }, "a refiner"),
            (Request { batch: 2, ..own() }, "a batch"),
            (Request { variation, ..own() }, "a variation seed"),
        ] {
            assert_eq!(request.validate_detailers(), Err(RequestError::NotForDetails(setting)));
            let generated = Request { detail_of: None, ..request.clone() };
            assert_eq!(generated.validate_detailers(), Ok(()), "{setting}");
            let of_box = request.of_box(&request.detailers[0]);
            assert_eq!(of_box.validate_detailers(), Ok(()), "{setting}");
        }
    }

    #[test]
    fn a_detector_that_is_used_twice_is_one_file() {
        let detailers = ["face", "hand", "face"].map(Detailer::new).to_vec();
        let request = Request { detailers, ..Request::default() };
        assert_eq!(request.detectors(), [&PathBuf::from("face"), &PathBuf::from("hand")]);
    }
}
