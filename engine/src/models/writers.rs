//! Language models as models: one part, or two with a vision tower, and one stage.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Family, Model, ModelDefaults, ModelPart, Network, Task};
use crate::{
    checkpoint::{
        Checkpoint, CheckpointError, Part, Role, folders_in, read_model_notes, without_continuations,
    },
    request::Request,
    text::{Qwen3Vision, QwenVision, Shown, Writer},
};

/// The names that weights have in a folder as transformers saves them.
const IN_FOLDER: &str = "model";
const WEIGHTS: [&str; 2] = ["safetensors", GGUF];
const GGUF: &str = "gguf";
/// What llama.cpp's names of models that see end with.
const SEEING: &str = "vl";
/// In the names of files with vision tower that llama.cpp reads beside those of language models.
const BESIDE: &str = "mmproj";

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
        matches!(&checkpoint.parts[..], [part] if Writer::is_one(part))
    }

    fn stages(&self, model: &Model, request: &Request) -> Vec<Task> {
        let vision = model.vision_tower().filter(|_| request.describe.is_some());
        model.writer().map(|writer| Task::Write { writer, vision }).into_iter().collect()
    }

    fn open(&self, checkpoint: &Checkpoint) -> Result<Model, CheckpointError> {
        let (network, component) = Writer::open(checkpoint)?;
        let tower = tower_for(checkpoint, network.width())?;
        if tower.is_some() && !network.has_image_token() {
            let reason = "its tokenizer has no token for images, but it has a vision tower".to_owned();
            return Err(CheckpointError::LanguageModel { path: checkpoint.path.clone(), reason });
        }
        let part = ModelPart {
            name: Role::LanguageModel.id().to_owned(),
            component,
            network: Network::Writer(Arc::new(network)),
            takes_adapters: false,
        };
        let model = Model {
            family: &LanguageModels,
            path: checkpoint.path.clone(),
            root: checkpoint.root.clone(),
            layout: checkpoint.layout,
            parts: vec![part],
            defaults: ModelDefaults::default(),
        };
        match tower {
            Some(tower) if QwenVision::width_of(&tower.tensors).is_some() => {
                Ok(model.with_vision_tower(QwenVision::open(&tower, Shown::Whole)?))
            }
            Some(tower) => Ok(model.with_vision_tower(Qwen3Vision::open(&tower)?)),
            None => Ok(model),
        }
    }
}

/// Whether the language model in a checkpoint of one file sees images.
///
/// # Errors
/// When a file beside it cannot be read.
pub fn sees_images(checkpoint: &Checkpoint) -> Result<bool, CheckpointError> {
    let [part] = &checkpoint.parts[..] else { return Ok(false) };
    let Some(width) = Writer::width_of(part) else { return Ok(false) };
    Ok(tower_for(checkpoint, width)?.is_some())
}

/// The part with the vision tower of a language model of this width: in its file, or in one beside it as llama.cpp has it.
fn tower_for(checkpoint: &Checkpoint, width: usize) -> Result<Option<Part>, CheckpointError> {
    let is_tower = |part: &&Part| {
        let own = QwenVision::width_of(&part.tensors).or_else(|| Qwen3Vision::width_of(&part.tensors));
        own == Some(width)
    };
    if let Some(own) = checkpoint.parts.iter().find(is_tower) {
        return Ok(Some(own.clone()));
    }
    let path = &checkpoint.path;
    let sees = read_model_notes(path)?.is_some_and(|notes| notes.architecture.ends_with(SEEING));
    let Some(folder) = path.parent().filter(|_| sees) else { return Ok(None) };
    let is_beside = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        name.contains(BESIDE) && name.ends_with(GGUF)
    };
    for file in files_in(folder)?.into_iter().filter(is_beside) {
        if let Some(tower) = Checkpoint::of_file(&file)?.parts.iter().find(is_tower) {
            return Ok(Some(tower.clone()));
        }
    }
    Ok(None)
}

/// The entries of a folder, sorted.
fn files_in(folder: &Path) -> Result<Vec<PathBuf>, CheckpointError> {
    let entries =
        fs::read_dir(folder).map_err(|source| CheckpointError::Io { path: folder.to_owned(), source })?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    Ok(files)
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
    let refused = |path, reason| CheckpointError::LanguageModel { path, reason };
    let checkpoint = Checkpoint::of_file(&file).map_err(|error| error.of_tool(refused))?;
    // A folder says more about a model than the names of the files in it.
    Ok(Model { path: path.to_owned(), ..LanguageModels.open(&checkpoint)? })
}

/// The weights in a folder.
fn in_folder(folder: &Path) -> Result<PathBuf, CheckpointError> {
    let is_one = |path: &PathBuf| {
        let is_beside = path.file_name().is_some_and(|name| name.to_string_lossy().contains(BESIDE));
        path.extension().is_some_and(|own| WEIGHTS.iter().any(|weights| own.eq_ignore_ascii_case(weights)))
            && !is_beside
    };
    let mut files: Vec<PathBuf> = files_in(folder)?.into_iter().filter(is_one).collect();
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
