//! What files of weights are, one by one: by the headers alone, whether they can be drawn with or not.

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
    text::{Clip, Qwen3, T5},
    vae::AutoencoderKl,
};

/// Folders in folders that are looked into.
const DEPTH: usize = 5;
/// Files that are read at the same time: more do not make a disk faster.
const READERS: usize = 8;

/// What a file of weights holds, or a diffusers folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Content {
    /// In words, such as `FLUX.1 denoiser`.
    pub what: String,
    /// What it is for, each part once.
    pub roles: Vec<Role>,
    /// The kind of file, in words.
    pub format: String,
    /// Number of weights.
    pub parameters: u64,
    /// Bytes on disk, of all files that belong together.
    pub bytes: u64,
    /// Stored dtype → bytes.
    pub dtypes: BTreeMap<String, u64>,
}

/// One file of a folder, or one diffusers folder in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Item {
    /// Where it is. Of files that hold one set of weights together, the first.
    pub path: PathBuf,
    /// What it holds, or why that is not known, in words.
    #[serde(flatten)]
    pub content: Finding,
}

/// What came of looking at a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Its header was read.
    Content(Content),
    /// It cannot be read.
    Error(String),
}

/// What is in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inventory {
    /// Files of weights and diffusers folders, by name.
    pub items: Vec<Item>,
    /// Number of files that are none by their names.
    pub others: usize,
}

/// Looks at every file of weights in a folder and the folders in it. What is wrong with one file is told in its place.
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
        // The place is said already.
        Err(error) => Finding::Error(error.to_string().replace(&path.display().to_string(), "it")),
    };
    Item { path: path.to_owned(), content }
}

/// What a file of weights holds, with the files that belong to it, or a diffusers folder.
///
/// # Errors
/// When it cannot be read or is no file of weights.
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

/// What the parts are, and whether Sluice draws with it.
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

/// A text encoder or an autoencoder.
fn component(part: &Part) -> Option<String> {
    let tensors = &part.tensors;
    let encoder = |name: &str, width| format!("{name} text encoder, width {width}");
    match part.role {
        Role::TextEncoder => T5::width(tensors)
            .map(|width| encoder("T5", width))
            .or_else(|| Clip::width(tensors).map(|width| encoder("CLIP", width)))
            .or_else(|| Qwen3::width(tensors).map(|width| encoder("Qwen3", width))),
        Role::Autoencoder => {
            AutoencoderKl::channels_of(tensors).map(|channels| format!("autoencoder, {channels} channels"))
        }
        Role::Denoiser => None,
    }
}

/// What names of the first of two matrices end in.
const DOWN: [&str; 4] =
    [".lora_A.weight", ".lora_down.weight", ".lora.down.weight", ".lora_A.default.weight"];
/// What names of one matrix of other adapters end in.
const OTHERS: [&str; 3] = [".hada_w1_a", ".lokr_w1", ".lokr_w1_a"];

/// A LoRA or one of its kin, by what the names of its tensors end in.
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

/// What people have among their models that cannot be drawn with: words in the names of tensors, and what it is.
const STRANGERS: [(&str, &str); 14] = [
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
