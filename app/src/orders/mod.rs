//! What other programs ask for: one form for the server, for MCP and for batches, and the request that it becomes.
//!
//! Names of models, adapters and upscalers are looked up on a [`Shelf`], and pictures come as data, so that an order from
//! another program opens no path, unless the shelf and the inputs are made for that.

mod error;
mod guidance;
mod inputs;
mod request;
mod samplers;
mod shelf;
mod styles;
mod tools;

use serde::{Deserialize, Serialize};
use sluice_engine::request::{BoxOrder, ControlMode, Fit, FrameRange, Preprocessor, Variation};

pub use error::OrderError;
pub use inputs::{Given, Inputs};
pub use samplers::{sampler, schedule};
pub use shelf::{Shelf, Shelved};
pub use styles::styles_of;
pub use tools::{DescribeOrder, MapOrder, ToMap};

/// What to generate, with names and pictures instead of paths. What is left out has the model's default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Order {
    /// The name of a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Describes the image.
    pub prompt: String,
    /// What to avoid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub negative_prompt: Option<String>,
    /// Names of styles.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub styles: Vec<String>,
    /// Pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// Frames of a clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<u32>,
    /// Frames per second of a clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fps: Option<f32>,
    /// Denoising steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// How strongly to follow the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guidance: Option<f32>,
    /// The seed; random if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Turns the noise of the seed towards that of another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variation: Option<Variation>,
    /// Images at once, with the next seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_size: Option<u32>,
    /// A sampler by any program's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampler: Option<String>,
    /// A noise schedule by any program's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The shift of the noise levels towards noise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shift: Option<f32>,
    /// Classifier-free guidance for models that are distilled for guidance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub true_cfg: Option<f32>,
    /// Guidance rescale.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guidance_rescale: Option<f32>,
    /// The fraction of the steps before which there is no guidance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guidance_start: Option<f32>,
    /// The fraction of the steps after which there is no guidance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guidance_end: Option<f32>,
    /// The threshold of the step cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_cache: Option<f32>,
    /// The layer of CLIP, counted from the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip_skip: Option<u32>,
    /// Adapters beside those in the prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub loras: Vec<LoraOrder>,
    /// The input image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<Given>,
    /// Denoising strength.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<f64>,
    /// How the input image is fitted to the size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// The area to inpaint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask: Option<MaskOrder>,
    /// What is added around the input image and generated, in pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outpaint: Option<OutpaintOrder>,
    /// Images to edit, or of what appears.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Given>,
    /// What controls a clip, beside the references.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<ControlOrder>,
    /// A second pass in a larger size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hires: Option<HiresOrder>,
    /// ControlNets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub control_nets: Vec<ControlNetOrder>,
    /// Images that are read through IP-Adapters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub image_prompts: Vec<ImagePromptOrder>,
    /// The name of the map estimator for ControlNets and control clips that follow depths; the first one on the shelf if
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth_model: Option<String>,
    /// The same for poses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pose_model: Option<String>,
    /// The same for segments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment_model: Option<String>,
    /// The same for soft edges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soft_edge_model: Option<String>,
    /// A second model for the last steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refiner: Option<RefinerOrder>,
    /// What is found in the image and inpainted again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub detailers: Vec<DetailerOrder>,
    /// Parts of the image with prompts of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub regions: Vec<RegionOrder>,
    /// How much the prompt counts inside of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region_base: Option<f32>,
    /// The part of the shorter side over which they fade in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region_fade: Option<f32>,
}

impl Order {
    /// The pictures and clips that are given, in a fixed order.
    pub fn given(&self) -> impl Iterator<Item = &Given> {
        let image = self.image.iter().chain(self.mask.iter().map(|mask| &mask.image));
        let nets = self.control_nets.iter().map(|net| &net.image);
        let prompts = self.image_prompts.iter().flat_map(|prompt| &prompt.images);
        let control = self.control.iter().flat_map(|control| control.video.iter().chain(&control.mask));
        let regions = self.regions.iter().filter_map(|region| region.mask.as_ref());
        image.chain(&self.references).chain(nets).chain(prompts).chain(control).chain(regions)
    }

