//! A model: named parts, each with a network and the location of its weights.

mod abilities;
mod checks;
mod joined;
mod parts;
mod prompt;

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use super::{Denoiser, Family, Task, detailer, hires};
use crate::{
    aids::{Detector, MapEstimator, Segmenter},
    checkpoint::{Checkpoint, Component, Layout, Role},
    interpolation::Ifnet,
    request::{ComputeDtype, Mode, Request, Sampler},
    sampling::Training,
    text::{ClipVision, ImagePrompter, TextEncoder, VisionTower, Writer},
    upscale::Upscaler,
    vae::Autoencoder,
};
pub use prompt::{Prompt, SeenImage};

/// A model whose files have been checked but whose weights have not been read.
#[derive(Clone)]
pub struct Model {
    /// The family.
    pub family: &'static dyn Family,
    /// The path that was opened.
    pub path: PathBuf,
    /// The folder that contains its parts.
    pub root: PathBuf,
    /// How its files are organized.
    pub layout: Layout,
    /// In the order in which a run uses them.
    pub parts: Vec<ModelPart>,
    /// Default settings.
    pub defaults: ModelDefaults,
}

/// One part of a model.
#[derive(Clone)]
pub struct ModelPart {
    /// Its name, such as `text_encoder_2`, unique in the model.
    pub name: String,
    /// Location of its weights.
    pub component: Component,
    /// The network that uses them.
    pub network: Network,
    /// Whether LoRAs for the model apply to it.
    pub takes_adapters: bool,
}

/// The network of a part.
#[derive(Clone)]
pub enum Network {
    /// Converts prompts to embeddings.
    TextEncoder(Arc<dyn TextEncoder>),
    /// Converts images to embeddings that a denoiser reads.
    ImageEncoder(Arc<ClipVision>),
    /// Converts images to tokens of a text encoder.
    VisionTower(Arc<dyn VisionTower>),
    /// Converts images to tokens that a denoiser reads through an IP-Adapter.
    ImagePrompter(Arc<ImagePrompter>),
    /// Converts noise to latents, step by step.
    Denoiser(Arc<Denoising>),
    /// Converts between latents and pixels.
    Autoencoder(Arc<dyn Autoencoder>),
    /// Enlarges images.
    Upscaler(Arc<dyn Upscaler>),
    /// Makes the frames between those of a clip.
    Interpolator(Arc<Ifnet>),
    /// Makes maps of images for ControlNets.
    MapEstimator(Arc<dyn MapEstimator>),
    /// Makes masks of parts of images.
    Segmenter(Arc<Segmenter>),
    /// Finds faces, hands or persons in images.
    Detector(Arc<Detector>),
    /// Writes text.
    Writer(Arc<Writer>),
}

/// A denoiser and its noise levels.
#[derive(Clone)]
pub struct Denoising {
    /// The network.
    pub denoiser: Arc<dyn Denoiser>,
    /// Indices of the parts with the text encoders that condition it.
    pub reads: Vec<usize>,
    /// How it was trained: its noise levels and what it predicts.
    pub training: Training,
}

/// A network and the index of the part with its weights.
pub struct Used<T: ?Sized> {
    /// Index of the part.
    pub part: usize,
    /// The network.
    pub network: Arc<T>,
}

impl<T: ?Sized> Clone for Used<T> {
    fn clone(&self) -> Self {
        Self { part: self.part, network: Arc::clone(&self.network) }
    }
}

/// What a family found in a checkpoint, in families with one denoiser and one autoencoder.
pub struct Opened {
    /// Text encoders, in the order in which the denoiser reads their outputs.
    pub text: Vec<TextPart>,
    /// The denoiser and the location of its weights.
    pub denoiser: (Box<dyn Denoiser>, Component),
    /// The autoencoder and the location of its weights.
    pub autoencoder: (Box<dyn Autoencoder>, Component),
    /// See [`Denoising::training`].
    pub training: Training,
    /// See [`Model::defaults`].
    pub defaults: ModelDefaults,
}

/// A text encoder and the location of its weights.
pub struct TextPart {
    /// The encoder.
    pub encoder: Box<dyn TextEncoder>,
    /// Location of its weights.
    pub component: Component,
}

impl TextPart {
    /// From the result of opening an encoder.
    pub fn new((encoder, component): (impl TextEncoder + 'static, Component)) -> Self {
        Self { encoder: Box::new(encoder), component }
    }
}

impl Model {
    /// Builds a model from what a family found in a checkpoint.
    pub fn new(family: &'static dyn Family, checkpoint: &Checkpoint, opened: Opened) -> Self {
        let Opened { text, denoiser, autoencoder, training, defaults } = opened;
        let reads = (0..text.len()).collect();
        let denoising = Denoising { denoiser: Arc::from(denoiser.0), reads, training };
        let mut parts: Vec<(Component, Network)> = text
            .into_iter()
            .map(|part| (part.component, Network::TextEncoder(Arc::from(part.encoder))))
            .collect();
        parts.push((denoiser.1, Network::Denoiser(Arc::new(denoising))));
        parts.push((autoencoder.1, Network::Autoencoder(Arc::from(autoencoder.0))));
        Self {
            family,
            path: checkpoint.path.clone(),
            root: checkpoint.root.clone(),
            layout: checkpoint.layout,
            parts: named(parts),
            defaults,
        }
    }

