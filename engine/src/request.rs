//! What to generate.

mod advice;
mod canvas;
mod clip;
mod control;
mod control_net;
mod describe;
mod detailer;
mod enhance;
mod error;
mod files;
pub mod grid;
mod guidance;
mod hires;
mod image_prompt;
mod interpolate;
mod keyframe;
mod map_of;
mod mask_of;
mod mode;
mod outpaint;
mod redux;
mod references;
mod refiner;
mod region;
mod sampler;
mod schedule;
mod source;
mod upscale;
mod variation;
mod windows;

use std::{collections::BTreeMap, fmt, ops::RangeInclusive, path::PathBuf, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::checkpoint::{CheckpointError, MapKind, starter_clip_folder, starter_folder, upscaler_file};
pub use canvas::Canvas;
pub use clip::{FrameRange, NoFrameRange, SourceClip};
pub use control::{Control, STRONGEST_CONTROL};
pub(crate) use control_net::is_part_of_run;
pub use control_net::{ControlMode, ControlNet, Preprocessor};
pub use describe::{Describe, MOST_SEEN, SEEN};
pub use detailer::{BoxOrder, Detailer};
pub use enhance::{Enhanced, LONGEST_ENHANCED, Writing};
pub use error::RequestError;
pub use files::{FileRole, is_sent_name, is_sha256, label_of, sent_name};
pub use guidance::{GuidanceError, GuidanceOptions, Interval, NoInterval};
pub use hires::{Enlarger, Hires};
pub use image_prompt::ImagePrompt;
pub use interpolate::{FACTORS, Interpolate, Interpolation, Smooth};
pub use keyframe::{Keyframe, NoKeyframe};
pub use map_of::MapOf;
pub use mask_of::{MaskOf, MaskPoint};
pub use mode::Mode;
pub use outpaint::{NoSides, Outpaint};
pub use redux::Redux;
pub use references::{REFERENCE_SIDES, ReferenceSizes, References, of_area};
pub use refiner::Refiner;
pub use region::{Area, NoArea, Region, Regions};
pub use sampler::Sampler;
pub use schedule::Schedule;
pub use source::{Fit, SourceImage, SourceMask, WIDEST_BLUR};
pub use upscale::{SCALES, Upscale};
pub use variation::Variation;
pub use windows::Windows;

/// The model to use.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelSource {
    /// The small model for images that comes with Sluice.
    Starter,
    /// The small model for clips that comes with Sluice.
    StarterClip,
    /// The upscaler that comes with Sluice.
    Upscaler,
    /// A folder or a file.
    Path(PathBuf),
}

impl ModelSource {
    /// The path of the model on this machine.
    ///
    /// # Errors
    /// Fails if a model that comes with Sluice is not where it was installed.
    pub fn resolve(&self) -> Result<PathBuf, CheckpointError> {
        match self {
            Self::Starter => starter_folder(),
            Self::StarterClip => starter_clip_folder(),
            Self::Upscaler => upscaler_file(),
            Self::Path(path) => Ok(path.clone()),
        }
    }
}

impl FromStr for ModelSource {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "starter" => Self::Starter,
            "starter-clip" => Self::StarterClip,
            "upscaler" => Self::Upscaler,
            path => Self::Path(PathBuf::from(path)),
        })
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starter => f.write_str("starter"),
            Self::StarterClip => f.write_str("starter-clip"),
            Self::Upscaler => f.write_str("upscaler"),
            Self::Path(path) => path.display().fmt(f),
        }
    }
}

/// The dtype of activations and computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComputeDtype {
    /// 32-bit floating point.
    F32,
    /// 16 bits with the range of f32.
    Bf16,
    /// 16 bits with more precision and less range.
    F16,
}

impl ComputeDtype {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::F32, Self::Bf16, Self::F16];

    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
            Self::F16 => "f16",
        }
    }
}

/// An adapter, such as a LoRA, and how strongly it changes the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdapterUse {
    /// Its file.
    pub path: PathBuf,
    /// The factor for its changes: 1 is as trained, negative is the opposite.
    pub weight: f32,
}

/// Prompts that leave words open, or to which styles are applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptTemplate {
    /// The prompt.
    pub prompt: String,
    /// The negative prompt.
    pub negative_prompt: String,
    /// The names of the styles that were applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub styles: Vec<String>,
}

