//! Identifies weight files from their headers, whether Sluice can use them or not.

mod duplicates;
mod names;
mod places;
mod reason;
mod remembered;
mod scan;
mod sidecar;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    Detectors, FAMILIES, Family as _, Interpolators, LanguageModels, MapEstimators, Model, Segmenters,
    Upscalers,
    adapter_marks::{READS_PROMPT, family_of_layers},
    control_nets::{modes_of, steered_by},
    sees_images,
    unet::{control_net_for, ip_adapter_for, t2i_adapter_for},
};
use crate::{
    aids,
    checkpoint::{
        Checkpoint, CheckpointError, FileKind, MapKind, Part, Role, StoredTensor, TensorTable, file_kind,
        files_of,
    },
    interpolation,
    request::ControlMode,
    text::{
        AnimaConditioner, Clip, ClipVision, GptOss, Llama3, MistralChat, Qwen3Chat, Qwen3Vision, Qwen3Vl,
        Qwen25Vl, QwenVision, ReduxTower, SiglipConfig, T5,
    },
    vae::{AutoencoderKl, Flux2Autoencoder, WanAutoencoder},
};

pub use duplicates::content_hash;
pub use names::name_of;
pub use places::{Place, Surroundings, well_known_places};
pub use remembered::Remembered;
pub use scan::{inventory, scan, stamp};
pub use sidecar::{About, own_preview};

/// What a weight file is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It has the denoiser of a family, and may have the other parts.
    Model,
    /// A text encoder, an image encoder, an autoencoder or an upscaler.
    Part,
    /// A LoRA or another adapter.
    Adapter,
    /// A ControlNet.
    ControlNet,
    /// An IP-Adapter.
    IpAdapter,
    /// Nothing that Sluice generates with.
    Other,
}

/// The content of a weight file or a diffusers folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Description, such as `FLUX.1 denoiser`.
    pub what: String,
    /// What it is good for.
    pub kind: Kind,
    /// The name of the family of a model, or of the models that an adapter is for, as far as that is known.
    pub family: Option<String>,
    /// The roles of its parts, without duplicates.
    pub roles: Vec<Role>,
    /// Whether it is a language model that sees images.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sees_images: bool,
    /// The kind of maps that a map estimator makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maps: Option<MapKind>,
    /// The kinds of maps that a ControlNet has to be told apart; empty if it follows only one kind.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<ControlMode>,
    /// The file format, as text.
    pub format: String,
    /// Number of weights.
    pub parameters: u64,
    /// Size on disk in bytes, of all files that belong together.
    pub bytes: u64,
    /// Stored dtype → bytes.
    pub dtypes: BTreeMap<String, u64>,
}

/// Dtypes with a smaller share of the bytes are not named.
const LEAST_SHARE: f64 = 0.05;

impl Content {
    /// The dtypes of most of the weights, the most frequent first.
    pub fn stored_as(&self) -> String {
        let all: u64 = self.dtypes.values().sum();
        let mut dtypes: Vec<_> = self.dtypes.iter().collect();
        dtypes.sort_by_key(|(_, bytes)| std::cmp::Reverse(**bytes));
        let most = dtypes.iter().filter(|(_, bytes)| **bytes as f64 >= LEAST_SHARE * all as f64);
        most.map(|(dtype, _)| dtype.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Mean bits per weight.
    pub fn bits(&self) -> f64 {
        let stored: u64 = self.dtypes.values().sum();
        8.0 * stored as f64 / self.parameters.max(1) as f64
    }
}

/// A weight file or a diffusers folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Its path. For weights split over several files, the path of the first.
    pub path: PathBuf,
    /// What to call it: its repository on the hub, its name without an extension, or that of its folder where its own says
    /// nothing.
    pub name: String,
    /// Its content, or an error message.
    #[serde(flatten)]
    pub content: Finding,
    /// What other programs have written about it beside it.
    #[serde(default, skip_serializing_if = "About::is_empty")]
    pub about: About,
    /// Another item with the same header, size and samples of the weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<PathBuf>,
    /// Of a file for low noise, the one for high noise, with which it is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub half_of: Option<PathBuf>,
}

impl Item {
    /// Its content, if it could be read.
    pub fn content(&self) -> Option<&Content> {
        match &self.content {
            Finding::Content(content) => Some(content),
            Finding::Error(_) => None,
        }
    }
}

/// The result of examining a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The header was read.
    Content(Content),
    /// The file cannot be read.
    Error(String),
}

/// The contents of some folders.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inventory {
    /// Weight files and diffusers folders, sorted by path.
    pub items: Vec<Item>,
    /// Number of files whose names are not those of weight files, of descriptions or of images.
    pub others: usize,
}

