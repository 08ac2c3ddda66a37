//! Checks requests for a model.

use super::{Denoising, Model, Used};
use crate::{
    models::{ClipFrames, MapForm},
    request::{Request, RequestError},
    sampling::Training,
};

impl Model {
    /// Checks a request for this model.
    ///
    /// # Errors
    /// When no model supports it, or this one does not.
    pub fn validate(&self, request: &Request) -> Result<(), RequestError> {
        if let (Some(enhance), Some(_)) = (&request.enhance, self.writer()) {
            return enhance.validate(&request.prompt);
        }
        if let (Some(describe), Some(_)) = (&request.describe, self.writer()) {
            return match self.vision_tower() {
                Some(_) => describe.validate(),
                None => Err(RequestError::SeesNoImages),
            };
        }
        let generates = self.denoisers().next().is_some();
        match &request.map_of {
            Some(map) if self.estimator(map.kind).is_some() => return Ok(()),
            Some(map) => return Err(RequestError::NoMapEstimator(map.kind)),
            None if !generates && self.estimators().next().is_some() => {
                return Err(RequestError::OnlyMakesMaps);
            }
            None => {}
        }
        match (&request.mask_of, self.segmenter()) {
            (Some(mask), Some(_)) => return mask.validate([request.width, request.height]),
            (Some(_), None) => return Err(RequestError::NoSegmenter),
            (None, Some(_)) => return Err(RequestError::OnlyMakesMasks),
            (None, None) => {}
        }
        if !generates && self.detectors().next().is_some() {
            return Err(RequestError::OnlyDetects);
        }
        match (&request.upscale, self.upscaler()) {
            (Some(upscale), Some(_)) => return upscale.validate(request),
            (Some(_), None) => return Err(RequestError::NoUpscaler),
            (None, Some(_)) if !generates => return Err(RequestError::OnlyUpscales),
            (None, _) => {}
        }
        match (&request.interpolate, self.interpolator()) {
            (Some(wanted), Some(_)) => return wanted.validate(request),
            (Some(_), None) => return Err(RequestError::NoInterpolator),
            (None, Some(_)) if !generates => return Err(RequestError::OnlyInterpolates),
            (None, _) => {}
        }
        request.validate(self.size_multiple(), self.longest_side())?;
        self.validate_detailers(request)?;
        let nets = self.denoisers().next().and_then(|denoiser| denoiser.network.denoiser.control_nets());
        for (net, about) in request.control_nets.iter().zip(nets.unwrap_or_default()) {
            net.validate_mode(about.modes)?;
            if about.reads == MapForm::LatentsAndMask && !net.preprocessor.takes_input() {
                return Err(RequestError::ControlNetReadsMask);
            }
        }
        if request.hires.is_some() {
            return self.validate_hires(request);
        }
        if !self.denoisers().all(|denoiser| denoiser.network.training.has(request.schedule)) {
            return Err(RequestError::NoSuchLevels(request.schedule));
        }
        if request.shift.is_some() && !self.is_flow() {
            return Err(RequestError::NoShift);
        }
        if request.frames > 1 && !self.denoisers().all(|denoiser| denoiser.network.denoiser.makes_clips()) {
            return Err(RequestError::OneFrameOnly(request.frames));
        }
        let multiples = self.denoisers().map(|denoiser| denoiser.network.denoiser.frame_multiple());
        request.validate_frames(multiples.max().unwrap_or(1))?;
        self.validate_mode(request)?;
        let has_later = |denoiser: Used<Denoising>| {
            ClipFrames::new(request, denoiser.network.denoiser.as_ref()).is_some_and(|clip| clip.later > 0)
        };
        if request.windows.is_some() && self.denoisers().any(has_later) {
            return Err(RequestError::KeyframesInWindows);
        }
        let takes_images = self.denoisers().all(|denoiser| denoiser.network.denoiser.takes_images());
        if request.source.is_some() && !takes_images {
            return Err(RequestError::PromptsOnly);
        }
        request.validate_mask(self.fills_in())?;
        request.validate_references(self.references().as_ref())?;
        match request.strength() {
            Some(strength) if self.steps(request) == 0 => {
                let steps = request.steps;
                let least = (100.0 / f64::from(steps)).ceil() / 100.0;
                Err(RequestError::StrengthTakesNoStep { strength, steps, least })
            }
            _ => Ok(()),
        }
    }

    fn is_flow(&self) -> bool {
        self.denoisers().all(|denoiser| matches!(denoiser.network.training, Training::Flow(_)))
    }

    fn validate_mode(&self, request: &Request) -> Result<(), RequestError> {
        match self.frame_multiple() {
            Some(multiple) => request.validate_mode(self.modes(), multiple, self.overlap()),
            None if request.is_of_clip() => Err(RequestError::OneFrameOnly(request.frames)),
            None => Ok(()),
        }
    }

    /// The number of steps that a request runs: with an input image, the last ones of those it asks for.
    fn steps(&self, request: &Request) -> usize {
        self.denoisers().next().map_or(0, |denoiser| denoiser.network.steps(request))
    }
}
