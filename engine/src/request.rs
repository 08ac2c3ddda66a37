//! What to generate.

mod guidance;
mod refiner;
mod source;

use std::{fmt, path::PathBuf, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::checkpoint::{CheckpointError, starter_folder};
pub use guidance::{GuidanceError, GuidanceOptions, Interval, NoInterval};

pub use refiner::Refiner;
pub use source::{Fit, SourceImage, SourceMask, WIDEST_BLUR};

/// The model to use.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelSource {
    /// The small model that comes with Sluice.
    Starter,
    /// A folder or a file.
    Path(PathBuf),
}

impl ModelSource {
    /// The path of the model on this machine.
    ///
    /// # Errors
    /// Fails if the starter model is not where Sluice was installed.
    pub fn resolve(&self) -> Result<PathBuf, CheckpointError> {
        match self {
            Self::Starter => starter_folder(),
            Self::Path(path) => Ok(path.clone()),
        }
    }
}

impl FromStr for ModelSource {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(if text == "starter" { Self::Starter } else { Self::Path(PathBuf::from(text)) })
    }
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starter => f.write_str("starter"),
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

/// The sampling method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Sampler {
    /// One step along the predicted direction.
    #[default]
    #[serde(rename = "euler")]
    Euler,
    /// Euler steps with new noise in each.
    #[serde(rename = "euler_ancestral")]
    EulerAncestral,
    /// Follows the mean of two predictions per step: slower, more accurate.
    #[serde(rename = "heun")]
    Heun,
    /// Two predictions per step, the second at the midpoint.
    #[serde(rename = "dpm2")]
    Dpm2,
    /// Two predictions of the clean image per step, and new noise.
    #[serde(rename = "dpmpp_2s_ancestral")]
    Dpmpp2sAncestral,
    /// Extrapolates the last two predictions.
    #[serde(rename = "dpmpp_2m")]
    Dpmpp2m,
    /// The same with new noise in each step.
    #[serde(rename = "dpmpp_2m_sde")]
    Dpmpp2mSde,
    /// Extrapolates the last three predictions, with new noise in each step.
    #[serde(rename = "dpmpp_3m_sde")]
    Dpmpp3mSde,
    /// Mixes the predicted clean image and the predicted noise again for the next level.
    #[serde(rename = "ddim")]
    Ddim,
    /// Extrapolates the last four directions, for uneven steps.
    #[serde(rename = "lms")]
    Lms,
    /// Extrapolates the last four directions, as if steps were even.
    #[serde(rename = "ipndm")]
    Ipndm,
    /// Extrapolates two predictions, and corrects each step with the next prediction.
    #[serde(rename = "uni_pc")]
    UniPc,
    /// For consistency models: mixes the predicted clean image with new noise.
    #[serde(rename = "lcm")]
    Lcm,
    /// Extrapolates the last three predictions, and adds new noise in each step.
    #[serde(rename = "er_sde")]
    ErSde,
    /// Extrapolates the last two predictions exponentially.
    #[serde(rename = "res_multistep")]
    ResMultistep,
    /// For trajectory consistency models: goes below each level and comes back up with new noise.
    #[serde(rename = "tcd")]
    Tcd,
}

impl Sampler {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 16] = [
        Self::Euler,
        Self::EulerAncestral,
        Self::Heun,
        Self::Dpm2,
        Self::Dpmpp2sAncestral,
        Self::Dpmpp2m,
        Self::Dpmpp2mSde,
        Self::Dpmpp3mSde,
        Self::Ddim,
        Self::Lms,
        Self::Ipndm,
        Self::UniPc,
        Self::Lcm,
        Self::ErSde,
        Self::ResMultistep,
        Self::Tcd,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Euler => "euler",
            Self::EulerAncestral => "euler-ancestral",
            Self::Heun => "heun",
            Self::Dpm2 => "dpm2",
            Self::Dpmpp2sAncestral => "dpmpp-2s-ancestral",
            Self::Dpmpp2m => "dpmpp-2m",
            Self::Dpmpp2mSde => "dpmpp-2m-sde",
            Self::Dpmpp3mSde => "dpmpp-3m-sde",
            Self::Ddim => "ddim",
            Self::Lms => "lms",
            Self::Ipndm => "ipndm",
            Self::UniPc => "uni-pc",
            Self::Lcm => "lcm",
            Self::ErSde => "er-sde",
            Self::ResMultistep => "res-multistep",
            Self::Tcd => "tcd",
        }
    }

    /// The display name: that of AUTOMATIC1111's web UI where it has the sampler.
    pub fn title(self) -> &'static str {
        match self {
            Self::Euler => "Euler",
            Self::EulerAncestral => "Euler a",
            Self::Heun => "Heun",
            Self::Dpm2 => "DPM2",
            Self::Dpmpp2sAncestral => "DPM++ 2S a",
            Self::Dpmpp2m => "DPM++ 2M",
            Self::Dpmpp2mSde => "DPM++ 2M SDE",
            Self::Dpmpp3mSde => "DPM++ 3M SDE",
            Self::Ddim => "DDIM",
            Self::Lms => "LMS",
            Self::Ipndm => "IPNDM",
            Self::UniPc => "UniPC",
            Self::Lcm => "LCM",
            Self::ErSde => "ER SDE",
            Self::ResMultistep => "RES multistep",
            Self::Tcd => "TCD",
        }
    }

    /// Number of predictions for this many steps, the last of which ends at noise level 0.
    pub fn calls(self, steps: usize) -> usize {
        match self {
            Self::Heun | Self::Dpm2 | Self::Dpmpp2sAncestral => (2 * steps).saturating_sub(1),
            _ => steps,
        }
    }

    /// Number of noise levels at which this many steps call the model.
    pub fn levels(self, steps: usize) -> usize {
        match self {
            Self::Heun => steps,
            _ => self.calls(steps),
        }
    }

    /// Number of f32 tensors of the latents' shape that the sampler holds while the model is called, besides the
    /// latents and the last prediction.
    pub fn held(self) -> usize {
        match self {
            Self::Euler | Self::Heun => 0,
            Self::EulerAncestral | Self::Dpm2 | Self::Ddim | Self::Lcm | Self::Tcd => 1,
            Self::Dpmpp2m | Self::Dpmpp2sAncestral | Self::ResMultistep => 2,
            Self::Dpmpp2mSde | Self::UniPc => 3,
            Self::Dpmpp3mSde | Self::Lms | Self::Ipndm | Self::ErSde => 4,
        }
    }
}