/// The content of a weight file, with the files that belong to it, or of a diffusers folder.
///
/// # Errors
/// When it cannot be read or is not a weight file.
pub fn content(path: &Path) -> Result<Content, CheckpointError> {
    examine(path).map(|(content, _)| content)
}

/// The content of a weight file or a folder, and a checksum of its header.
fn examine(path: &Path) -> Result<(Content, u32), CheckpointError> {
    let (checkpoint, format, bytes) = if path.is_dir() {
        let checkpoint = Checkpoint::open(path, &[])?;
        let bytes =
            checkpoint.parts.iter().flat_map(|part| part.tensors.values()).map(StoredTensor::stored_bytes);
        let bytes = bytes.sum();
        (checkpoint, "diffusers folder".to_owned(), bytes)
    } else {
        let checkpoint = Checkpoint::of_file(path)?;
        let files = files_of(path)?;
        let kind = if file_kind(path)? == FileKind::Gguf { "GGUF" } else { "safetensors" };
        let format = if files.len() > 1 { format!("{kind}, {} files", files.len()) } else { kind.to_owned() };
        let bytes = files.iter().filter_map(|file| fs::metadata(file).ok()).map(|data| data.len()).sum();
        (checkpoint, format, bytes)
    };
    let mut dtypes = BTreeMap::<String, u64>::new();
    let mut parameters = 0_u64;
    let mut header = crc32fast::Hasher::new();
    for (name, tensor) in checkpoint.parts.iter().flat_map(|part| &part.tensors) {
        let (dtype, elements) = (tensor.dtype_name(), tensor.elements());
        header.update(name.as_bytes());
        header.update(dtype.as_bytes());
        header.update(&elements.to_le_bytes());
        *dtypes.entry(dtype).or_default() += tensor.stored_bytes();
        parameters = parameters.saturating_add(elements);
    }
    let Words { what, kind, family } = in_words(&checkpoint);
    let generates = matches!(kind, Kind::Model | Kind::Part);
    let mut roles: Vec<Role> = match kind {
        Kind::Part if Upscalers.recognises(&checkpoint) => vec![Role::Upscaler],
        Kind::Part if Interpolators.recognises(&checkpoint) => vec![Role::Interpolator],
        Kind::Part if MapEstimators.recognises(&checkpoint) => vec![Role::Preprocessor],
        Kind::Part if Segmenters.recognises(&checkpoint) => vec![Role::Segmenter],
        Kind::Part if Detectors.recognises(&checkpoint) => vec![Role::Detector],
        _ => checkpoint.parts.iter().map(|part| part.role).filter(|_| generates).collect(),
    };
    let maps = aids::map_kind(&checkpoint).filter(|_| roles == [Role::Preprocessor]);
    let writes = kind == Kind::Part && LanguageModels.recognises(&checkpoint);
    let sees_images = writes
        && sees_images(&checkpoint)
            .inspect_err(|error| tracing::warn!(%error, "what is beside a language model cannot be read"))
            .unwrap_or(false);
    if writes {
        roles.push(Role::LanguageModel);
    }
    roles.sort();
    roles.dedup();
    let last = checkpoint.parts.last().filter(|_| kind == Kind::ControlNet);
    let modes = last.map_or_else(Vec::new, |part| modes_of(&part.tensors).to_vec());
    let content =
        Content { what, kind, family, roles, sees_images, maps, modes, format, parameters, bytes, dtypes };
    Ok((content, header.finalize()))
}

/// A description of a checkpoint.
struct Words {
    what: String,
    kind: Kind,
    family: Option<String>,
}

