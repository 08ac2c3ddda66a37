//! A summary of a model.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::{
    checkpoint::{Block, CheckpointError, MapKind, Role, read_toml},
    models::{Model, ModelDefaults, ModelPart, name_of},
    request::{ControlMode, Mode, ModelSource, References, Request, Sampler, Schedule},
};

/// The parts and default settings of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelSummary {
    /// The source of the model.
    pub source: ModelSource,
    /// Display name.
    pub name: String,
    /// Identifier of its family, such as `z_image`.
    pub family: String,
    /// Display name of its family, such as `Z-Image`.
    pub family_name: String,
    /// Description of the file layout.
    pub layout: String,
    /// Text encoder, denoiser, autoencoder.
    pub components: Vec<ComponentSummary>,
    /// Width and height must be multiples of this.
    pub size_multiple: u32,
    /// The maximum of width and height.
    pub longest_side: u32,
    /// Default settings.
    pub defaults: Defaults,
    /// Example prompts.
    pub examples: Vec<String>,
    /// Whether [`Request::clip_skip`](crate::request::Request::clip_skip) has an effect.
    #[serde(default)]
    pub reads_clip_skip: bool,
    /// Whether [`GuidanceOptions::true_cfg`](crate::request::GuidanceOptions::true_cfg) has an effect.
    #[serde(default)]
    pub reads_true_cfg: bool,
    /// The constant shift of its noise levels; `None` if they have none, or are spaced in another way.
    #[serde(default)]
    pub shift: Option<f32>,
    /// Whether [`Request::refiner`](crate::request::Request::refiner) can be used.
    #[serde(default)]
    pub takes_refiner: bool,
    /// Whether [`Request::redux`](crate::request::Request::redux) can be used.
    #[serde(default)]
    pub takes_redux: bool,
    /// Whether [`Request::control_nets`](crate::request::Request::control_nets) can be used.
    #[serde(default)]
    pub takes_control_nets: bool,
    /// Whether [`Request::image_prompts`](crate::request::Request::image_prompts) can be used.
    #[serde(default)]
    pub takes_ip_adapters: bool,
    /// The kind of maps that it makes, if it is a map estimator.
    #[serde(default)]
    pub maps: Option<MapKind>,
    /// The kinds of maps that ControlNets for it can be told.
    #[serde(default)]
    pub control_modes: Vec<ControlMode>,
    /// What the frames of a clip after the first must be a multiple of; `None` if it only generates images.
    #[serde(default)]
    pub frame_multiple: Option<u32>,
    /// What it generates clips from; empty if it only generates images.
    #[serde(default)]
    pub modes: Vec<Mode>,
    /// How it takes reference images, if it does.
    #[serde(default)]
    pub references: Option<References>,
    /// The last frames of a clip that it continues from when it extends the clip.
    #[serde(default)]
    pub overlap: Option<u32>,
    /// Whether it only fills in a masked part of an image.
    #[serde(default)]
    pub fills_in: bool,
}

/// One part of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentSummary {
    /// Its name in the model, such as `text_encoder_2`.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// The architecture, such as `Qwen3`.
    pub architecture: String,
    /// Number of weights.
    pub parameters: u64,
    /// Bytes as stored.
    pub bytes: u64,
    /// Stored dtype → bytes.
    pub dtypes: BTreeMap<String, u64>,
    /// The blocks, in the order in which they run.
    pub blocks: Vec<BlockSummary>,
    /// The files that it is read from.
    pub files: Vec<PathBuf>,
}

/// One block of weights.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSummary {
    /// Its name.
    pub name: String,
    /// Number of tensors.
    pub tensors: usize,
    /// Number of weights.
    pub parameters: u64,
    /// Bytes as stored.
    pub bytes: u64,
}

/// Default settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Defaults {
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
    /// Frames of a clip; 1 for images.
    pub frames: u32,
    /// Frames per second of a clip.
    pub frame_rate: f32,
    /// Sampling method.
    pub sampler: Sampler,
}