/// The noise schedule: how the noise levels of the steps are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// The one in the model's scheduler configuration.
    #[default]
    Model,
    /// Even steps, shifted by the model's constant.
    StaticShift,
    /// Even steps, shifted by an amount that grows with the size of the image.
    DynamicShift,
    /// Even steps in the model's own time, both ends included.
    Normal,
    /// Even steps in the seventh root of the noise level.
    Karras,
    /// Even steps in the logarithm of the noise level.
    Exponential,
    /// Even steps in the model's own time, the last of which would end at its lowest level.
    SgmUniform,
    /// Every n-th of the model's noise levels.
    Simple,
    /// Denser at both ends, by the beta distribution.
    Beta,
    /// Tiny even steps first, then longer and longer ones.
    LinearQuadratic,
    /// Even steps in the arc tangent of the noise level.
    KlOptimal,
    /// Noise levels that were optimized for the model family.
    AlignYourSteps,
}

impl Schedule {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Self; 12] = [
        Self::Model,
        Self::StaticShift,
        Self::DynamicShift,
        Self::Normal,
        Self::Karras,
        Self::Exponential,
        Self::SgmUniform,
        Self::Simple,
        Self::Beta,
        Self::LinearQuadratic,
        Self::KlOptimal,
        Self::AlignYourSteps,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::StaticShift => "static-shift",
            Self::DynamicShift => "dynamic-shift",
            Self::Normal => "normal",
            Self::Karras => "karras",
            Self::Exponential => "exponential",
            Self::SgmUniform => "sgm-uniform",
            Self::Simple => "simple",
            Self::Beta => "beta",
            Self::LinearQuadratic => "linear-quadratic",
            Self::KlOptimal => "kl-optimal",
            Self::AlignYourSteps => "align-your-steps",
        }
    }

    /// The display name: that of AUTOMATIC1111's web UI where it has the schedule.
    pub fn title(self) -> &'static str {
        match self {
            Self::Model => "Model default",
            Self::StaticShift => "Static shift",
            Self::DynamicShift => "Dynamic shift",
            Self::Normal => "Normal",
            Self::Karras => "Karras",
            Self::Exponential => "Exponential",
            Self::SgmUniform => "SGM Uniform",
            Self::Simple => "Simple",
            Self::Beta => "Beta",
            Self::LinearQuadratic => "Linear quadratic",
            Self::KlOptimal => "KL Optimal",
            Self::AlignYourSteps => "Align Your Steps",
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

/// The size of what is generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canvas {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames: 1 for an image.
    pub frames: u32,
}

impl Canvas {
    /// Rows and columns of latents that stand for `scale` by `scale` pixels each.
    pub fn latents(self, scale: usize) -> [usize; 2] {
        [self.height, self.width].map(|side| side as usize / scale)
    }
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
    /// Images generated at once.
    pub batch: u32,
    /// Sampling method.
    pub sampler: Sampler,
    /// Noise schedule.
    pub schedule: Schedule,
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
    /// The input image for image to image and inpainting; absent for text to image.
    #[serde(default)]
    pub source: Option<SourceImage>,
    /// A second model for the last steps, in families that have one.
    #[serde(default)]
    pub refiner: Option<Refiner>,
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
            width: 128,
            height: 128,
            frames: one_frame(),
            frame_rate: usual_rate(),
            steps: 12,
            guidance: 2.0,
            seed: 0,
            batch: 1,
            sampler: Sampler::default(),
            schedule: Schedule::default(),
            dtype: None,
            max_sequence_length: 512,
            adapters: Vec::new(),
            clip_skip: 0,
            guiding: GuidanceOptions::default(),
            step_cache: 0.0,
            source: None,
            refiner: None,
        }
    }
}

