//! Puts values into a request: of the request itself, or of its parts, such as ControlNets.

use std::path::Path;

use super::{
    GridError, GridSetting,
    added::{model_name, stem},
};
use crate::request::{
    Control, ControlNet, Detailer, Enlarger, Fit, ImagePrompt, Preprocessor, Request, Variation, Windows,
};

const HIRES_FIX: &str = "hires fix";
const A_REFERENCE: &str = "a reference image";
const A_REGION: &str = "a region";

/// What varies: the setting, and the name of the part if one of several is meant.
#[derive(Debug, Clone, Copy)]
pub(super) struct Varied<'a> {
    pub setting: GridSetting,
    pub of: Option<&'a str>,
}

impl Varied<'_> {
    fn unused(self, what: &'static str) -> GridError {
        GridError::Unused { setting: self.setting.title(), what }
    }

    /// A part that the request has.
    fn part<'a, T>(self, part: Option<&'a mut T>, what: &'static str) -> Result<&'a mut T, GridError> {
        part.ok_or_else(|| self.unused(what))
    }

    /// The names of the parts of a request to which the setting belongs.
    fn names(self, request: &Request) -> Vec<String> {
        match self.setting {
            GridSetting::ControlWeight
            | GridSetting::ControlStart
            | GridSetting::ControlEnd
            | GridSetting::Preprocessor => {
                request.control_nets.iter().map(|net| model_name(&net.model)).collect()
            }
            GridSetting::ImagePromptWeight | GridSetting::ImagePromptStart | GridSetting::ImagePromptEnd => {
                request.image_prompts.iter().map(|prompt| model_name(&prompt.adapter)).collect()
            }
            GridSetting::ReferenceStrength => request.references.iter().map(|path| stem(path)).collect(),
            GridSetting::DetailerStrength
            | GridSetting::DetailerConfidence
            | GridSetting::DetailerSteps
            | GridSetting::DetailerPadding => {
                request.detailers.iter().map(|detailer| model_name(&detailer.model)).collect()
            }
            GridSetting::RegionWeight => {
                request.regions.all.iter().map(|region| region.prompt.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The places of the parts that are meant: all of them, or those with the name, which may be the number of one.
    fn places(self, names: &[String], what: &'static str) -> Result<Vec<usize>, GridError> {
        if names.is_empty() {
            return Err(self.unused(what));
        }
        let Some(name) = self.of else { return Ok((0..names.len()).collect()) };
        let named: Vec<usize> = (0..names.len()).filter(|place| names[*place] == name).collect();
        if !named.is_empty() {
            return Ok(named);
        }
        match name.parse::<usize>() {
            Ok(number) if (1..=names.len()).contains(&number) => Ok(vec![number - 1]),
            _ => Err(GridError::NoPart {
                setting: self.setting.title(),
                name: name.to_owned(),
                used: names.to_vec(),
            }),
        }
    }

    /// Whether both change a part of a request. Parts that are not there are refused when they are changed.
    pub fn shares_a_part(self, other: Varied<'_>, request: &Request) -> bool {
        let names = self.names(request);
        let of = |varied: Varied<'_>| varied.places(&names, "").unwrap_or_default();
        let others = of(other);
        self.setting == other.setting && of(self).iter().any(|place| others.contains(place))
    }

    /// Changes the parts that are meant.
    fn each<T>(
        self,
        all: &mut [T],
        names: &[String],
        what: &'static str,
        change: impl Fn(&mut T),
    ) -> Result<(), GridError> {
        for place in self.places(names, what)? {
            change(&mut all[place]);
        }
        Ok(())
    }

    fn nets(self, request: &mut Request, change: impl Fn(&mut ControlNet)) -> Result<(), GridError> {
        let names = self.names(request);
        self.each(&mut request.control_nets, &names, "a ControlNet", change)
    }

    fn image_prompts(
        self,
        request: &mut Request,
        change: impl Fn(&mut ImagePrompt),
    ) -> Result<(), GridError> {
        let names = self.names(request);
        self.each(&mut request.image_prompts, &names, "an IP-Adapter", change)
    }

    fn detailers(self, request: &mut Request, change: impl Fn(&mut Detailer)) -> Result<(), GridError> {
        let names = self.names(request);
        self.each(&mut request.detailers, &names, "a detailer", change)
    }

    /// What controls a clip, if that is meant, as there is no ControlNet.
    fn clip_control(self, request: &mut Request) -> Option<&mut Control> {
        let is_meant = request.control_nets.is_empty() && self.of.is_none();
        request.control.as_mut().filter(|_| is_meant)
    }

    /// Sets a number.
    pub fn number(self, request: &mut Request, number: f64) -> Result<(), GridError> {
        match self.setting {
            GridSetting::Seed => request.seed = number as u64,
            GridSetting::Steps => request.steps = number as u32,
            GridSetting::Guidance => request.guidance = number as f32,
            GridSetting::TrueCfg => request.guiding.true_cfg = number as f32,
            GridSetting::Rescale => request.guiding.rescale = number as f32,
            GridSetting::GuidanceStart => request.guiding.interval.start = number as f32,
            GridSetting::GuidanceEnd => request.guiding.interval.end = number as f32,
            GridSetting::Shift => request.shift = Some(number as f32),
            GridSetting::ClipSkip => request.clip_skip = number as u32,
            GridSetting::StepCache => request.step_cache = number as f32,
            GridSetting::Width => request.width = number as u32,
            GridSetting::Height => request.height = number as u32,
            GridSetting::Frames => request.frames = number as u32,
            GridSetting::FrameRate => request.frame_rate = number as f32,
            GridSetting::Variation => {
                let seed = request.variation.map_or(request.seed.wrapping_add(1), |variation| variation.seed);
                request.variation = Some(Variation { seed, strength: number as f32 });
            }
            GridSetting::VariationSeed => {
                self.part(request.variation.as_mut(), "a variation strength")?.seed = number as u64;
            }
            GridSetting::Strength => match (&mut request.source, &mut request.clip, &mut request.hires) {
                (Some(source), ..) => source.strength = number,
                (None, Some(clip), _) => clip.strength = number,
                (None, None, Some(hires)) => hires.strength = number,
                (None, None, None) => return Err(GridError::NoInput),
            },
            GridSetting::Interpolation => {
                self.part(request.smooth.as_mut(), "frame interpolation")?.how.factor = number as u32;
            }
            GridSetting::WindowFrames => {
                let frames = number as u32;
                let overlap = request.windows.unwrap_or_else(|| Windows::of(frames)).overlap;
                request.windows = Some(Windows { frames, overlap });
            }
            GridSetting::WindowOverlap => {
                self.part(request.windows.as_mut(), "windows of frames")?.overlap = number as u32;
            }
            GridSetting::HiresScale => {
                self.part(request.hires.as_mut(), HIRES_FIX)?.scale = number as f32;
            }
            GridSetting::HiresStrength => self.part(request.hires.as_mut(), HIRES_FIX)?.strength = number,
            GridSetting::HiresSteps => {
                self.part(request.hires.as_mut(), HIRES_FIX)?.steps = Some(number as u32);
            }
            GridSetting::RefinerSwitch => self.part(request.refiner.as_mut(), "a refiner")?.switch = number,
            GridSetting::ControlWeight => self.nets(request, |net| net.weight = number as f32)?,
            GridSetting::ControlStart | GridSetting::ControlEnd => self.control_range(request, number)?,
            GridSetting::ControlStrength => {
                let control = self.part(request.control.as_mut(), "a clip or references that control a clip");
                control?.strength = number as f32;
            }
            GridSetting::ImagePromptWeight => {
                self.image_prompts(request, |prompt| prompt.weight = number as f32)?;
            }
            GridSetting::ImagePromptStart => self.image_prompts(request, |prompt| prompt.start = number)?,
            GridSetting::ImagePromptEnd => self.image_prompts(request, |prompt| prompt.end = number)?,
            GridSetting::ReferenceStrength => {
                let names = self.names(request);
                let redux = self.part(request.redux.as_mut(), "Redux")?;
                for place in self.places(&names, A_REFERENCE)? {
                    *redux.strength_mut(place) = number as f32;
                }
            }
            GridSetting::ReferenceSide if request.references.is_empty() => {
                return Err(self.unused(A_REFERENCE));
            }
            GridSetting::ReferenceSide => request.reference_side = Some(number as u32),
            GridSetting::DetailerStrength => {
                self.detailers(request, |detailer| detailer.strength = number)?
            }
            GridSetting::DetailerConfidence => {
                self.detailers(request, |detailer| detailer.confidence = number as f32)?;
            }
            GridSetting::DetailerSteps => {
                self.detailers(request, |detailer| detailer.steps = Some(number as u32))?;
            }
            GridSetting::DetailerPadding => {
                self.detailers(request, |detailer| detailer.padding = number as u32)?;
            }
            GridSetting::RegionWeight => {
                let names = self.names(request);
                self.each(&mut request.regions.all, &names, A_REGION, |region| {
                    region.weight = number as f32;
                })?;
            }
            GridSetting::RegionBase | GridSetting::RegionFade if request.regions.is_empty() => {
                return Err(self.unused(A_REGION));
            }
            GridSetting::RegionBase => request.regions.base = number as f32,
            GridSetting::RegionFade => request.regions.fade = number as f32,
            GridSetting::MaskBlur => {
                let mask = request.source.as_mut().and_then(|source| source.mask.as_mut());
                self.part(mask, "a mask")?.blur = number as u32;
            }
            GridSetting::MaskPadding => {
                let mask = request.source.as_mut().and_then(|source| source.mask.as_mut());
                let padding = mask.and_then(|mask| mask.only_masked.as_mut());
                *self.part(padding, "a mask whose area is generated alone")? = number as u32;
            }
            GridSetting::OutpaintFeather => {
                let outpaint = request.source.as_mut().map(|source| &mut source.outpaint);
                let outpaint = outpaint.filter(|outpaint| !outpaint.is_empty());
                self.part(outpaint, "outpainting")?.feather = number as u32;
            }
            GridSetting::Lora
            | GridSetting::LoraFile
            | GridSetting::Style
            | GridSetting::Precision
            | GridSetting::Sampler
            | GridSetting::Schedule
            | GridSetting::Prompt
            | GridSetting::Size
            | GridSetting::Model
            | GridSetting::HiresUpscaler
            | GridSetting::Preprocessor
            | GridSetting::InputImage
            | GridSetting::Fit => {}
        }
        Ok(())
    }

    /// Sets where ControlNets start or end, or what controls a clip.
    fn control_range(self, request: &mut Request, number: f64) -> Result<(), GridError> {
        let is_start = self.setting == GridSetting::ControlStart;
        if let Some(control) = self.clip_control(request) {
            *(if is_start { &mut control.start } else { &mut control.end }) = number;
            return Ok(());
        }
        self.nets(request, |net| *(if is_start { &mut net.start } else { &mut net.end }) = number)
    }

    /// Sets what is made of the images of ControlNets, or of the clip that controls another one.
    pub fn preprocessor(self, request: &mut Request, preprocessor: Preprocessor) -> Result<(), GridError> {
        if let Some(control) = self.clip_control(request) {
            control.preprocessor = preprocessor;
            return Ok(());
        }
        self.nets(request, |net| net.preprocessor = preprocessor)
    }

    /// Sets what enlarges between the passes of hires fix.
    pub fn enlarger(self, request: &mut Request, enlarger: Enlarger) -> Result<(), GridError> {
        self.part(request.hires.as_mut(), HIRES_FIX)?.enlarger = enlarger;
        Ok(())
    }

    /// Sets how the input is fitted.
    pub fn fit(self, request: &mut Request, fit: Fit) -> Result<(), GridError> {
        let source = request.source.as_mut().map(|source| &mut source.fit);
        let clip = request.clip.as_mut().map(|clip| &mut clip.fit);
        let control = request.control.as_mut().map(|control| &mut control.fit);
        let mut inputs = source.into_iter().chain(clip).chain(control).peekable();
        if inputs.peek().is_none() {
            return Err(self.unused("an input image or clip"));
        }
        inputs.for_each(|own| *own = fit);
        Ok(())
    }
}

/// Sets the input image, which is used as the one before.
pub(super) fn image(request: &mut Request, path: &Path) {
    request.source.get_or_insert_default().path = path.to_owned();
}