/// A named part of prompts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Style {
    /// Its name.
    pub name: String,
    /// What is added to the prompt, or encloses it where it has `{prompt}`.
    pub prompt: String,
    /// The same for the negative prompt.
    #[serde(default)]
    pub negative_prompt: String,
}

/// Folders in which names in prompts are looked up, before those around a model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptFolders {
    /// Those for adapters.
    pub adapters: Vec<PathBuf>,
    /// Those for files of words to choose from.
    pub wildcards: Vec<PathBuf>,
}

/// Everything that determines an image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The model.
    pub model: ModelSource,
    /// Describes the image.
    pub prompt: String,
    /// What to avoid; used when `guidance` is above zero.
    pub negative_prompt: String,
    /// Parts of the image with prompts of their own.
    #[serde(default, skip_serializing_if = "Regions::is_empty")]
    pub regions: Regions,
    /// Styles that are applied to the prompts before anything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub styles: Vec<Style>,
    /// What the prompts were before styles were applied and words that they leave open were chosen, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<PromptTemplate>,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames of a clip; 1 for an image.
    #[serde(default = "one_frame")]
    pub frames: u32,
    /// Frames per second of a clip.
    #[serde(default = "usual_rate")]
    pub frame_rate: f32,
    /// Denoising steps.
    pub steps: u32,
    /// How strongly to follow the prompt: the guidance scale of the model's own pipeline.
    pub guidance: f32,
    /// The seed of the noise from PyTorch's CPU generator. Image `i` of a batch has the seed `seed + i`.
    pub seed: u64,
    /// Turns the noise of the seed towards that of another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<Variation>,
    /// Images generated at once.
    pub batch: u32,
    /// Sampling method.
    pub sampler: Sampler,
    /// Noise schedule.
    pub schedule: Schedule,
    /// The shift of the noise levels towards noise, in place of the model's own; only for models trained with flow
    /// matching.
    #[serde(default)]
    pub shift: Option<f32>,
    /// Dtype of the computation; if absent, chosen for the model and the device.
    #[serde(default)]
    pub dtype: Option<ComputeDtype>,
    /// Longest prompt in tokens, chat template included; longer prompts are truncated. Text encoders that work in
    /// chunks read all of it.
    pub max_sequence_length: u32,
    /// LoRAs and other adapters, in this order, in addition to those named by `<lora:name:weight>` in the
    /// prompts.
    #[serde(default)]
    pub adapters: Vec<AdapterUse>,
    /// The CLIP layer to use, counted from the end: 1 is the last layer, 2 the one before it. 0, and values
    /// below the family's own, mean the family's own.
    #[serde(default)]
    pub clip_skip: u32,
    /// Guidance options besides the scale.
    #[serde(default)]
    pub guiding: GuidanceOptions,
    /// Reuses the last prediction while the estimated relative change stays below this threshold; 0 turns it off.
    #[serde(default)]
    pub step_cache: f32,
    /// The input image for image to image and inpainting, and the first image of a clip; absent where only text is
    /// given. Strength and mask have no meaning for clips.
    #[serde(default)]
    pub source: Option<SourceImage>,
    /// The file of the last image of a clip, which is fitted like the first one.
    #[serde(default)]
    pub last_image: Option<PathBuf>,
    /// Images at chosen frames of a clip, in models that take them.
    #[serde(default)]
    pub keyframes: Vec<Keyframe>,
    /// The input clip for video to video, or the clip that is extended.
    #[serde(default)]
    pub clip: Option<SourceClip>,
    /// Images of what appears: what an edited image is made from, or things in a clip.
    #[serde(default)]
    pub references: Vec<PathBuf>,
    /// Scales references of images to about the square of this many pixels, instead of the model's own size.
    #[serde(default)]
    pub reference_side: Option<u32>,
    /// What controls a clip, in models made for it.
    #[serde(default)]
    pub control: Option<Control>,
    /// The map estimators of ControlNets and of the control clip whose preprocessors are networks: for each kind of map, a
    /// file or a folder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub estimators: BTreeMap<MapKind, PathBuf>,
    /// What maps are made of instead of generating anything; the model is then a map estimator, and width, height, frames and
    /// frame rate are those of the image or the clip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_of: Option<MapOf>,
    /// What a mask is made of instead of generating anything; the model is then a segmenter, and width and height are those
    /// of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_of: Option<MaskOf>,
    /// Makes a better prompt instead of generating anything; the model is then a language model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enhance: Option<Writing>,
    /// Describes images instead of generating anything; the model is then a language model that sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub describe: Option<Describe>,
    /// What the prompt was made of, if a language model has written it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enhanced: Option<Enhanced>,
    /// ControlNets, whose effects add up, in families that take them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub control_nets: Vec<ControlNet>,
    /// Images that are read beside the prompt through IP-Adapters, in families that take them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub image_prompts: Vec<ImagePrompt>,
    /// Denoises a long clip in windows of frames.
    #[serde(default)]
    pub windows: Option<Windows>,
    /// A second model for the last steps, in families that have one.
    #[serde(default)]
    pub refiner: Option<Refiner>,
    /// A Redux model through which the references are read, in families that have one.
    #[serde(default)]
    pub redux: Option<Redux>,
    /// Enlarges what is generated, and denoises it again. Width and height are those before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hires: Option<Hires>,
    /// What is found in the image and inpainted again, one after the other, after everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub detailers: Vec<Detailer>,
    /// An image that only the detailers change, instead of generating one. Width and height are those in which its boxes are
    /// inpainted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail_of: Option<PathBuf>,
    /// Puts frames between those of the clip that is generated. Frames and frame rate are those before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smooth: Option<Smooth>,
    /// What is enlarged instead of generating anything; the model is then an upscaler, and width, height, frames and frame
    /// rate are those of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upscale: Option<Upscale>,
    /// The clip that gets more frames instead of generating anything; the model is then a frame interpolator, and width,
    /// height, frames and frame rate are those of the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpolate: Option<Interpolate>,
}

