//! What a request generates from.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Control, ControlNet, ImagePrompt, REFERENCE_SIDES, ReferenceSizes, References, Request, RequestError,
    SourceClip, SourceImage, SourceMask, keyframe,
};

/// What is generated from what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// An image or a clip, from the prompt alone.
    Text,
    /// An image, from an input image.
    ImageToImage,
    /// A clip that begins with an image.
    ImageToVideo,
    /// A clip that begins with one image and ends with another.
    FirstAndLast,
    /// A clip with images at chosen frames.
    Keyframes,
    /// A clip that changes an input clip.
    VideoToVideo,
    /// A clip that continues an input clip.
    Extend,
    /// A clip that another clip or images of things control.
    Control,
}

impl Mode {
    /// The modes as a list in words.
    pub(super) fn list(modes: &[Self]) -> String {
        let names: Vec<String> = modes.iter().map(Self::to_string).collect();
        match names.as_slice() {
            [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
            _ => names.concat(),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text to video",
            Self::ImageToImage => "image to image",
            Self::ImageToVideo => "image to video",
            Self::FirstAndLast => "first and last image",
            Self::Keyframes => "keyframes",
            Self::VideoToVideo => "video to video",
            Self::Extend => "extending a clip",
            Self::Control => "control by a clip or by reference images",
        })
    }
}

impl Request {
    /// What it generates from what.
    pub fn mode(&self) -> Mode {
        if self.control.is_some() || (self.frames > 1 && !self.references.is_empty()) {
            return Mode::Control;
        }
        match (&self.source, &self.last_image, &self.clip) {
            (_, _, Some(SourceClip { extends: true, .. })) => Mode::Extend,
            (_, _, Some(_)) => Mode::VideoToVideo,
            (_, _, None) if !self.keyframes.is_empty() => Mode::Keyframes,
            (Some(_), Some(_), None) => Mode::FirstAndLast,
            (Some(_), None, None) if self.frames > 1 => Mode::ImageToVideo,
            (Some(_), None, None) => Mode::ImageToImage,
            (None, _, None) => Mode::Text,
        }
    }

    /// The same with images to start from and to end with, if a model does nothing without them, or with an image and a mask
    /// for a model that only fills in: for plans, which need no files.
    #[must_use]
    pub fn with_needed_images(self, modes: &[Mode], fills_in: bool) -> Self {
        if self.validate_mask(fills_in).is_err() {
            let mask = SourceMask { path: PathBuf::from("mask.png"), ..SourceMask::default() };
            let path = PathBuf::from("start.png");
            let start = || SourceImage { path, strength: 1.0, ..SourceImage::default() };
            let source = SourceImage { mask: Some(mask), ..self.source.clone().unwrap_or_else(start) };
            return Self { source: Some(source), ..self };
        }
        if modes.is_empty() || self.mode() != Mode::Text || modes.contains(&Mode::Text) {
            return self;
        }
        let last_image = (!modes.contains(&Mode::ImageToVideo)).then(|| PathBuf::from("end.png"));
        let source = SourceImage { path: PathBuf::from("start.png"), ..SourceImage::default() };
        Self { source: Some(source), last_image, ..self }
    }

    /// Checks that there is something to fill in, for a model that only fills in a masked part of an image.
    ///
    /// # Errors
    /// Without an image or without a mask.
    pub fn validate_mask(&self, fills_in: bool) -> Result<(), RequestError> {
        let is_masked = self.source.as_ref().is_some_and(SourceImage::is_inpainted);
        if fills_in && !is_masked { Err(RequestError::NothingToFillIn) } else { Ok(()) }
    }

    /// Checks the inputs of a clip for a model that generates clips from these. `multiple` is that of its frames,
    /// `overlap` the last frames of a clip that it continues from.
    ///
    /// # Errors
    /// When the model cannot do it, or would add nothing to the clip that is extended.
    pub fn validate_mode(
        &self,
        modes: &[Mode],
        multiple: u32,
        overlap: Option<u32>,
    ) -> Result<(), RequestError> {
        let wanted = self.mode();
        // An image is changed as a clip is.
        let needed = if wanted == Mode::ImageToImage { Mode::VideoToVideo } else { wanted };
        if !modes.contains(&needed) {
            return Err(RequestError::NoSuchMode { wanted, modes: modes.to_vec() });
        }
        match overlap {
            Some(overlap) if wanted == Mode::Extend && self.frames <= overlap => {
                let (frames, least) = (self.frames, overlap + multiple);
                Err(RequestError::NothingAdded { frames, overlap, least })
            }
            _ => Ok(()),
        }
    }

