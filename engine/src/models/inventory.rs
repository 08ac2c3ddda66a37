//! Identifies weight files from their headers, whether Sluice can use them or not.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use serde::Serialize;

use super::{FAMILIES, adapter_marks::family_of_layers};
use crate::{
    checkpoint::{
        Checkpoint, CheckpointError, FileKind, Part, Role, StoredTensor, TensorTable, file_kind, files_of,
        folders_in, is_diffusers, may_be_model, without_continuations,
    },
    text::{AnimaConditioner, Clip, ClipVision, Llama3, MistralChat, Qwen3Chat, Qwen3Vl, Qwen25Vl, T5},
    vae::{AutoencoderKl, Flux2Autoencoder},
};

/// How many levels of subfolders are searched.
const DEPTH: usize = 5;
/// How many files are read at the same time. More do not make a disk faster.
const READERS: usize = 8;

/// The content of a weight file or a diffusers folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Content {
    /// Description, such as `FLUX.1 denoiser`.
    pub what: String,
    /// The roles of its parts, without duplicates.
    pub roles: Vec<Role>,
    /// The file format, as text.
    pub format: String,
    /// Number of weights.
    pub parameters: u64,
    /// Size on disk in bytes, of all files that belong together.
    pub bytes: u64,
    /// Stored dtype → bytes.
    pub dtypes: BTreeMap<String, u64>,
}

/// A weight file or a diffusers folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// Its path. For weights split over several files, the path of the first.
    pub path: PathBuf,
    /// Its content, or an error message.
    #[serde(flatten)]
    pub content: Finding,
}

/// The result of examining a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The header was read.
    Content(Content),
    /// The file cannot be read.
    Error(String),
}

/// The contents of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inventory {
    /// Weight files and diffusers folders, sorted by name.
    pub items: Vec<Item>,
    /// Number of files whose names are not those of weight files.
    pub others: usize,
}

/// Examines every weight file in a folder and its subfolders. An error in one file is reported with that
/// file.
pub fn inventory(folder: &Path) -> Inventory {
    let (mut paths, mut others) = (Vec::new(), 0);
    collect(folder, DEPTH, &mut paths, &mut others);
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::with_capacity(paths.len()));
    thread::scope(|scope| {
        for _ in 0..READERS.min(paths.len()) {
            scope.spawn(|| {
                while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let item = look_at(path);
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(item);
                }
            });
        }
    });
    let mut items = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    items.sort_by(|one, other| one.path.cmp(&other.path));
    Inventory { items, others }
}

fn collect(folder: &Path, depth: usize, paths: &mut Vec<PathBuf>, others: &mut usize) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let files: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
    let (mut models, rest): (Vec<_>, Vec<_>) = files.into_iter().partition(|path| may_be_model(path));
    models.sort();
    without_continuations(&mut models);
    paths.append(&mut models);
    *others += rest.len();
    for inner in folders_in(folder) {
        if is_diffusers(&inner) {
            paths.push(inner);
        } else if depth > 0 {
            collect(&inner, depth - 1, paths, others);
        }
    }
}

fn look_at(path: &Path) -> Item {
    let content = match content(path) {
        Ok(content) => Finding::Content(content),
        // The path is shown already.
        Err(error) => Finding::Error(error.to_string().replace(&path.display().to_string(), "it")),
    };
    Item { path: path.to_owned(), content }
}

/// The content of a weight file, with the files that belong to it, or of a diffusers folder.
///
/// # Errors
/// When it cannot be read or is not a weight file.
pub fn content(path: &Path) -> Result<Content, CheckpointError> {
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
    let mut dtypes = BTreeMap::new();
    let mut parameters = 0_u64;
    for tensor in checkpoint.parts.iter().flat_map(|part| part.tensors.values()) {
        *dtypes.entry(tensor.dtype_name()).or_default() += tensor.stored_bytes();
        parameters = parameters.saturating_add(tensor.elements());
    }
    let (what, known) = in_words(&checkpoint);
    let mut roles: Vec<Role> = checkpoint.parts.iter().map(|part| part.role).filter(|_| known).collect();
    roles.sort();
    roles.dedup();
    Ok(Content { what, roles, format, parameters, bytes, dtypes })
}

/// Describes the parts, and says whether Sluice can generate with them.
fn in_words(checkpoint: &Checkpoint) -> (String, bool) {
    let [parts @ .., last] = checkpoint.parts.as_slice() else {
        return ("nothing".to_owned(), false);
    };
    if let Some(adapter) = adapter(&last.tensors) {
        return (adapter, false);
    }
    if let Some(family) = FAMILIES.iter().find(|family| family.recognises(checkpoint)) {
        let count = |role| checkpoint.candidates(role).count();
        let words = match (parts.is_empty(), count(Role::TextEncoder), count(Role::Autoencoder)) {
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
        return (words, true);
    }
    match component(last) {
        Some(words) if parts.is_empty() => (words, true),
        _ => {
            let what = stranger(&last.tensors).map(|what| format!(": {what}")).unwrap_or_default();
            (format!("not a model that Sluice supports{what}"), false)
        }
    }
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
            .or_else(|| Llama3::published_width_of(tensors).map(|width| encoder("Llama 3", width)))
            .or_else(|| MistralChat::width_of(tensors).map(|width| encoder("Mistral", width)))
            .or_else(|| Qwen25Vl::width_of(tensors).map(|width| encoder("Qwen2.5-VL", width)))
            .or_else(|| {
                AnimaConditioner::width_of(tensors)
                    .map(|width| format!("text conditioner of Anima, width {width}"))
            })
            .or_else(|| ClipVision::width(tensors).map(|width| format!("CLIP image encoder, width {width}"))),
        Role::Autoencoder => Flux2Autoencoder::channels_of(tensors)
            .map(|channels| format!("autoencoder of FLUX.2, {channels} channels"))
            .or_else(|| {
                AutoencoderKl::channels_of(tensors)
                    .map(|channels| format!("autoencoder, {channels} channels"))
            }),
        Role::Denoiser => None,
    }
}

/// Name suffixes of the first of a LoRA's two matrices.
const DOWN: [&str; 4] =
    [".lora_A.weight", ".lora_down.weight", ".lora.down.weight", ".lora_A.default.weight"];
/// Name suffixes of one matrix of other adapters.
const OTHERS: [&str; 3] = [".hada_w1_a", ".lokr_w1", ".lokr_w1_a"];

/// Describes a LoRA or similar adapter, by the suffixes of its tensor names.
fn adapter(tensors: &TensorTable) -> Option<String> {
    let ending = |endings: &[&str], name: &str| endings.iter().any(|ending| name.ends_with(ending));
    let down: Vec<_> = tensors.iter().filter(|(name, _)| ending(&DOWN, name)).collect();
    let others = tensors.keys().filter(|name| ending(&OTHERS, name)).count();
    let names: Vec<String> = tensors.keys().map(|name| name.replace('.', "_")).collect();
    let unet = || names.iter().any(|name| name.contains("unet")).then_some("Stable Diffusion");
    let whose = family_of_layers(&names, None).or_else(unet);
    let whose = whose.map(|family| format!(" for {family}")).unwrap_or_default();
    let matrices = |count: usize| format!("{count} {}", if count == 1 { "matrix" } else { "matrices" });
    if let Some(rank) = down.iter().filter_map(|(_, tensor)| tensor.shape().first()).max() {
        return Some(format!("LoRA{whose}, {}, rank {rank}", matrices(down.len())));
    }
    (others > 0).then(|| format!("LoHa or LoKr{whose}, {}", matrices(others)))
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