fn one_frame() -> u32 {
    1
}

fn usual_rate() -> f32 {
    16.0
}

impl Default for Request {
    fn default() -> Self {
        Self {
            model: ModelSource::Starter,
            prompt: String::new(),
            negative_prompt: String::new(),
            regions: Regions::default(),
            styles: Vec::new(),
            template: None,
            width: 128,
            height: 128,
            frames: one_frame(),
            frame_rate: usual_rate(),
            steps: 12,
            guidance: 2.0,
            seed: 0,
            variation: None,
            batch: 1,
            sampler: Sampler::default(),
            schedule: Schedule::default(),
            shift: None,
            dtype: None,
            max_sequence_length: 512,
            adapters: Vec::new(),
            clip_skip: 0,
            guiding: GuidanceOptions::default(),
            step_cache: 0.0,
            source: None,
            last_image: None,
            keyframes: Vec::new(),
            clip: None,
            references: Vec::new(),
            reference_side: None,
            control: None,
            control_nets: Vec::new(),
            image_prompts: Vec::new(),
            windows: None,
            refiner: None,
            redux: None,
            hires: None,
            detailers: Vec::new(),
            detail_of: None,
            upscale: None,
            interpolate: None,
            smooth: None,
            estimators: BTreeMap::new(),
            map_of: None,
            mask_of: None,
            enhance: None,
            describe: None,
            enhanced: None,
        }
    }
}

/// Longest side of an image in pixels. Above it, the tokens of a single step no longer fit into any memory.
pub const LONGEST_SIDE: u32 = 16_384;
/// Largest batch.
pub const LARGEST_BATCH: u32 = 256;
/// Largest shift.
pub const LARGEST_SHIFT: f32 = 100.0;
/// Frames per second of clips.
pub const FRAME_RATES: RangeInclusive<f32> = 1.0..=60.0;
/// Largest clip skip: CLIP-L has this many layers.
pub const LARGEST_CLIP_SKIP: u32 = 12;

impl Request {
    /// The image or the clip that is enlarged or gets more frames, instead of generating anything.
    pub fn changes_file(&self) -> Option<&PathBuf> {
        let enlarged = self.upscale.as_ref().map(|upscale| &upscale.path);
        enlarged.or(self.interpolate.as_ref().map(|interpolate| &interpolate.path))
    }

