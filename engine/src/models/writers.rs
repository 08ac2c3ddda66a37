//! Language models as models: one part, and one stage.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Family, Model, ModelDefaults, ModelPart, Network, Task};
use crate::{
    checkpoint::{Checkpoint, CheckpointError, Part, Role, folders_in, without_continuations},
    request::Request,
    text::Writer,
};

/// The names that weights have in a folder as transformers saves them.
const IN_FOLDER: &str = "model";
const WEIGHTS: [&str; 2] = ["safetensors", "gguf"];

/// All language models.
pub struct LanguageModels;

impl Family for LanguageModels {
    fn id(&self) -> &'static str {
        "language_model"
    }

    fn name(&self) -> &'static str {
        "Language model"
    }

    fn recognises(&self, checkpoint: &Checkpoint) -> bool {
        matches!(&checkpoint.parts[..], [Part { tensors, .. }] if Writer::is_one(tensors))
    }

    fn stages(&self, model: &Model, _: &Request) -> Vec<Task> {
        model.writer().map(|writer| Task::Write { writer }).into_iter().collect()
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let (network, component) = Writer::open(checkpoint)?;
        let part = ModelPart {
            name: Role::LanguageModel.id().to_owned(),
            component,
            network: Network::Writer(Arc::new(network)),
            takes_adapters: false,
        };
        Ok(Model {
            family: &LanguageModels,
            path: checkpoint.path.clone(),
            root: checkpoint.root.clone(),
            layout: checkpoint.layout,
            parts: vec![part],
            defaults: ModelDefaults::default(),
        })
    }
}

/// Opens the language model in a file, or in a folder as transformers saves it or with a single GGUF file. Reads no weights.
///
/// # Errors
/// When it cannot be read, or is no language model.
pub fn open_language_model(path: &Path) -> Result<Model, CheckpointError> {
    let file = if path.is_dir() { in_folder(path)? } else { path.to_owned() };
    if !file.exists() {
        return Err(CheckpointError::NotFound { path: file });
    }
    LanguageModels.open(&Checkpoint::of_file(&file)?)
}

/// The weights in a folder.
fn in_folder(folder: &Path) -> Result<PathBuf, CheckpointError> {
    let entries =
        fs::read_dir(folder).map_err(|source| CheckpointError::Io { path: folder.to_owned(), source })?;
    let is_one = |path: &PathBuf| {
        path.extension().is_some_and(|own| WEIGHTS.iter().any(|weights| own.eq_ignore_ascii_case(weights)))
    };
    let mut files: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_one).collect();
    files.sort();
    without_continuations(&mut files);
    let is_named =
        |path: &&PathBuf| path.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with(IN_FOLDER));
    let reason = match (files.iter().find(is_named), &files[..]) {
        (Some(file), _) | (None, [file]) => return Ok(file.clone()),
        (None, []) if folders_in(folder).is_empty() => "the folder has no weights",
        (None, []) => "the folder has no weights of its own; choose one of those in it",
        (None, _) => "the folder has several files; choose one of them",
    };
    Err(CheckpointError::LanguageModel { path: folder.to_owned(), reason: reason.to_owned() })
}