    /// The same, to change them.
    pub fn given_mut(&mut self) -> impl Iterator<Item = &mut Given> {
        let image = self.image.iter_mut().chain(self.mask.iter_mut().map(|mask| &mut mask.image));
        let nets = self.control_nets.iter_mut().map(|net| &mut net.image);
        let prompts = self.image_prompts.iter_mut().flat_map(|prompt| &mut prompt.images);
        let control = self.control.iter_mut();
        let control = control.flat_map(|control| control.video.iter_mut().chain(&mut control.mask));
        let regions = self.regions.iter_mut().filter_map(|region| region.mask.as_mut());
        image.chain(&mut self.references).chain(nets).chain(prompts).chain(control).chain(regions)
    }
}

/// A part of the image with a prompt of its own: a box, or the white part of a mask, or else the whole image.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RegionOrder {
    /// Describes what is in it.
    pub prompt: String,
    /// Left, top, width and height, as parts of the image.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub sides: Option<[f32; 4]>,
    /// The mask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask: Option<Given>,
    /// How strongly it counts where regions overlap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f32>,
}

/// An adapter by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoraOrder {
    /// Its name.
    pub name: String,
    /// How strongly it counts; if absent, as it is made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f32>,
}

/// The area to inpaint: white in the image.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaskOrder {
    /// The mask.
    pub image: Given,
    /// Pixels over which it fades.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blur: Option<u32>,
    /// Inpaints the masked area and this many pixels around it alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_masked: Option<u32>,
    /// Swaps black and white.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub inverted: bool,
    /// Whether the opacity of the image is the mask: what is transparent is inpainted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub transparent: bool,
}

/// What is added around the input image, in pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OutpaintOrder {
    /// On the left.
    pub left: u32,
    /// Above.
    pub top: u32,
    /// On the right.
    pub right: u32,
    /// Below.
    pub bottom: u32,
    /// Pixels of the image over which it fades into what is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feather: Option<u32>,
}

/// What controls a clip, in models made for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControlOrder {
    /// The controlling clip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<Given>,
    /// The frames of it to use, counted at the frame rate of the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<FrameRange>,
    /// What is made of each frame of it first.
    pub preprocessor: Preprocessor,
    /// Its mask, white where it is generated: a clip, or an image for all frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask: Option<Given>,
    /// How strongly it and the references control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<f32>,
    /// The fraction of the steps before which they have no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<f64>,
    /// The fraction of the steps after which they have no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
    /// How its frames are fitted to the size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
}

/// A second pass in a larger size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HiresOrder {
    /// How many times as wide and as high the result is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<f32>,
    /// Denoising strength of the second pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<f64>,
    /// Its steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// The name of an upscaler, or `latent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upscaler: Option<String>,
}

/// A ControlNet by name, with its image.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ControlNetOrder {
    /// Its name.
    pub model: String,
    /// The image that it follows.
    pub image: Given,
    /// What is made of the image first.
    pub preprocessor: Preprocessor,
    /// The kind of the image, for ControlNets that follow several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ControlMode>,
    /// How strongly it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f32>,
    /// The fraction of the steps before which it has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<f64>,
    /// The fraction of the steps after which it has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
    /// How the image is fitted to the size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
}

/// An IP-Adapter by name, with the images that are read through it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ImagePromptOrder {
    /// Its name.
    pub adapter: String,
    /// The images.
    pub images: Vec<Given>,
    /// How strongly they count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f32>,
    /// The fraction of the steps before which they are not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<f64>,
    /// The fraction of the steps after which they are not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
}

/// A detector by name, and how what it finds is inpainted again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DetailerOrder {
    /// The name of the detector.
    pub model: String,
    /// How sure it must be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// The most boxes of an image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
    /// Which boxes come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<BoxOrder>,
    /// Pixels by which what is found grows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grow: Option<u32>,
    /// Pixels over which what is inpainted fades.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blur: Option<u32>,
    /// Pixels around it that the model sees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub padding: Option<u32>,
    /// Denoising strength.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strength: Option<f64>,
    /// Steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    /// Describes what is in the boxes.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prompt: String,
    /// What to avoid there.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub negative_prompt: String,
}

/// A second model by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefinerOrder {
    /// Its name.
    pub model: String,
    /// Where it takes over, as a fraction of the noise schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<f64>,
}