    /// The file that results are marked as made of: the one that it changes, or else its input image or its first reference.
    pub fn marked_input(&self) -> Option<&PathBuf> {
        let mapped = self.map_of.as_ref().map(|map| &map.image);
        let changed = self.changes_file().or(self.detail_of.as_ref()).or(mapped);
        let given = self.source.as_ref().map(|source| &source.path).or(self.references.first());
        changed.or(given)
    }

    /// The size of each of its images or clips.
    pub fn canvas(&self) -> Canvas {
        Canvas {
            width: self.width,
            height: self.height,
            frames: self.frames,
            references: self.references.len(),
            later_images: self.keyframes.len() + usize::from(self.last_image.is_some()),
        }
    }

    /// Whether it makes a text and no image.
    pub fn writes(&self) -> bool {
        self.enhance.is_some() || self.describe.is_some()
    }

    /// Checks the number of frames for a model of which the frames after the first are a multiple of `multiple`.
    pub fn validate_frames(&self, multiple: u32) -> Result<(), RequestError> {
        let (frames, more) = (self.frames, self.frames.saturating_sub(1));
        if more.is_multiple_of(multiple) {
            return Ok(());
        }
        let below = more / multiple * multiple + 1;
        Err(RequestError::FramesNotMultiple { frames, multiple, below, above: below + multiple })
    }

    /// Checks everything that can be checked without the model. `multiple` is what sizes must be a multiple
    /// of, `longest` the longest side the model can generate.
    pub fn validate(&self, multiple: u32, longest: u32) -> Result<(), RequestError> {
        for (side, pixels) in [("width", self.width), ("height", self.height)] {
            if pixels > longest {
                return Err(RequestError::SideTooLong { side, pixels, longest });
            }
            if pixels == 0 || !pixels.is_multiple_of(multiple) {
                let below = (pixels / multiple * multiple).max(multiple);
                let above = if pixels == 0 { 2 * multiple } else { pixels.next_multiple_of(multiple) };
                return Err(RequestError::SizeNotMultiple { side, pixels, multiple, below, above });
            }
        }
        if self.steps == 0 {
            return Err(RequestError::NoSteps);
        }
        if self.steps > 1000 {
            return Err(RequestError::TooManySteps(self.steps));
        }
        if self.frames == 0 {
            return Err(RequestError::NoFrames);
        }
        if !FRAME_RATES.contains(&self.frame_rate) {
            return Err(RequestError::FrameRate(self.frame_rate));
        }
        if self.batch == 0 {
            return Err(RequestError::EmptyBatch);
        }
        if self.batch > LARGEST_BATCH {
            return Err(RequestError::BatchTooLarge(self.batch));
        }
        if self.max_sequence_length == 0 {
            return Err(RequestError::NoTokens);
        }
        if !self.guidance.is_finite() || self.guidance < 0.0 {
            return Err(RequestError::Guidance(self.guidance));
        }
        if let Some(shift) = self.shift.filter(|shift| !(0.01..=LARGEST_SHIFT).contains(shift)) {
            return Err(RequestError::Shift(shift));
        }
        if let Some(adapter) = self.adapters.iter().find(|adapter| !adapter.weight.is_finite()) {
            return Err(RequestError::AdapterWeight(adapter.weight));
        }
        if self.clip_skip > LARGEST_CLIP_SKIP {
            return Err(RequestError::ClipSkip(self.clip_skip));
        }
        if !self.step_cache.is_finite() || self.step_cache < 0.0 {
            return Err(RequestError::StepCache(self.step_cache));
        }
        self.windows.map_or(Ok(()), |windows| windows.validate())?;
        self.variation.map_or(Ok(()), |variation| variation.validate())?;
        self.guiding.validate()?;
        self.refiner.as_ref().map_or(Ok(()), Refiner::validate)?;
        self.hires.as_ref().map_or(Ok(()), |hires| hires.validate(self))?;
        self.validate_detailers()?;
        self.validate_regions()?;
        self.smooth.as_ref().map_or(Ok(()), |smooth| smooth.validate(self.frames))?;
        self.redux.as_ref().map_or(Ok(()), |redux| redux.validate(self.references.len()))?;
        self.validate_inputs()
    }
}
