//! A model: named parts, each with a network and the location of its weights.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use super::{ClipFrames, Denoiser, Family, MapForm, Task, detailer, hires, stages::overlap};
use crate::{
    aids::{Detector, MapEstimator, Segmenter},
    checkpoint::{Checkpoint, CheckpointError, Component, FileStamp, Layout, Part, Role},
    interpolation::Ifnet,
    memory::MemoryPreferences,
    request::{ComputeDtype, ControlMode, GuidanceOptions, Mode, References, Request, RequestError, Sampler},
    sampling::{OwnLevels, Training},
    text::{ClipVision, ImagePrompter, Manner, SeenSize, TextEncoder, Tokens, VisionTower, Writer},
    upscale::Upscaler,
    vae::Autoencoder,
};

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

    /// This model, whose denoiser is conditioned by these of its parts alone.
    pub fn conditioned_by(mut self, reads: &[usize]) -> Self {
        for part in &mut self.parts {
            if let Network::Denoiser(denoising) = &part.network {
                let reads = reads.to_vec();
                part.network =
                    Network::Denoiser(Arc::new(Denoising { reads, ..Denoising::clone(denoising) }));
            }
        }
        self
    }

    /// This model with an encoder of images, after its text encoders.
    pub fn with_image_encoder(mut self, (encoder, component): (ClipVision, Component)) -> Self {
        let network = Network::ImageEncoder(Arc::new(encoder));
        let place = self.text_encoders().last().map_or(0, |last| last.part + 1);
        let part = ModelPart { name: "image_encoder".to_owned(), component, network, takes_adapters: false };
        self.parts.insert(place, part);
        self
    }

    /// This model with a vision tower for its text encoder, before it.
    pub fn with_vision_tower(self, (tower, component): (impl VisionTower + 'static, Component)) -> Self {
        let network = Network::VisionTower(Arc::new(tower));
        self.after(ModelPart { name: "vision_tower".to_owned(), component, network, takes_adapters: false })
    }

    /// This model with another part before its own.
    pub(super) fn after(mut self, part: ModelPart) -> Self {
        let moved = |part: &mut ModelPart| {
            if let Network::Denoiser(denoising) = &part.network {
                let reads = denoising.reads.iter().map(|read| read + 1).collect();
                part.network =
                    Network::Denoiser(Arc::new(Denoising { reads, ..Denoising::clone(denoising) }));
            }
        };
        self.parts.iter_mut().for_each(moved);
        self.parts.insert(0, part);
        self
    }

    /// The vision tower of its text encoder, if it has one.
    pub fn vision_tower(&self) -> Option<Used<dyn VisionTower>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::VisionTower(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its encoder of images, if it reads their embeddings.
    pub fn image_encoder(&self) -> Option<Used<ClipVision>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::ImageEncoder(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// This model with ControlNets that steer its first denoiser, whose weights are held and streamed with its own.
    ///
    /// # Errors
    /// When one is no ControlNet for the model, or it takes none.
    pub fn controlled_by(mut self, nets: &[&Part]) -> Result<Self, CheckpointError> {
        let first = self.parts.iter_mut().find_map(|part| match &part.network {
            Network::Denoiser(denoising) => Some((Arc::clone(denoising), part)),
            _ => None,
        });
        let Some((denoising, part)) = first else { return Ok(self) };
        let (denoiser, components) = denoising.denoiser.controlled_by(nets)?;
        let nets = components.into_iter().enumerate();
        let nets = nets.map(|(number, component)| component.prefixed(&format!("control_net.{number}.")));
        part.component = part.component.clone().after(nets);
        part.network = Network::Denoiser(Arc::new(Denoising { denoiser, ..Denoising::clone(&denoising) }));
        Ok(self)
    }

    /// This model with a denoiser that takes over from its own one.
    pub fn with_second_denoiser(mut self, denoising: Denoising, component: Component) -> Self {
        let last = self.parts.iter().rposition(|part| matches!(part.network, Network::Denoiser(_)));
        let part = ModelPart {
            name: format!("{}_2", Role::Denoiser.id()),
            component,
            network: Network::Denoiser(Arc::new(denoising)),
            takes_adapters: true,
        };
        self.parts.insert(last.map_or(0, |last| last + 1), part);
        self
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

    /// The part with this name.
    pub fn part(&self, name: &str) -> Option<&ModelPart> {
        self.parts.iter().find(|part| part.name == name)
    }

    /// The components of its parts.
    pub fn components(&self) -> impl Iterator<Item = &Component> {
        self.parts.iter().map(|part| &part.component)
    }

    /// Its text encoders, in order.
    pub fn text_encoders(&self) -> impl Iterator<Item = Used<dyn TextEncoder>> + '_ {
        self.parts.iter().enumerate().filter_map(|(part, own)| match &own.network {
            Network::TextEncoder(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its denoisers, in order.
    pub fn denoisers(&self) -> impl Iterator<Item = Used<Denoising>> + '_ {
        self.parts.iter().enumerate().filter_map(|(part, own)| match &own.network {
            Network::Denoiser(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// What the frames of a clip after the first must be a multiple of; `None` if it only generates images.
    pub fn frame_multiple(&self) -> Option<u32> {
        let makes_clips = self.denoisers().all(|denoiser| denoiser.network.denoiser.makes_clips());
        let multiples = self.denoisers().map(|denoiser| denoiser.network.denoiser.frame_multiple());
        multiples.max().filter(|_| makes_clips)
    }

    /// Whether ControlNets can steer it.
    pub fn takes_control_nets(&self) -> bool {
        self.denoisers().next().is_some_and(|denoiser| denoiser.network.denoiser.control_nets().is_some())
    }

    /// The kinds of maps that ControlNets for it can be told.
    pub fn control_modes(&self) -> &'static [ControlMode] {
        self.denoisers().next().map_or(&[], |denoiser| denoiser.network.denoiser.control_modes())
    }

    /// Its autoencoders, in order.
    pub fn autoencoders(&self) -> impl Iterator<Item = Used<dyn Autoencoder>> + '_ {
        self.parts.iter().enumerate().filter_map(|(part, own)| match &own.network {
            Network::Autoencoder(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its upscaler, if it is one or has one.
    pub fn upscaler(&self) -> Option<Used<dyn Upscaler>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::Upscaler(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its frame interpolator, if it is one or has one.
    pub fn interpolator(&self) -> Option<Used<Ifnet>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::Interpolator(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its segmenter, if it is one.
    pub fn segmenter(&self) -> Option<Used<Segmenter>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::Segmenter(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its detectors, in order.
    pub fn detectors(&self) -> impl Iterator<Item = Used<Detector>> + '_ {
        self.parts.iter().enumerate().filter_map(|(part, own)| match &own.network {
            Network::Detector(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// Its language model, if it is one.
    pub fn writer(&self) -> Option<Used<Writer>> {
        self.parts.iter().enumerate().find_map(|(part, own)| match &own.network {
            Network::Writer(network) => Some(Used { part, network: Arc::clone(network) }),
            _ => None,
        })
    }

    /// This model plus the parts of another for which `name` returns a name. Each denoiser still reads the
    /// text encoders of its own model. LoRAs do not apply to the added parts.
    pub fn joined(&self, other: &Self, name: impl Fn(&ModelPart) -> Option<&'static str>) -> Self {
        let own = self.parts.iter().enumerate().map(|(index, part)| (0, index, part.clone()));
        let added = other.parts.iter().enumerate().filter_map(|(index, part)| {
            let name = name(part)?.to_owned();
            Some((1, index, ModelPart { name, takes_adapters: false, ..part.clone() }))
        });
        let mut parts: Vec<(usize, usize, ModelPart)> = own.chain(added).collect();
        parts.sort_by_key(|(.., part)| part.component.role);
        let places: Vec<(usize, usize)> = parts.iter().map(|(model, index, _)| (*model, *index)).collect();
        let place = |model: usize, index: usize| places.iter().position(|known| *known == (model, index));
        let joined = parts.into_iter().map(|(model, _, part)| {
            let network = match part.network {
                Network::Denoiser(denoising) => Network::Denoiser(Arc::new(Denoising {
                    reads: denoising.reads.iter().filter_map(|read| place(model, *read)).collect(),
                    ..Denoising::clone(&denoising)
                })),
                other => other,
            };
            ModelPart { network, ..part }
        });
        Self { parts: joined.collect(), ..self.clone() }
    }

    /// This model with its matrices in the precisions that the preferences ask for; they are encoded when
    /// read.
    pub fn held_as(mut self, preferences: &MemoryPreferences) -> Self {
        for part in self.parts.iter_mut().filter(|part| !part.component.role.stays_as_stored()) {
            part.component = part.component.clone().given_as(preferences.precision(part.component.role));
        }
        self
    }

    /// Equal for models of the same family with the same tensors in the same shapes and stored formats, wherever they
    /// are and whatever the files are called. It comes from headers alone, so the values of weights do not count.
    pub fn identity(&self) -> String {
        let mut hash = crc32fast::Hasher::new();
        let mut add = |words: &str| hash.update(&[words.as_bytes(), b"\n"].concat());
        add(self.family.name());
        let mut stored = 0;
        for ModelPart { name, component, .. } in &self.parts {
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

    /// Width and height must be multiples of this.
    pub fn size_multiple(&self) -> u32 {
        self.denoisers().map(|denoiser| denoiser.network.denoiser.size_multiple()).max().unwrap_or(1)
    }

    /// The maximum of width and height.
    pub fn longest_side(&self) -> u32 {
        self.denoisers().map(|denoiser| denoiser.network.denoiser.longest_side()).min().unwrap_or(0)
    }

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

    /// The constant shift of its noise levels; `None` if they have none, or are spaced in another way.
    pub fn shift(&self) -> Option<f32> {
        match &self.denoisers().next()?.network.training {
            Training::Flow(shift) => {
                let is_constant = !shift.use_dynamic_shifting && shift.own == OwnLevels::Even;
                is_constant.then_some(shift.shift as f32)
            }
            Training::Discrete(_) | Training::Cosine(_) => None,
        }
    }

    fn is_flow(&self) -> bool {
        self.denoisers().all(|denoiser| matches!(denoiser.network.training, Training::Flow(_)))
    }

    /// What it generates clips from; empty if it only generates images.
    pub fn modes(&self) -> &'static [Mode] {
        let first = self.denoisers().next().map(|denoiser| denoiser.network.denoiser.modes());
        first.filter(|_| self.frame_multiple().is_some()).unwrap_or_default()
    }

    /// The last frames of a clip that it continues from when it extends the clip.
    pub fn overlap(&self) -> Option<u32> {
        let denoiser = self.denoisers().next()?;
        self.modes().contains(&Mode::Extend).then(|| overlap(denoiser.network.denoiser.as_ref()))
    }

    /// Whether it only fills in a masked part of an image.
    pub fn fills_in(&self) -> bool {
        self.denoisers().any(|denoiser| denoiser.network.denoiser.fills_in())
    }

    /// How it takes reference images, if it does.
    pub fn references(&self) -> Option<References> {
        if self.vision_tower().is_some_and(|tower| tower.network.is_beside()) {
            return Some(References::through_redux());
        }
        self.denoisers().next()?.network.denoiser.references()
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

    /// Tokenizes prompts. Text encoders that do not read chunks truncate at `longest` tokens. Empty chunks
    /// are added until all prompts have as many as the longest one has in any encoder.
    pub fn tokenize(
        &self,
        prompts: &[&str],
        longest: usize,
        clip_skip: u32,
    ) -> Result<Vec<Prompt>, CheckpointError> {
        self.tokenize_seeing(prompts, longest, clip_skip, &[])
    }

    /// The same for prompts about images, which a text encoder with a vision tower sees.
    ///
    /// # Errors
    /// When a tokenizer fails.
    pub fn tokenize_seeing(
        &self,
        prompts: &[&str],
        longest: usize,
        clip_skip: u32,
        images: &[SeenImage],
    ) -> Result<Vec<Prompt>, CheckpointError> {
        let grids: Vec<[usize; 2]> = images.iter().map(|image| image.size.grid).collect();
        let encoders: Vec<_> = self.text_encoders().collect();
        let clip_skip = if self.reads_clip_skip() { clip_skip } else { 0 };
        let mut read = Vec::new();
        for prompt in prompts {
            let tokens = |encoder: &Used<dyn TextEncoder>| -> Result<_, CheckpointError> {
                Ok((encoder.part, encoder.network.tokenize_seeing(prompt, longest, &grids)?))
            };
            let parts = encoders.iter().map(tokens);
            let parts = parts.collect::<Result<_, _>>()?;
            read.push(Prompt { parts, clip_skip, images: images.to_vec() });
        }
        let chunks = read.iter().flat_map(|prompt| prompt.parts.values()).map(|part| part.sequences.len());
        let most = chunks.max().unwrap_or(0);
        for prompt in &mut read {
            for (encoder, tokens) in encoders.iter().zip(prompt.parts.values_mut()) {
                encoder.network.fill(tokens, most);
            }
        }
        Ok(read)
    }

    /// Whether [`GuidanceOptions::true_cfg`] has an effect.
    pub fn reads_true_cfg(&self) -> bool {
        let weight = |denoiser: &dyn Denoiser, true_cfg: f32| {
            let guiding = GuidanceOptions { true_cfg, ..GuidanceOptions::default() };
            denoiser.guidance_weight(&Request { guiding, ..Request::default() })
        };
        self.denoisers().any(|used| {
            let denoiser = used.network.denoiser.as_ref();
            weight(denoiser, 1.0) != weight(denoiser, 2.0)
        })
    }

    /// Whether clip skip has an effect.
    pub fn reads_clip_skip(&self) -> bool {
        self.text_encoders().any(|encoder| encoder.network.manner() == Manner::Chunks)
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
        Self { width, height, steps, guidance, on_cards: ComputeDtype::Bf16, frames, frame_rate, sampler }
    }
}

/// A tokenized prompt, with everything else that determines the text encoders' outputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// Tokens for the text encoders, by the indices of their parts.
    pub parts: BTreeMap<usize, Tokens>,
    /// The request's clip skip; 0 in models where it has no effect.
    pub clip_skip: u32,
    /// Images that a text encoder sees.
    pub images: Vec<SeenImage>,
}

/// An image that a text encoder sees.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenImage {
    /// Its file.
    pub file: FileStamp,
    /// In which sizes it is read.
    pub size: SeenSize,
    /// How strongly it counts; 1 unless it is read through Redux.
    pub strength: f32,
}

impl Prompt {
    /// The number of tokens for each text encoder, over all chunks.
    pub fn lengths(&self) -> Vec<usize> {
        self.parts.values().map(Tokens::len).collect()
    }
}
