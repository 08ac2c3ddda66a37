//! What weight files and folders are called.

use std::path::Path;

use super::sidecar::stem;

/// Begins the name of a repository's folder in the cache of the Hugging Face hub.
pub(super) const REPOSITORY: &str = "models--";
/// The name that diffusers gives to the weights of every network.
const OF_DIFFUSERS: &str = "diffusion_pytorch_model";
/// Those that transformers gives, beside a configuration.
const OF_TRANSFORMERS: [&str; 2] = ["pytorch_model", "model"];
const CONFIGURATION: &str = "config.json";
/// Folders for parts of a model, whose names say little without that of the model.
const PARTS: [&str; 9] = [
    "controlnet",
    "decoder",
    "image_embedder",
    "image_encoder",
    "prior",
    "text_encoder",
    "transformer",
    "unet",
    "vae",
];

/// What to call a weight file or a folder: a file whose name says nothing is called as its folder.
pub fn name_of(path: &Path) -> String {
    if let Some(repository) = repository(path) {
        return repository;
    }
    let own = stem(path);
    let folder = path.parent().filter(|folder| path.is_file() && folder.file_name().is_some());
    match folder.and_then(|folder| Some((folder, said_beside(&own, folder)?))) {
        Some((folder, rest)) => format!("{}{rest}", name_of_folder(folder)),
        None => own,
    }
}

/// What the name of a file says beside the usual one for weights in such a folder, such as `.fp16`; `None` if it has another
/// name.
fn said_beside<'a>(name: &'a str, folder: &Path) -> Option<&'a str> {
    let is_configured = || folder.join(CONFIGURATION).is_file();
    let rest = name.strip_prefix(OF_DIFFUSERS).or_else(|| {
        let known = OF_TRANSFORMERS.into_iter().find_map(|usual| name.strip_prefix(usual));
        known.filter(|_| is_configured())
    });
    rest.filter(|rest| rest.is_empty() || rest.starts_with(['.', '-', '_']))
}

fn name_of_folder(folder: &Path) -> String {
    if let Some(repository) = repository(folder) {
        return repository;
    }
    let own = stem(folder);
    let part = own.trim_end_matches(|sign: char| sign == '_' || sign.is_ascii_digit());
    match folder.parent() {
        Some(model) if PARTS.contains(&part) && model.file_name().is_some() => {
            format!("{}/{own}", name_of_folder(model))
        }
        _ => own,
    }
}

/// The name of a repository of the hub, for the folder of its current files.
fn repository(path: &Path) -> Option<String> {
    let snapshots = path.parent().filter(|parent| parent.file_name().is_some_and(|name| name == "snapshots"));
    let folder = snapshots?.parent()?.file_name()?.to_string_lossy();
    Some(folder.strip_prefix(REPOSITORY)?.replacen("--", "/", 1))
}