    /// The stages of a run for this request.
    pub fn stages(&self, request: &Request) -> Vec<Task> {
        let mut tasks = match &request.hires {
            _ if request.detail_of.is_some() => Vec::new(),
            Some(hires) => hires::stages(self, request, hires),
            None => self.family.stages(self, request),
        };
        tasks.extend(detailer::stages(self, request, &tasks));
        if let (Some(smooth), Some(interpolator)) = (&request.smooth, self.interpolator())
            && !tasks.is_empty()
        {
            tasks.push(Task::Interpolate { interpolator, how: smooth.how });
        }
        if let Some(prompting) = self.prompting(request) {
            tasks.insert(0, prompting);
        }
        tasks.splice(..0, self.map_stages(request));
        tasks
    }

    /// Equal for models of the same family with the same tensors in the same shapes and stored formats, wherever they
    /// are and whatever the files are called. It comes from headers alone, so the values of weights do not count. Nor do parts
    /// of other models that are used beside its own, such as detectors, and whose speeds are known by themselves.
    pub fn identity(&self) -> String {
        let is_own = |part: &&ModelPart| !part.component.role.has_own_speed();
        let is_alone = !self.parts.iter().any(|part| is_own(&part));
        let mut hash = crc32fast::Hasher::new();
        let mut add = |words: &str| hash.update(&[words.as_bytes(), b"\n"].concat());
        add(self.family.name());
        let mut stored = 0;
        for ModelPart { name, component, .. } in self.parts.iter().filter(|part| is_alone || is_own(part)) {
            add(&format!("{name} {} {}", component.role.id(), component.architecture));
            for block in &component.blocks {
                add(&block.name);
                for (name, tensor) in &block.tensors {
                    add(&format!("{name} {:?} {}", tensor.shape(), tensor.dtype_name()));
                    stored += tensor.stored_bytes();
                }
            }
        }
        format!("{:08x}{stored:x}", hash.finalize())
    }
}

impl Denoising {
    /// The number of steps that a request runs: with an input image, the last ones of those it asks for.
    pub fn steps(&self, request: &Request) -> usize {
        let steps = request.steps as usize;
        match (request.mode(), request.strength()) {
            // As in diffusers, which rounds the other way for images.
            (Mode::VideoToVideo, Some(strength)) => ((steps as f64 * strength) as usize).min(steps),
            (_, Some(strength)) => steps - self.training.skipped(steps, strength),
            (_, None) => steps,
        }
    }
}

/// Names parts by their roles: `text_encoder`, `text_encoder_2`, `denoiser`.
fn named(parts: Vec<(Component, Network)>) -> Vec<ModelPart> {
    let mut counts: BTreeMap<Role, usize> = BTreeMap::new();
    let name = |(component, network): (Component, Network)| {
        let role = component.role;
        let count = counts.entry(role).or_default();
        *count += 1;
        ModelPart {
            name: if *count == 1 { role.id().to_owned() } else { format!("{}_{count}", role.id()) },
            component,
            network,
            takes_adapters: role != Role::Autoencoder,
        }
    };
    parts.into_iter().map(name).collect()
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("family", &self.family.id()).finish_non_exhaustive()
    }
}

/// Default settings of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelDefaults {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// The fewest and the most pixels that it draws well, as shares of those.
    pub range: [f32; 2],
    /// Denoising steps.
    pub steps: u32,
    /// Guidance.
    pub guidance: f32,
    /// The 16-bit float format that it is computed in on GPUs: the one that it was published for.
    pub on_cards: ComputeDtype,
    /// Frames of a clip; 1 for images.
    pub frames: u32,
    /// Frames per second of a clip.
    pub frame_rate: f32,
    /// Sampling method.
    pub sampler: Sampler,
}

impl Default for ModelDefaults {
    fn default() -> Self {
        let Request { width, height, frames, frame_rate, steps, guidance, sampler, .. } = Request::default();
        let (range, on_cards) = (Self::WIDE_RANGE, ComputeDtype::Bf16);
        Self { width, height, range, steps, guidance, on_cards, frames, frame_rate, sampler }
    }
}

impl ModelDefaults {
    /// The [range](Self::range) of most transformers, which are trained at many sizes.
    pub const WIDE_RANGE: [f32; 2] = [0.25, 2.3];
    /// That of networks that are trained at one number of pixels: they repeat what they draw in more, and draw little in fewer.
    pub const NARROW_RANGE: [f32; 2] = [0.5, 1.7];
}