impl Defaults {
    /// The request with these settings; the schedule and the shift are the model's own.
    pub fn given_to(&self, request: Request) -> Request {
        let Self { width, height, steps, guidance, frames, frame_rate, sampler, .. } = *self;
        let (schedule, shift) = (Schedule::default(), None);
        Request { width, height, steps, guidance, frames, frame_rate, sampler, schedule, shift, ..request }
    }
}

impl Default for Defaults {
    fn default() -> Self {
        let Request { width, height, frames, frame_rate, steps, guidance, sampler, .. } = Request::default();
        let range = ModelDefaults::WIDE_RANGE;
        Self { width, height, range, steps, guidance, frames, frame_rate, sampler }
    }
}

/// A model folder's own description, in `starter.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Notes {
    name: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    range: Option<[f32; 2]>,
    steps: Option<u32>,
    guidance: Option<f32>,
    frames: Option<u32>,
    frame_rate: Option<f32>,
    sampler: Option<Sampler>,
    examples: Vec<String>,
}

const NOTES: &str = "starter.toml";

/// Describes an opened model.
pub fn summarise(model: &Model, source: &ModelSource) -> Result<ModelSummary, CheckpointError> {
    let notes: Notes = read_toml(&model.root.join(NOTES))?.unwrap_or_default();
    let own_name = Some(name_of(&model.path)).filter(|name| !name.is_empty());
    Ok(ModelSummary {
        source: source.clone(),
        name: notes.name.or(own_name).unwrap_or_else(|| model.family.name().to_owned()),
        family: model.family.id().to_owned(),
        family_name: model.family.name().to_owned(),
        layout: model.layout.name().to_owned(),
        components: model.parts.iter().map(component_summary).collect(),
        size_multiple: model.size_multiple(),
        longest_side: model.longest_side(),
        defaults: Defaults {
            width: notes.width.unwrap_or(model.defaults.width),
            height: notes.height.unwrap_or(model.defaults.height),
            range: notes.range.unwrap_or(model.defaults.range),
            steps: notes.steps.unwrap_or(model.defaults.steps),
            guidance: notes.guidance.unwrap_or(model.defaults.guidance),
            frames: notes.frames.unwrap_or(model.defaults.frames),
            frame_rate: notes.frame_rate.unwrap_or(model.defaults.frame_rate),
            sampler: notes.sampler.unwrap_or(model.defaults.sampler),
        },
        examples: notes.examples,
        reads_clip_skip: model.reads_clip_skip(),
        reads_true_cfg: model.reads_true_cfg(),
        shift: model.shift(),
        takes_refiner: model.family.takes_refiner(),
        takes_redux: model.family.takes_redux(),
        takes_control_nets: model.takes_control_nets(),
        takes_ip_adapters: model.takes_ip_adapters(),
        maps: model.estimators().next().map(|estimator| estimator.network.kind()),
        control_modes: model.control_modes().to_vec(),
        frame_multiple: model.frame_multiple(),
        modes: model.modes().to_vec(),
        references: model.references(),
        overlap: model.overlap(),
        fills_in: model.fills_in(),
    })
}

fn component_summary(ModelPart { name, component, .. }: &ModelPart) -> ComponentSummary {
    let mut dtypes = BTreeMap::new();
    for (_, tensor) in component.blocks.iter().flat_map(|block| &block.tensors) {
        *dtypes.entry(tensor.dtype_name()).or_default() += tensor.stored_bytes();
    }
    ComponentSummary {
        name: name.clone(),
        role: component.role,
        architecture: component.architecture.to_owned(),
        parameters: component.blocks.iter().map(Block::parameters).sum(),
        bytes: component.blocks.iter().map(Block::stored_bytes).sum(),
        dtypes,
        blocks: component.blocks.iter().map(block_summary).collect(),
        files: component.files.clone(),
    }
}

fn block_summary(block: &Block) -> BlockSummary {
    BlockSummary {
        name: block.name.clone(),
        tensors: block.tensors.len(),
        parameters: block.parameters(),
        bytes: block.stored_bytes(),
    }
}
