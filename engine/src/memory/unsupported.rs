//! The sizes of published models that no family generates with yet, so that a person can ask what one would take.
//!
//! The data is `presets/models.json`. `tests/reference/catalogue.py` writes it from the configurations of the models
//! alone: numbers of weights and operations are exact, activations are what the same network holds at a time in
//! diffusers, with attention that never materialises its scores.

mod formula;

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

pub use self::formula::RequestShape;
use self::formula::{Polynomial, Tokens};
use super::{BlockFootprint, Footprint, Held, PartFootprint, PublishedBlocks, part_names};
use crate::{
    checkpoint::{Errors, Role},
    precision::Storage,
    request::ComputeDtype,
};

/// Columns of a matrix that is as large as they are in published models.
const SOME_COLUMNS: usize = 3072;

/// A published model that Sluice cannot generate with yet.
#[derive(Debug, Clone, PartialEq)]
pub struct UnsupportedModel {
    /// Identifier, such as `flux.1-dev`.
    pub id: String,
    /// Name in words.
    pub name: String,
    /// Other identifiers that mean it.
    pub aliases: Vec<String>,
    /// Its repository on Hugging Face.
    pub hub: String,
    /// Its default settings.
    pub defaults: KnownDefaults,
    /// In the order in which a run uses them.
    components: Vec<ListedComponent>,
    latents: Latents,
    /// Tokens of the prompt that the denoiser sees.
    text: Tokens,
}

/// The default settings of a well-known model.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownDefaults {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Frames; 1 for images.
    pub frames: u32,
    /// Denoising steps.
    pub steps: u32,
    /// Guidance.
    pub guidance: f32,
}

#[derive(Debug, Clone, PartialEq)]
struct ListedComponent {
    role: Role,
    /// In words.
    architecture: String,
    /// In the order in which they run; those that a run from text has no use for come first.
    blocks: Vec<ListedBlock>,
    /// Tokens that it sees, where it is a text encoder.
    tokens: Option<Tokens>,
    /// Its share of the steps, where it is a denoiser.
    share: f64,
    /// Values that a call leaves behind in the blocks that run once.
    kept_a_call: u64,
}

#[derive(Debug, Clone, PartialEq)]
struct ListedBlock {
    name: String,
    /// Number of weights.
    parameters: u64,
    /// Those in matrices and kernels.
    matrix_parameters: u64,
    /// Weights of its largest tensor.
    largest_tensor: u64,
    runs: Runs,
    /// Floating-point operations of a pass, for one image and one branch.
    operations: Polynomial,
    /// Values that are there before it runs.
    carried: Polynomial,
    /// The most values beyond those while it runs.
    values: Polynomial,
}

/// When a block runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Runs {
    /// Not in a run that starts from text and noise.
    Never,
    /// Once a run: it depends on the prompt and the timesteps alone.
    Once,
    /// In every pass through its component.
    Always,
}

/// How pixels become tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Latents {
    channels: u32,
    /// Pixels a latent, in each direction.
    scale: u32,
    /// Frames a frame of latents, after the first.
    frames: u32,
    /// Latents a token, in each direction.
    patch: u32,
}

/// The models of `presets/models.json`, in the order in which they are offered.
pub fn unsupported_models() -> &'static [UnsupportedModel] {
    static MODELS: LazyLock<Vec<UnsupportedModel>> = LazyLock::new(|| {
        read(include_str!("../../../presets/models.json")).unwrap_or_else(|error| {
            tracing::error!(error, "presets/models.json cannot be read");
            Vec::new()
        })
    });
    &MODELS
}

impl UnsupportedModel {
    /// Its blocks and their bytes, if each weight takes this many.
    pub fn footprint(&self, bytes_per_weight: u64) -> Footprint {
        let block = |block: &ListedBlock| BlockFootprint {
            name: block.name.clone(),
            bytes: block.parameters * bytes_per_weight,
            by_dtype: [0, 0, block.parameters * bytes_per_weight, 0],
            largest_tensor: block.largest_tensor * bytes_per_weight,
            file_bytes: block.parameters * bytes_per_weight,
            parameters: block.parameters,
            encoded: BTreeMap::new(),
            smaller: block.smaller(bytes_per_weight),
        };
        let names = part_names(self.components.iter().map(|component| component.role));
        let part = |(component, name): (&ListedComponent, String)| PartFootprint {
            name,
            role: component.role,
            architecture: component.architecture.clone(),
            blocks: component.blocks.iter().map(block).collect(),
            published: PublishedBlocks::default(),
            errors: Errors::new(),
        };
        Footprint {
            model: self.name.clone(),
            dtype: if bytes_per_weight > 2 { ComputeDtype::F32 } else { ComputeDtype::Bf16 },
            parts: self.components.iter().zip(names).map(part).collect(),
        }
    }

