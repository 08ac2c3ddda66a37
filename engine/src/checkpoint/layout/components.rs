//! Splits a file into components by the prefixes of its tensor names.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use serde_json::Value;

use super::{Part, Role};
use crate::checkpoint::{TensorTable, read_json};

/// Prefixes of a component that shares a file with others. Each component has one of them.
const PREFIXES: [(&str, Role); 10] = [
    ("model.diffusion_model.", Role::Denoiser),
    ("diffusion_model.", Role::Denoiser),
    ("net.", Role::Denoiser),
    ("cond_stage_model.transformer.", Role::TextEncoder),
    ("cond_stage_model.model.", Role::TextEncoder),
    ("conditioner.embedders.0.transformer.", Role::TextEncoder),
    ("conditioner.embedders.0.model.", Role::TextEncoder),
    ("conditioner.embedders.1.model.", Role::TextEncoder),
    ("first_stage_model.", Role::Autoencoder),
    ("vae.", Role::Autoencoder),
];
/// ComfyUI's prefix; the name of the encoder follows, then one of [`INSIDE`].
const ENCODERS: &str = "text_encoders.";
const INSIDE: [&str; 2] = ["transformer.", "model."];
/// Names of weight files on the Hugging Face Hub, with a configuration next to them.
const HUB_NAMES: [&str; 2] = ["diffusion_pytorch_model", "model"];
const CONFIGURATION: &str = "config.json";
/// Prefix of the tensor names of a language model.
const LANGUAGE_MODEL: &str = "model.";
/// Prefix of those of its vision tower, which newer files have after the other one.
const VISION_TOWER: &str = "visual.";
/// Prefix of its last layer, which makes words of states.
const HEAD: &str = "lm_head.";

/// The components of a file. `role` applies if the file itself does not show its role. For tensors of no
/// component, such as averages kept from training, only the names are kept.
pub fn split(path: &Path, table: TensorTable, role: Option<Role>) -> Vec<Part> {
    let part = |role, tensors, loose: &Arc<BTreeSet<String>>| Part {
        role,
        path: path.to_owned(),
        config: None,
        tensors: plain(role, tensors),
        loose: Arc::clone(loose),
    };
    if !table.keys().any(|name| prefix(name).is_some()) {
        let role = role_of_names(&table).or(role).unwrap_or(Role::Denoiser);
        return vec![Part { config: configuration(path), ..part(role, table, &Arc::default()) }];
    }
    let mut components: BTreeMap<(usize, String), (Role, TensorTable)> = BTreeMap::new();
    let mut loose = BTreeSet::new();
    for (name, tensor) in table {
        let Some(Found { order, role, length }) = prefix(&name) else {
            loose.insert(name);
            continue;
        };
        let (before, own) = name.split_at(length);
        let component =
            components.entry((order, before.to_owned())).or_insert_with(|| (role, TensorTable::new()));
        component.1.insert(own.to_owned(), tensor);
    }
    let loose = Arc::new(loose);
    components.into_values().map(|(role, tensors)| part(role, tensors, &loose)).collect()
}

/// The configuration next to a file named as in a component's folder on the Hugging Face Hub.
fn configuration(path: &Path) -> Option<Value> {
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let beside = path.with_file_name(CONFIGURATION);
    if !HUB_NAMES.iter().any(|hub| name.starts_with(hub)) || !beside.is_file() {
        return None;
    }
    read_json(&beside).inspect_err(|error| tracing::warn!(%error, "a configuration file is ignored")).ok()
}

struct Found {
    /// Index among the components of the file.
    order: usize,
    role: Role,
    /// Length of the prefix in bytes.
    length: usize,
}

fn prefix(name: &str) -> Option<Found> {
    if let Some(order) = PREFIXES.iter().position(|(prefix, _)| name.starts_with(prefix)) {
        let (prefix, role) = PREFIXES[order];
        return Some(Found { order, role, length: prefix.len() });
    }
    let (encoder, own) = name.strip_prefix(ENCODERS)?.split_once('.')?;
    // Other tensors next to an encoder, such as CLIP's temperature, are not needed.
    let inside = INSIDE.iter().find(|inside| own.starts_with(**inside))?;
    let length = ENCODERS.len() + encoder.len() + 1 + inside.len();
    Some(Found { order: PREFIXES.len(), role: Role::TextEncoder, length })
}

/// Renames the tensors of a component to their authors' names.
pub fn plain(role: Role, tensors: TensorTable) -> TensorTable {
    let strip = |name: &str| {
        let beside = Some(name).filter(|name| name.starts_with(VISION_TOWER) || name.starts_with(HEAD));
        name.strip_prefix(LANGUAGE_MODEL).or(beside).map(str::to_owned)
    };
    if role != Role::TextEncoder || !tensors.keys().any(|name| name.starts_with(LANGUAGE_MODEL)) {
        return tensors;
    }
    tensors.into_iter().filter_map(|(name, tensor)| Some((strip(&name)?, tensor))).collect()
}

/// The role of a set of weights, from names common to all of a kind; denoisers have none in common.
fn role_of_names(tensors: &TensorTable) -> Option<Role> {
    /// The decoder's first layer, under diffusers' names, those of Wan and those of LTX-Video, and the encoder's; a part of
    /// Paella's decoder.
    const FIRST: [&str; 7] = [
        "decoder.conv_in.weight",
        "encoder.conv_in.weight",
        "decoder.conv1.weight",
        "encoder.conv1.weight",
        "decoder.conv_in.conv.weight",
        "encoder.conv_in.conv.weight",
        "up_blocks.1.gammas",
    ];
    const TOKENS: [&str; 5] = [
        "embed_tokens.weight",
        "token_embedding.weight",
        "embeddings.class_embedding",
        "vision_model.embeddings.patch_embedding.weight",
        "visual.patch_embed.proj.weight",
    ];
    let is_encoder =
        |name: &String| name == "shared.weight" || TOKENS.iter().any(|tokens| name.ends_with(tokens));
    let is_autoencoder = |name: &&str| tensors.contains_key(*name);
    if tensors.keys().any(is_encoder) {
        Some(Role::TextEncoder)
    } else if FIRST.iter().any(is_autoencoder) {
        Some(Role::Autoencoder)
    } else {
        None
    }
}
