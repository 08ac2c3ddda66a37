//! Checkpoints with the shapes of published models and random weights, to measure speed and memory without
//! downloads.
//!
//! Configurations, and names and shapes of tensors, are those of [`published_models`].

mod tokenizers;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use sluice_engine::{
    checkpoint::CheckpointError,
    models::{Published, PublishedPart, published_models},
    units,
};

use crate::random::{RandomDtype, RandomTensor, random_file_bytes, write_hollow, write_random};

/// Bytes besides the weights: configurations and tokenizers.
const REST: u64 = 32 << 20;

/// Why no checkpoint was written.
#[derive(Debug, thiserror::Error)]
pub enum LikenessError {
    /// The folder exists and is not empty.
    #[error("{} already exists and is not an empty folder", .path.display())]
    Taken {
        /// The destination.
        path: PathBuf,
    },
    /// There is too little disk space.
    #[error("the checkpoint needs {} of disk space, but only {} is free at {}", units::memory_needed(*.needed), units::memory(*.free), .path.display())]
    NoRoom {
        /// The destination.
        path: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// A text encoder would have no layers left, or too many, or the model has no text encoder.
    #[error("the text encoders of this model can have 1 to {layers} layers")]
    Layers {
        /// Layers of the shortest text encoder.
        layers: usize,
    },
    /// The built-in configurations are inconsistent.
    #[error("the configuration of {part} is damaged: {reason}")]
    Configuration {
        /// The part.
        part: String,
        /// The reason.
        reason: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

impl LikenessError {
    /// What the user can do about it.
    pub fn advice(&self) -> String {
        match self {
            Self::Taken { .. } => "Choose a folder that does not exist yet.".to_owned(),
            Self::NoRoom { .. } => {
                "Free some disk space, choose a folder on another disk, or write fewer text encoder layers with \
                 --text-layers."
                    .to_owned()
            }
            Self::Layers { .. } => "Choose a number in this range.".to_owned(),
            Self::Configuration { .. } => "Please report this bug.".to_owned(),
            Self::Checkpoint(error) => error.advice(),
        }
    }
}

/// A checkpoint with the shape of a published model, ready to be written.
#[derive(Debug, Clone)]
pub struct Likeness {
    model: Published,
}

impl Likeness {
    /// Identifiers of all models that can be written, as in
    /// [`known_models`](sluice_engine::models::known_models).
    pub fn ids() -> impl Iterator<Item = &'static str> {
        published_models().iter().map(|model| model.id.as_str())
    }

    /// The model with this identifier.
    pub fn of(id: &str) -> Option<Self> {
        let model = published_models().iter().find(|model| model.id == id)?;
        Some(Self { model: model.clone() })
    }

    /// The same with few and narrow layers.
    pub fn tiny(mut self) -> Self {
        for part in &mut self.model.parts {
            part.config.extend(std::mem::take(&mut part.tiny));
        }
        self
    }

    /// The same with this many layers in each text encoder, at full width. The outputs keep the published
    /// shape, while the checkpoint is smaller and faster.
    ///
    /// # Errors
    /// Fails if `layers` is 0, or more than one of the encoders has.
    pub fn with_text_layers(mut self, layers: usize) -> Result<Self, LikenessError> {
        for part in &mut self.model.parts {
            let key = match part.class.as_str() {
                "CLIPTextModel"
                | "CLIPTextModelWithProjection"
                | "Qwen3Model"
                | "Qwen3ForCausalLM"
                | "LlamaForCausalLM"
                | "Qwen2_5_VLForConditionalGeneration" => "num_hidden_layers",
                "T5EncoderModel" | "UMT5EncoderModel" => "num_layers",
                _ => continue,
            };
            let all = part.config.get(key).and_then(Value::as_u64).unwrap_or(0) as usize;
            if !(1..=all).contains(&layers) {
                return Err(LikenessError::Layers { layers: all });
            }
            part.config.insert(key.to_owned(), layers.into());
        }
        // HiDream-I1 reads layers by their numbers.
        for part in &mut self.model.parts {
            if let Some(Value::Array(read)) = part.config.get_mut("llama_layers") {
                for layer in read {
                    *layer = layer.as_u64().unwrap_or(0).min(layers as u64 - 1).into();
                }
            }
        }
        Ok(self)
    }

    /// Its components: the folder of each, and names and shapes of its tensors as in diffusers and
    /// transformers.
    ///
    /// # Errors
    /// Fails if a built-in configuration cannot be parsed.
    pub fn tensors(&self) -> Result<Vec<(&str, Vec<RandomTensor>)>, LikenessError> {
        self.model.parts.iter().map(|part| Ok((part.folder.as_str(), tensors(part)?))).collect()
    }

    /// Size of the checkpoint in bytes.
    ///
    /// # Errors
    /// As [`tensors`](Self::tensors).
    pub fn bytes(&self, dtype: RandomDtype) -> Result<u64, LikenessError> {
        let parts = self.tensors()?;
        Ok(REST + parts.iter().map(|(_, tensors)| random_file_bytes(tensors, dtype)).sum::<u64>())
    }

    /// Writes it as a diffusers folder, which gets its name when it is complete: with weights from a seed, or
    /// hollow, with headers only. A hollow checkpoint opens and plans like the model and takes no disk space,
    /// but cannot run. Calls `progress` with the part done, from 0 to 1; if that returns `false`, removes
    /// everything and returns `false`. Computes on rayon's current thread pool.
    ///
    /// # Errors
    /// Fails if the folder is not empty, the disk is too small, or a file cannot be written.
    pub fn write(
        &self,
        folder: &Path,
        dtype: RandomDtype,
        seed: Option<u64>,
        mut progress: impl FnMut(f64) -> bool,
    ) -> Result<bool, LikenessError> {
        let failed = |source| CheckpointError::Write { path: folder.to_owned(), source };
        if fs::symlink_metadata(folder).is_ok() && !is_empty_folder(folder) {
            return Err(LikenessError::Taken { path: folder.to_owned() });
        }
        let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(above).map_err(failed)?;
        let needed = if seed.is_some() { self.bytes(dtype)? } else { REST };
        let free = fs4::available_space(above).map_err(failed)?;
        if free < needed {
            return Err(LikenessError::NoRoom { path: folder.to_owned(), needed, free });
        }
        let temporary =
            tempfile::Builder::new().prefix(".sluice-").suffix(".tmp").tempdir_in(above).map_err(failed)?;
        let mut done = 0;
        let mut told = |bytes: u64| {
            done += bytes;
            progress(done as f64 / needed as f64)
        };
        if !self.write_into(temporary.path(), dtype, seed, &mut told)? {
            return Ok(false);
        }
        open_to_all(temporary.path()).map_err(failed)?;
        if is_empty_folder(folder) {
            fs::remove_dir(folder).map_err(failed)?;
        }
        // After the rename, the cleanup of the temporary folder no longer finds it.
        fs::rename(temporary.path(), folder).map_err(failed)?;
        Ok(true)
    }

    fn write_into(
        &self,
        folder: &Path,
        dtype: RandomDtype,
        seed: Option<u64>,
        progress: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, LikenessError> {
        let Published { index, scheduler, parts, tokenizers, .. } = &self.model;
        let mut index = index.clone();
        let mut inside = |name: &str, library: &str, class: &str| {
            index.insert(name.to_owned(), json!([library, class]));
            let path = folder.join(name);
            match fs::create_dir(&path) {
                Ok(()) => Ok(path),
                Err(source) => Err(CheckpointError::Write { path, source }),
            }
        };
        for (name, tokenizer) in tokenizers {
            let class = tokenizers::class(*tokenizer);
            tokenizers::write(*tokenizer, &inside(name, "transformers", class)?)?;
        }
        let class = scheduler["_class_name"].as_str().unwrap_or_default();
        let folder_of_scheduler = inside("scheduler", "diffusers", class)?;
        write_json(&folder_of_scheduler.join("scheduler_config.json"), scheduler)?;
        for part in parts {
            let path = inside(&part.folder, &part.library, &part.class)?;
            let mut config = Value::Object(part.config.clone());
            let file = if part.library == "diffusers" {
                config["_class_name"] = part.class.clone().into();
                "diffusion_pytorch_model.safetensors"
            } else {
                config["torch_dtype"] = dtype.torch_name().into();
                "model.safetensors"
            };
            write_json(&path.join("config.json"), &config)?;
            let (path, tensors) = (path.join(file), tensors(part)?);
            match seed {
                None => write_hollow(&path, &tensors, dtype)?,
                Some(seed) if write_random(&path, &tensors, dtype, part_seed(part, seed), progress)? => {}
                Some(_) => return Ok(false),
            }
        }
        write_json(&folder.join("model_index.json"), &Value::Object(index))?;
        Ok(true)
    }
}

/// Names and shapes of a component's tensors.
fn tensors(part: &PublishedPart) -> Result<Vec<RandomTensor>, LikenessError> {
    let own = part.tensors().map_err(|error| damaged(part, error.to_string()))?;
    let own = own.ok_or_else(|| damaged(part, format!("{} is unknown", part.class)))?;
    Ok(own.into_iter().map(|(name, shape)| RandomTensor { name, shape }).collect())
}

fn damaged(part: &PublishedPart, reason: String) -> LikenessError {
    LikenessError::Configuration { part: part.folder.clone(), reason }
}

/// Encoders of one kind have tensors of the same names, but need different weights.
fn part_seed(part: &PublishedPart, seed: u64) -> u64 {
    part.folder.bytes().fold(seed, |seed, byte| seed.rotate_left(8) ^ u64::from(byte))
}

fn write_json(path: &Path, content: &Value) -> Result<(), CheckpointError> {
    fs::write(path, format!("{content:#}\n"))
        .map_err(|source| CheckpointError::Write { path: path.to_owned(), source })
}

fn is_empty_folder(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

/// Gives a temporary folder, which is private to its owner, the usual permissions of a new folder.
#[cfg(unix)]
fn open_to_all(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // Folders inside were created with the usual permissions.
    let usual = fs::metadata(folder.join("scheduler"))?.permissions().mode();
    fs::set_permissions(folder, fs::Permissions::from_mode(usual))
}

#[cfg(not(unix))]
fn open_to_all(_: &Path) -> io::Result<()> {
    Ok(())
}