/// Describes the parts, and says what they are good for.
fn in_words(checkpoint: &Checkpoint) -> Words {
    let [parts @ .., last] = checkpoint.parts.as_slice() else {
        return Words { what: "nothing".to_owned(), kind: Kind::Other, family: None };
    };
    if let Some((what, family)) = adapter(&last.tensors) {
        return Words { what, kind: Kind::Adapter, family: family.map(str::to_owned) };
    }
    if parts.is_empty() && ReduxTower::width_of(&last.tensors).is_some() {
        let (what, family) = ("Redux for FLUX.1".to_owned(), Some("FLUX.1".to_owned()));
        return Words { what, kind: Kind::Part, family };
    }
    if let Some(models) = ip_adapter_for(&last.tensors).filter(|_| parts.is_empty()) {
        return Words { what: format!("IP-Adapter for {models}"), kind: Kind::IpAdapter, family: None };
    }
    if let Some(models) = t2i_adapter_for(&last.tensors).filter(|_| parts.is_empty()) {
        return Words { what: format!("T2I-Adapter for {models}"), kind: Kind::ControlNet, family: None };
    }
    if let Some((models, family)) = control_net(&last.tensors).filter(|_| parts.is_empty()) {
        let what = format!("ControlNet for {models}");
        return Words { what, kind: Kind::ControlNet, family: family.map(str::to_owned) };
    }
    if Upscalers.recognises(checkpoint)
        && let Ok(model) = Upscalers.open(checkpoint)
    {
        return Words { what: upscaler(&model), kind: Kind::Part, family: None };
    }
    if Interpolators.recognises(checkpoint)
        && let Ok(opened) = interpolation::open(checkpoint)
    {
        let what = format!("frame interpolator, {}", opened.component.architecture);
        return Words { what, kind: Kind::Part, family: None };
    }
    if let Some(maps) = aids::map_kind(checkpoint)
        && let Ok(opened) = aids::open_estimator(checkpoint, maps)
    {
        let (architecture, size) = (opened.component.architecture, opened.network.size());
        let what = format!("map estimator for {}, {architecture}, {size}", maps.maps());
        return Words { what, kind: Kind::Part, family: None };
    }
    if let Ok(opened) = aids::open_segmenter(checkpoint) {
        let what = format!("segmenter, {}, {}", opened.component.architecture, opened.network.size());
        return Words { what, kind: Kind::Part, family: None };
    }
    if let Ok(opened) = aids::open_detector(checkpoint) {
        let (architecture, network) = (opened.component.architecture, opened.network);
        let kinds = match network.classes() {
            1 => "1 class".to_owned(),
            classes => format!("{classes} classes"),
        };
        let what = format!("detector, {architecture}, {}, {kinds}", network.size());
        return Words { what, kind: Kind::Part, family: None };
    }
    if let Some(family) = FAMILIES.iter().find(|family| family.recognises(checkpoint)) {
        let count = |role| checkpoint.candidates(role).count();
        let what = match (parts.is_empty(), count(Role::TextEncoder), count(Role::Autoencoder)) {
            (true, ..) => format!("{} denoiser", family.name()),
            (_, 0, 0) => format!("{}: denoisers", family.name()),
            (_, 0, _) => format!("{}: denoiser, autoencoder", family.name()),
            (_, texts, autoencoders) => format!(
                "{}: denoiser, {texts} text {}{}",
                family.name(),
                if texts == 1 { "encoder" } else { "encoders" },
                if autoencoders > 0 { ", autoencoder" } else { "" }
            ),
        };
        return Words { what, kind: Kind::Model, family: Some(family.name().to_owned()) };
    }
    match component(last) {
        Some(what) if parts.is_empty() => Words { what, kind: Kind::Part, family: None },
        _ => {
            let what = stranger(&last.tensors).map(|what| format!(": {what}")).unwrap_or_default();
            let what = format!("not a model that Sluice supports{what}");
            Words { what, kind: Kind::Other, family: None }
        }
    }
}

/// Which models a ControlNet is for, and their family as far as there is one for all of them.
fn control_net(tensors: &TensorTable) -> Option<(String, Option<&'static str>)> {
    match steered_by(tensors) {
        Some(models) => Some((models.to_owned(), Some(models))),
        None => control_net_for(tensors).map(|models| (models, None)),
    }
}

/// The architecture of an upscaler and its factor.
fn upscaler(model: &Model) -> String {
    let factor = model.upscaler().map_or(1, |upscaler| upscaler.network.factor());
    let architecture = model.components().next().map_or("", |component| component.architecture);
    format!("upscaler, {architecture}, ×{factor}")
}

/// Describes a text encoder or an autoencoder.
fn component(part: &Part) -> Option<String> {
    let tensors = &part.tensors;
    let encoder = |name: &str, width| format!("{name} text encoder, width {width}");
    match part.role {
        Role::TextEncoder => T5::width(tensors)
            .map(|width| encoder("T5", width))
            .or_else(|| Clip::width(tensors).map(|width| encoder("CLIP", width)))
            .or_else(|| Qwen3Chat::width_of(tensors).map(|width| encoder("Qwen3", width)))
            .or_else(|| Qwen3Vl::seeing_width_of(tensors).map(|width| encoder("Qwen3-VL", width)))
            .or_else(|| GptOss::width_of(tensors).map(|width| encoder("GPT-OSS", width)))
            .or_else(|| Llama3::published_width_of(tensors).map(|width| encoder("Llama 3", width)))
            .or_else(|| MistralChat::width_of(tensors).map(|width| encoder("Mistral", width)))
            .or_else(|| Qwen25Vl::width_of(tensors).map(|width| encoder("Qwen2.5-VL", width)))
            .or_else(|| {
                AnimaConditioner::width_of(tensors)
                    .map(|width| format!("text conditioner of Anima, width {width}"))
            })
            .or_else(|| {
                QwenVision::width_of(tensors)
                    .map(|width| format!("vision tower of Qwen2.5-VL, width {width}"))
            })
            .or_else(|| {
                Qwen3Vision::width_of(tensors).map(|width| format!("vision tower of Qwen3-VL, width {width}"))
            })
            .or_else(|| ClipVision::width(tensors).map(|width| format!("CLIP image encoder, width {width}")))
            .or_else(|| {
                SiglipConfig::width_of(tensors).map(|width| format!("SigLIP image encoder, width {width}"))
            }),
        Role::Autoencoder => Flux2Autoencoder::channels_of(tensors)
            .map(|channels| format!("autoencoder of FLUX.2, {channels} channels"))
            .or_else(|| {
                WanAutoencoder::image_channels_of(tensors)
                    .map(|channels| format!("autoencoder of Qwen-Image 2.1, {channels} channels"))
            })
            .or_else(|| {
                AutoencoderKl::channels_of(tensors)
                    .map(|channels| format!("autoencoder, {channels} channels"))
            }),
        Role::Denoiser
        | Role::Upscaler
        | Role::Interpolator
        | Role::Preprocessor
        | Role::Segmenter
        | Role::Detector
        | Role::LanguageModel => None,
    }
}