    /// Checks the number of reference images for a model that takes them in this way, if it does.
    ///
    /// # Errors
    /// When it does not take them, takes fewer, or takes them only for clips.
    pub fn validate_references(&self, takes: Option<&References>) -> Result<(), RequestError> {
        let given = self.references.len();
        match takes {
            _ if given == 0 => Ok(()),
            None => Err(RequestError::NoReferences),
            Some(References { most, .. }) if given > *most => {
                Err(RequestError::TooManyReferences { given, most: *most })
            }
            Some(References { sizes: ReferenceSizes::Canvas, .. }) if self.frames == 1 => {
                Err(RequestError::ClipInputOfImage)
            }
            Some(_) => Ok(()),
        }
    }

    /// Whether it has inputs that only clips have.
    pub fn is_of_clip(&self) -> bool {
        let has_later = self.last_image.is_some() || !self.keyframes.is_empty();
        has_later || self.clip.is_some() || self.control.is_some()
    }

    /// The images at frames after the first, with their frames: keyframes, then the last image.
    pub fn later_images(&self) -> Vec<(u32, &Path)> {
        let keyframes = self.keyframes.iter().map(|keyframe| (keyframe.frame, keyframe.path.as_path()));
        let last = self.last_image.iter().map(|path| (self.frames.saturating_sub(1), path.as_path()));
        keyframes.chain(last).collect()
    }

    /// The denoising strength, if the run starts from a noised image or clip.
    pub fn strength(&self) -> Option<f64> {
        match self.mode() {
            Mode::ImageToImage => self.source.as_ref().map(|source| source.strength),
            Mode::VideoToVideo => self.clip.as_ref().map(|clip| clip.strength),
            _ => None,
        }
    }