/// Longest side of an image in pixels. Above it, the tokens of a single step no longer fit into any memory.
pub const LONGEST_SIDE: u32 = 16_384;
/// Largest batch.
pub const LARGEST_BATCH: u32 = 256;
/// Largest clip skip: CLIP-L has this many layers.
pub const LARGEST_CLIP_SKIP: u32 = 12;

/// Why a request is invalid.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// The model cannot generate this size.
    #[error("{side} {pixels} is not a multiple of {multiple}; use {below} or {above}")]
    SizeNotMultiple {
        /// "width" or "height".
        side: &'static str,
        /// The requested value.
        pixels: u32,
        /// The multiple.
        multiple: u32,
        /// The next smaller valid size.
        below: u32,
        /// The next larger valid size.
        above: u32,
    },
    /// The size exceeds the limit of Sluice or of this model.
    #[error("{side} {pixels} is too large; use {longest} or less")]
    SideTooLong {
        /// "width" or "height".
        side: &'static str,
        /// The requested value.
        pixels: u32,
        /// The largest valid size.
        longest: u32,
    },
    /// No steps.
    #[error("0 steps would leave only noise; use 1 or more")]
    NoSteps,
    /// A clip without frames.
    #[error("0 frames produce nothing; use 1 or more")]
    NoFrames,
    /// More than one frame from a model that generates images.
    #[error("this model generates images, not clips; use 1 frame instead of {0}")]
    OneFrameOnly(u32),
    /// A frame rate that no player has.
    #[error("{0} frames per second are invalid; use a value from 1 to 60")]
    FrameRate(f32),
    /// An empty batch.
    #[error("batch size 0 produces nothing; use 1 or more")]
    EmptyBatch,
    /// A batch that no machine can hold.
    #[error("batch size {0} is too large; use {LARGEST_BATCH} or less")]
    BatchTooLarge(u32),
    /// A limit of 0 prompt tokens.
    #[error("a prompt limit of 0 tokens leaves no prompt; use 1 or more")]
    NoTokens,
    /// A guidance scale that is negative or not finite.
    #[error("guidance {0} is invalid; use 0 or more")]
    Guidance(f32),
    /// An adapter weight that is not finite.
    #[error("LoRA weight {0} is not a finite number")]
    AdapterWeight(f32),
    /// More steps than there are distinct noise levels.
    #[error("{0} steps are too many; use 1000 or fewer")]
    TooManySteps(u32),
    /// A layer that CLIP does not have.
    #[error("clip skip {0} is more layers than CLIP has; use {LARGEST_CLIP_SKIP} or less")]
    ClipSkip(u32),
    /// An invalid guidance option.
    #[error(transparent)]
    Guiding(#[from] GuidanceError),
    /// A step cache threshold that is negative or not finite.
    #[error("step cache threshold {0} is invalid; use 0 or more")]
    StepCache(f32),
    /// The schedule has no noise levels for this kind of model.
    #[error("the schedule {} is not available for this model", .0.title())]
    NoSuchLevels(Schedule),
    /// A denoising strength out of range.
    #[error("denoising strength {0} is invalid; use a value above 0, up to 1")]
    Strength(f64),
    /// A denoising strength so low that no step is left.
    #[error(
        "denoising strength {strength} leaves none of the {steps} steps; use {least} or more, or more steps"
    )]
    StrengthTakesNoStep {
        /// The requested value.
        strength: f64,
        /// The requested value.
        steps: u32,
        /// The lowest strength that leaves a step.
        least: f64,
    },
    /// A switch to the refiner that leaves one of the two models no steps.
    #[error("refiner switch {0} is invalid; use a value between 0 and 1, such as 0.8")]
    RefinerSwitch(f64),
    /// A mask blur wider than images are.
    #[error("mask blur {0} is too large; use {WIDEST_BLUR} or less")]
    MaskBlur(u32),
}

impl Request {
    /// The size of each of its images or clips.
    pub fn canvas(&self) -> Canvas {
        Canvas { width: self.width, height: self.height, frames: self.frames }
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
        if !(1.0..=60.0).contains(&self.frame_rate) {
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
        if let Some(adapter) = self.adapters.iter().find(|adapter| !adapter.weight.is_finite()) {
            return Err(RequestError::AdapterWeight(adapter.weight));
        }
        if self.clip_skip > LARGEST_CLIP_SKIP {
            return Err(RequestError::ClipSkip(self.clip_skip));
        }
        if !self.step_cache.is_finite() || self.step_cache < 0.0 {
            return Err(RequestError::StepCache(self.step_cache));
        }
        self.guiding.validate()?;
        self.refiner.as_ref().map_or(Ok(()), Refiner::validate)?;
        self.source.as_ref().map_or(Ok(()), SourceImage::validate)
    }
}