/// Name suffixes of the first of a LoRA's two matrices.
const DOWN: [&str; 4] =
    [".lora_A.weight", ".lora_down.weight", ".lora.down.weight", ".lora_A.default.weight"];
/// Name suffixes of one matrix of other adapters.
const OTHERS: [&str; 3] = [".hada_w1_a", ".lokr_w1", ".lokr_w1_a"];

/// Describes a LoRA or similar adapter, by the suffixes of its tensor names, and says what it seems to be for.
fn adapter(tensors: &TensorTable) -> Option<(String, Option<&'static str>)> {
    let ending = |endings: &[&str], name: &str| endings.iter().any(|ending| name.ends_with(ending));
    let rank = tensors.iter().filter(|(name, _)| ending(&DOWN, name));
    let ranks: Vec<usize> =
        rank.map(|(_, tensor)| tensor.shape().first().copied().unwrap_or_default()).collect();
    let others = tensors.keys().filter(|name| ending(&OTHERS, name)).count();
    if ranks.is_empty() && others == 0 {
        return None;
    }
    let names: Vec<String> = tensors.keys().map(|name| name.replace('.', "_")).collect();
    let unet = || names.iter().any(|name| name.contains("unet")).then_some("Stable Diffusion");
    let family = family_of_layers(&names, prompt_width(tensors)).or_else(unet);
    let whose = family.map(|family| format!(" for {family}")).unwrap_or_default();
    let matrices = |count: usize| format!("{count} {}", if count == 1 { "matrix" } else { "matrices" });
    let what = match ranks.iter().max() {
        Some(rank) => format!("LoRA{whose}, {}, rank {rank}", matrices(ranks.len())),
        None => format!("LoHa or LoKr{whose}, {}", matrices(others)),
    };
    Some((what, family))
}

/// Width of the prompt embeddings that the first of a LoRA's two matrices reads, for layers that read them.
fn prompt_width(tensors: &TensorTable) -> Option<usize> {
    let layer = |name: &str| {
        DOWN.iter().find_map(|ending| name.strip_suffix(ending)).map(|name| name.replace('.', "_"))
    };
    let reads =
        tensors.iter().find(|(name, _)| layer(name).is_some_and(|layer| layer.ends_with(READS_PROMPT)));
    reads.and_then(|(_, tensor)| tensor.shape().get(1).copied())
}

/// Common files in model folders that are not models: part of a tensor name, and a description.
const STRANGERS: [(&str, &str); 15] = [
    ("decoder.22.bias", "TAEHV, a small autoencoder of clips for previews"),
    ("decoder.layers.0.weight", "TAESD, a small autoencoder for previews"),
    ("taesd_decoder.", "TAESD, a small autoencoder for previews"),
    ("3.conv.0.weight", "TAESD, a small autoencoder for previews"),
    ("RDB1.conv1", "an upscaler"),
    ("rdb1.conv1", "an upscaler"),
    ("conv_first.weight", "an upscaler"),
    ("conv_before_upsample", "an upscaler"),
    ("control_model.", "a ControlNet"),
    ("controlnet_cond_embedding", "a ControlNet"),
    ("controlnet_x_embedder", "a ControlNet"),
    ("ip_adapter", "an IP-Adapter"),
    ("emb_params", "a textual inversion"),
    ("vision_model.", "an image encoder"),
    ("embed_tokens.weight", "a language model of another kind"),
];

fn stranger(tensors: &TensorTable) -> Option<&'static str> {
    let has = |word: &str| tensors.keys().any(|name| name.contains(word));
    STRANGERS.iter().find(|(word, _)| has(word)).map(|(_, what)| *what)
}
