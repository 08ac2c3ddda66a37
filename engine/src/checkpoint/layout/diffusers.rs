//! Model folders as on the Hugging Face Hub.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use super::{
    Checkpoint, Layout, Part, Role,
    components::plain,
    listing::{PICKLES, files_with_extension},
    places::folders_in,
};
use crate::checkpoint::{
    CheckpointError, TensorTable, header::read_headers, json::read_json, shards::read_weights,
};

/// The files of which one marks such a folder: that of a pipeline, or that of a modular pipeline.
pub const INDEXES: [&str; 2] = ["model_index.json", "modular_model_index.json"];
/// The folders of components, in the order in which families search them.
pub const FOLDERS: [(Role, &[&str]); 3] = [
    (Role::Denoiser, &["transformer", "transformer_2", "unet", "prior", "prior_prior", "decoder"]),
    (
        Role::TextEncoder,
        &[
            "text_encoder",
            "text_encoder_2",
            "text_encoder_3",
            "prior_text_encoder",
            "text_encoder_4",
            "image_encoder",
            "image_embedder",
            "text_conditioner",
        ],
    ),
    (Role::Autoencoder, &["vae", "vqgan"]),
];
/// The end of the name of a shard index; a variant such as `fp16` may come before `json`.
const SHARDS: &str = ".safetensors.index.";

/// Whether a folder is a diffusers model.
pub fn is_diffusers(folder: &Path) -> bool {
    index_of(folder).is_some()
}

fn index_of(folder: &Path) -> Option<PathBuf> {
    INDEXES.iter().map(|name| folder.join(name)).find(|path| path.is_file())
}

pub fn open(folder: &Path) -> Result<Checkpoint, CheckpointError> {
    let index: Value = read_json(&index_of(folder).unwrap_or_else(|| folder.join(INDEXES[0])))?;
    let mut checkpoint = Checkpoint::of_index(folder, index);
    let scheduler = checkpoint.scheduler_path();
    if scheduler.is_file() {
        checkpoint.scheduler = Some(read_json(&scheduler)?);
    }
    let named = |name: &str| {
        let library = checkpoint.index.as_ref().and_then(|index| index.get(name)?.get(0));
        library.is_some_and(|library| !library.is_null())
    };
    let mut parts = Vec::new();
    for (role, names) in FOLDERS {
        for name in names {
            let path = folder.join(name);
            if !path.is_dir() {
                if named(name) {
                    let expected = format!("there is no folder {}", path.display());
                    return Err(checkpoint.missing(role, &expected));
                }
                continue;
            }
            let config_path = path.join("config.json");
            let config = if config_path.is_file() { Some(read_json(&config_path)?) } else { None };
            let tensors = read_component(&path)?.ok_or_else(|| {
                let expected = format!("there is no .safetensors file in {}", path.display());
                checkpoint.missing(role, &expected)
            })?;
            let (tensors, loose) = (plain(role, tensors), Arc::default());
            parts.push(Part { role, path, config, tensors, loose });
        }
    }
    if let Some((theirs, other)) = beside(folder, checkpoint.kind.as_deref()) {
        parts.extend(other);
        if let (Some(Value::Object(own)), Value::Object(theirs)) = (&mut checkpoint.index, theirs) {
            theirs.into_iter().for_each(|(name, value)| {
                own.entry(name).or_insert(value);
            });
        }
    }
    checkpoint.parts = parts;
    Ok(checkpoint)
}

/// Pipelines of which each has a part of a cascade.
const PARTNERS: [[&str; 2]; 2] = [
    ["StableCascadePriorPipeline", "StableCascadeDecoderPipeline"],
    ["WuerstchenPriorPipeline", "WuerstchenDecoderPipeline"],
];