    /// Checks what can be checked of its images and its clip without their files and the model.
    pub(super) fn validate_inputs(&self) -> Result<(), RequestError> {
        if self.source.is_some() && self.clip.is_some() {
            return Err(RequestError::ImageAndClip);
        }
        if self.last_image.is_some() && self.source.is_none() && self.keyframes.is_empty() {
            return Err(RequestError::LastImageAlone);
        }
        let has_keyframes = !self.keyframes.is_empty();
        if self.mode() == Mode::Control && (self.source.is_some() || self.clip.is_some() || has_keyframes) {
            return Err(RequestError::ControlAndInput);
        }
        if has_keyframes && self.clip.is_some() {
            return Err(RequestError::KeyframesAndClip);
        }
        if self.windows.is_some() && self.frames > 1 && !self.references.is_empty() {
            return Err(RequestError::ReferencesInWindows);
        }
        if self.frames == 1 && self.is_of_clip() {
            return Err(RequestError::ClipInputOfImage);
        }
        keyframe::validate(&self.keyframes, self.last_image.is_some(), self.frames)?;
        if self.frames > 1 && self.source.as_ref().is_some_and(SourceImage::is_inpainted) {
            return Err(RequestError::MaskOfClip);
        }
        self.source.as_ref().map_or(Ok(()), SourceImage::validate)?;
        self.control.as_ref().map_or(Ok(()), Control::validate)?;
        if let Some(Control { video: None, .. }) = self.control
            && self.references.is_empty()
        {
            return Err(RequestError::NothingControls);
        }
        if self.control_nets.len() > ControlNet::MOST {
            return Err(RequestError::TooManyControlNets(self.control_nets.len()));
        }
        self.control_nets.iter().try_for_each(ControlNet::validate)?;
        if self.image_prompts.len() > ImagePrompt::MOST {
            return Err(RequestError::TooManyImagePrompts(self.image_prompts.len()));
        }
        self.image_prompts.iter().try_for_each(ImagePrompt::validate)?;
        if let Some(kind) = self.map_kinds().into_iter().find(|kind| !self.estimators.contains_key(kind)) {
            return Err(RequestError::NoMapEstimator(kind));
        }
        let is_masked = self.source.as_ref().is_some_and(SourceImage::is_inpainted);
        if !is_masked && self.control_nets.iter().any(|net| net.preprocessor.takes_input()) {
            return Err(RequestError::ControlNetWithoutMask);
        }
        if let Some(side) = self.reference_side.filter(|side| !REFERENCE_SIDES.contains(side)) {
            return Err(RequestError::ReferenceSide(side));
        }
        self.clip.as_ref().map_or(Ok(()), SourceClip::validate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Keyframe;

    #[test]
    fn inputs_decide_the_mode() {
        let image = || Some(SourceImage { strength: 0.3, ..SourceImage::default() });
        let clip = |extends| Some(SourceClip { strength: 0.4, extends, ..SourceClip::default() });
        let control = || Some(Control { video: Some("poses.mp4".into()), ..Control::default() });
        let plain = Request { frames: 9, ..Request::default() };
        let last_image = Some("end.png".into());
        let keyframes = vec![Keyframe { frame: 4, path: "middle.png".into() }];
        for (request, mode, strength) in [
            (plain.clone(), Mode::Text, None),
            (Request { source: image(), ..Request::default() }, Mode::ImageToImage, Some(0.3)),
            (Request { source: image(), ..plain.clone() }, Mode::ImageToVideo, None),
            (Request { source: image(), last_image, ..plain.clone() }, Mode::FirstAndLast, None),
            (Request { clip: clip(false), ..plain.clone() }, Mode::VideoToVideo, Some(0.4)),
            (Request { clip: clip(true), ..plain.clone() }, Mode::Extend, None),
            (Request { keyframes: keyframes.clone(), ..plain.clone() }, Mode::Keyframes, None),
            (Request { keyframes, source: image(), ..plain.clone() }, Mode::Keyframes, None),
            (Request { control: control(), ..plain }, Mode::Control, None),
        ] {
            assert_eq!((request.mode(), request.strength()), (mode, strength));
            assert_eq!(request.validate_inputs(), Ok(()));
        }
    }

    #[test]
    fn inputs_that_contradict_each_other_are_refused() {
        let (image, clip) = (Some(SourceImage::default()), Some(SourceClip::default()));
        let (plain, last) = (Request { frames: 9, ..Request::default() }, Some("end.png".into()));
        let masked = SourceImage { mask: Some(Default::default()), ..SourceImage::default() };
        let both = Request { source: image.clone(), clip: clip.clone(), ..plain.clone() };
        assert_eq!(both.validate_inputs(), Err(RequestError::ImageAndClip));
        let alone = Request { last_image: last.clone(), ..plain.clone() };
        assert_eq!(alone.validate_inputs(), Err(RequestError::LastImageAlone));
        let still = Request { source: image, last_image: last, ..Request::default() };
        assert_eq!(still.validate_inputs(), Err(RequestError::ClipInputOfImage));
        let still = Request { clip: clip.clone(), ..Request::default() };
        assert_eq!(still.validate_inputs(), Err(RequestError::ClipInputOfImage));
        let nothing = Request { control: Some(Control::default()), ..plain.clone() };
        assert_eq!(nothing.validate_inputs(), Err(RequestError::NothingControls));
        let references = vec![PathBuf::from("cat.png")];
        let strong = Request { references: references.clone(), ..nothing };
        assert_eq!((strong.validate_inputs(), strong.mode()), (Ok(()), Mode::Control));
        let both = Request { clip: clip.clone(), references: references.clone(), ..plain.clone() };
        assert_eq!(both.validate_inputs(), Err(RequestError::ControlAndInput));
        let edit = Request { references: references.clone(), ..Request::default() };
        assert_eq!((edit.validate_inputs(), edit.mode()), (Ok(()), Mode::Text));
        let small = Request { reference_side: Some(8), ..edit };
        assert_eq!(small.validate_inputs(), Err(RequestError::ReferenceSide(8)));
        let control = Some(Control { video: Some("poses.mp4".into()), ..Control::default() });
        let both =
            Request { control: control.clone(), source: Some(SourceImage::default()), ..plain.clone() };
        assert_eq!(both.validate_inputs(), Err(RequestError::ControlAndInput));
        let windows = Some(crate::request::Windows::default());
        let cut = Request { references, windows, ..plain.clone() };
        assert_eq!(cut.validate_inputs(), Err(RequestError::ReferencesInWindows));
        let still = Request { control, ..Request::default() };
        assert_eq!(still.validate_inputs(), Err(RequestError::ClipInputOfImage));
        let keyframes = vec![Keyframe { frame: 4, path: "middle.png".into() }];
        let both = Request { keyframes: keyframes.clone(), clip, ..plain.clone() };
        assert_eq!(both.validate_inputs(), Err(RequestError::KeyframesAndClip));
        let still = Request { keyframes, ..Request::default() };
        assert_eq!(still.validate_inputs(), Err(RequestError::ClipInputOfImage));
        let masked = Request { source: Some(masked), ..plain };
        assert_eq!(masked.validate_inputs(), Err(RequestError::MaskOfClip));
    }

    #[test]
    fn what_a_model_cannot_do_is_said_with_what_it_can() {
        let modes = vec![Mode::Text, Mode::VideoToVideo, Mode::Extend];
        let error = RequestError::NoSuchMode { wanted: Mode::ImageToVideo, modes };
        let words = "this model cannot do image to video; it can do text to video, video to video and extending a clip";
        assert_eq!(error.to_string(), words);
    }
}