    /// Guidance branches that this guidance takes.
    pub fn branches(&self, guidance: f32) -> u32 {
        if guidance > 1.0 { 2 } else { 1 }
    }
}

impl ListedBlock {
    /// Whether its matrices are made smaller: those of the repeating blocks are, which have a number at the end of
    /// their names; embedders, modulations, heads and the convolutions of UNets are not.
    fn is_made_smaller(&self) -> bool {
        let numbered = self.name.rsplit_once('.').is_some_and(|(_, last)| last.parse::<u32>().is_ok());
        numbered && !["resnets", "samplers"].iter().any(|part| self.name.contains(part))
    }

    /// What it would take in each storage. The scales of rows and tensors, 4 bytes for thousands of weights, are left
    /// out.
    fn smaller(&self, bytes_per_weight: u64) -> BTreeMap<Storage, Held> {
        let whole = self.parameters * bytes_per_weight;
        let held = |storage: Storage| {
            let packed = if self.is_made_smaller() { self.matrix_parameters } else { 0 };
            let encoding = storage.encoding(1, SOME_COLUMNS)?;
            let (bytes, values) = (encoding.bytes(SOME_COLUMNS) as u64, SOME_COLUMNS as u64);
            let smaller = |weights: u64| weights.div_ceil(values) * bytes;
            let bytes = whole - packed * bytes_per_weight + smaller(packed);
            let largest = if packed > 0 {
                smaller(self.largest_tensor)
            } else {
                self.largest_tensor * bytes_per_weight
            };
            let encoded = BTreeMap::from([(encoding.format, packed)]);
            let by_dtype = [0, 0, bytes - smaller(packed), smaller(packed)];
            Some((storage, Held { bytes, by_dtype, largest_tensor: largest, encoded }))
        };
        Storage::smaller().filter_map(held).filter(|(_, held)| held.bytes < whole).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    models: Vec<ModelEntry>,
    networks: BTreeMap<String, Network>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    id: String,
    name: String,
    aliases: Vec<String>,
    hub: String,
    latents: Latents,
    text: Tokens,
    defaults: KnownDefaults,
    components: Vec<ComponentEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ComponentEntry {
    role: Role,
    network: String,
    tokens: Option<Tokens>,
    share: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Network {
    architecture: String,
    kept_a_call: u64,
    blocks: Vec<BlockEntry>,
}

/// One block, or `count` equal ones whose names have a number from `first` on in place of `{}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockEntry {
    name: String,
    #[serde(default)]
    first: u32,
    #[serde(default = "one")]
    count: u32,
    parameters: u64,
    matrix_parameters: u64,
    largest_tensor: u64,
    runs: Runs,
    #[serde(default)]
    operations: Polynomial,
    #[serde(default)]
    carried: Polynomial,
    #[serde(default)]
    values: Polynomial,
}

fn one() -> u32 {
    1
}

fn read(text: &str) -> Result<Vec<UnsupportedModel>, String> {
    let File { models, networks } = serde_json::from_str(text).map_err(|error| error.to_string())?;
    models.into_iter().map(|model| resolve(model, &networks)).collect()
}

fn resolve(model: ModelEntry, networks: &BTreeMap<String, Network>) -> Result<UnsupportedModel, String> {
    let component = |entry: ComponentEntry| {
        let network =
            networks.get(&entry.network).ok_or_else(|| format!("there is no network {}", entry.network))?;
        Ok(ListedComponent {
            role: entry.role,
            architecture: network.architecture.clone(),
            blocks: network.blocks.iter().flat_map(BlockEntry::blocks).collect(),
            tokens: entry.tokens,
            share: entry.share.unwrap_or(1.0),
            kept_a_call: network.kept_a_call,
        })
    };
    Ok(UnsupportedModel {
        components: model.components.into_iter().map(component).collect::<Result<_, String>>()?,
        id: model.id,
        name: model.name,
        aliases: model.aliases,
        hub: model.hub,
        defaults: model.defaults,
        latents: model.latents,
        text: model.text,
    })
}

impl BlockEntry {
    fn blocks(&self) -> impl Iterator<Item = ListedBlock> + '_ {
        (self.first..self.first + self.count).map(|number| ListedBlock {
            name: self.name.replace("{}", &number.to_string()),
            parameters: self.parameters,
            matrix_parameters: self.matrix_parameters,
            largest_tensor: self.largest_tensor,
            runs: self.runs,
            operations: self.operations.clone(),
            carried: self.carried.clone(),
            values: self.values.clone(),
        })
    }
}

#[cfg(test)]
mod tests;