/// Index and components of the other pipeline of a cascade, in a folder inside or beside this one. Components that cannot be
/// read are left out.
fn beside(folder: &Path, kind: Option<&str>) -> Option<(Value, Vec<Part>)> {
    let partner = |[one, other]: [&'static str; 2]| match kind {
        Some(kind) if kind == one => Some(other),
        Some(kind) if kind == other => Some(one),
        _ => None,
    };
    let partner = PARTNERS.into_iter().find_map(partner)?;
    let around = folders_in(folder).into_iter().chain(folder.parent().map(folders_in).unwrap_or_default());
    for other in around.filter(|other| other != folder) {
        let index: Option<Value> = index_of(&other).and_then(|index| read_json(&index).ok());
        let Some(index) = index else { continue };
        if index.get("_class_name").and_then(Value::as_str) != Some(partner) {
            continue;
        }
        let mut parts = Vec::new();
        for (role, names) in FOLDERS {
            for path in names.iter().map(|name| other.join(name)).filter(|path| path.is_dir()) {
                let config = path.join("config.json");
                let config = if config.is_file() { read_json(&config).ok() } else { None };
                match read_component(&path) {
                    Ok(Some(tensors)) => {
                        let (tensors, loose) = (plain(role, tensors), Arc::default());
                        parts.push(Part { role, path, config, tensors, loose });
                    }
                    Ok(None) => {}
                    Err(error) => tracing::warn!(%error, "a folder is ignored"),
                }
            }
        }
        return Some((index, parts));
    }
    None
}

impl Checkpoint {
    /// A folder of which only the index is known.
    pub(super) fn of_index(folder: &Path, index: Value) -> Self {
        let kind = index.get("_class_name").and_then(Value::as_str).map(str::to_owned);
        Self { kind, index: Some(index), ..Self::empty(folder, folder, Layout::Diffusers) }
    }
}

/// The weights of a folder with one component.
///
/// # Errors
/// Fails if there are none, or they cannot be read.
pub fn read_folder(folder: &Path) -> Result<TensorTable, CheckpointError> {
    read_component(folder)?.ok_or_else(|| CheckpointError::NoModel { path: folder.to_owned() })
}

/// The weights of one component: the files in its index, or its only file; `None` if there are none.
fn read_component(folder: &Path) -> Result<Option<TensorTable>, CheckpointError> {
    let mut indices = files_with_extension(folder, &["json"])?;
    indices.retain(|path| path.to_string_lossy().contains(SHARDS));
    if let Some(index) = usual(&indices) {
        return read_shards(folder, index).map(Some);
    }
    let weights = files_with_extension(folder, &["safetensors"])?;
    match usual(&weights) {
        Some(file) => read_weights(file).map(Some),
        None => match files_with_extension(folder, &PICKLES)?.into_iter().next() {
            Some(pickle) => Err(CheckpointError::Pickle { path: pickle }),
            None => Ok(None),
        },
    }
}

/// Picks one of several variants: the one without a variant name, as in diffusers; else the 16-bit one; else
/// the first.
fn usual(files: &[PathBuf]) -> Option<&PathBuf> {
    let is_a = |wanted: fn(&str) -> bool| files.iter().find(|path| wanted(&variant(path)));
    is_a(str::is_empty).or_else(|| is_a(|variant| variant.starts_with("fp16"))).or(files.first())
}

/// The variant in a file name, between its first dot and its extension: `fp16` in `model.fp16.safetensors`
/// and in `model.safetensors.index.fp16.json`.
fn variant(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let parts = name.split('.').skip(1).filter(|part| !["safetensors", "index", "json"].contains(part));
    parts.collect::<Vec<_>>().join(".")
}

fn read_shards(folder: &Path, index: &Path) -> Result<TensorTable, CheckpointError> {
    let content: Value = read_json(index)?;
    let map = content.get("weight_map").and_then(Value::as_object).ok_or_else(|| CheckpointError::Json {
        path: index.to_owned(),
        reason: "it has no weight_map".to_owned(),
    })?;
    let shards: BTreeSet<&str> = map.values().filter_map(Value::as_str).collect();
    let mut files = Vec::new();
    for shard in shards {
        let path = folder.join(shard);
        if !path.is_file() {
            return Err(CheckpointError::MissingShard { index: index.to_owned(), shard: path });
        }
        files.push(path);
    }
    read_headers(&files)
}
