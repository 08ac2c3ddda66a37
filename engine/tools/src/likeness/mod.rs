//! Checkpoints with the shapes of published models and random weights, to measure speed and memory without
//! downloads.
//!
//! The published configurations are in `presets/configurations.json`. Tensor names and shapes come from the
//! engine's blueprints; those of networks that the engine does not have are in this folder.

mod causal_autoencoder;
mod outline;
mod qwen_vl;
mod tokenizers;
mod wan;

use std::{
    collections::{BTreeMap, HashSet},
    fs, io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use sluice_engine::{
    checkpoint::{BlockSpec, CheckpointError, StoredName},
    models::{
        diffusers_name, flux::FluxConfig, qwen_image::QwenImageConfig, sd3::Sd3Config, unet::UnetConfig,
        z_image::ZImageConfig,
    },
    text::{ClipConfig, Qwen3Config, T5Config},
    units,
    vae::AutoencoderKlConfig,
};

use self::{
    causal_autoencoder::CausalAutoencoderConfig,
    qwen_vl::Qwen25VlConfig,
    tokenizers::PublishedTokenizer,
    wan::{Umt5Config, WanConfig},
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

/// The contents of `presets/configurations.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Configurations {
    parts: BTreeMap<String, PartEntry>,
    schedulers: BTreeMap<String, Value>,
    models: BTreeMap<String, ModelEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartEntry {
    /// Another part that this configuration is based on.
    #[serde(default)]
    like: Option<String>,
    library: String,
    class: String,
    #[serde(default)]
    config: Map<String, Value>,
    /// The changes for a tiny version.
    #[serde(default)]
    tiny: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    /// Entries of `model_index.json` besides the components.
    index: Map<String, Value>,
    scheduler: String,
    /// Folder → part.
    parts: BTreeMap<String, String>,
    /// Folder → tokenizer.
    tokenizers: BTreeMap<String, PublishedTokenizer>,
}

static CONFIGURATIONS: LazyLock<Configurations> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../presets/configurations.json")).unwrap_or_else(|error| {
        tracing::error!(%error, "presets/configurations.json cannot be read");
        Configurations::default()
    })
});

impl Configurations {
    /// A part's configuration on top of those it is based on, and the same for the changes for a tiny
    /// version.
    fn config(&self, part: &str) -> [Map<String, Value>; 2] {
        let Some(entry) = self.parts.get(part) else { return [Map::new(), Map::new()] };
        let mut merged =
            entry.like.as_deref().map_or_else(|| [Map::new(), Map::new()], |like| self.config(like));
        for (merged, own) in merged.iter_mut().zip([&entry.config, &entry.tiny]) {
            merged.extend(own.clone());
        }
        merged
    }
}

/// A checkpoint with the shape of a published model, ready to be written.
#[derive(Debug, Clone)]
pub struct Likeness {
    index: Map<String, Value>,
    scheduler: Value,
    parts: Vec<LikenessPart>,
    tokenizers: BTreeMap<String, PublishedTokenizer>,
}

/// One component.
#[derive(Debug, Clone)]
struct LikenessPart {
    folder: String,
    library: String,
    class: String,
    config: Map<String, Value>,
    tiny: Map<String, Value>,
}

impl Likeness {
    /// Identifiers of all models that can be written, as in
    /// [`known_models`](sluice_engine::memory::known_models).
    pub fn ids() -> impl Iterator<Item = &'static str> {
        CONFIGURATIONS.models.keys().map(String::as_str)
    }

    /// The model with this identifier.
    pub fn of(id: &str) -> Option<Self> {
        let model = CONFIGURATIONS.models.get(id)?;
        let part = |(folder, name): (&String, &String)| {
            let [config, tiny] = CONFIGURATIONS.config(name);
            let PartEntry { library, class, .. } = CONFIGURATIONS.parts.get(name)?;
            let (library, class) = (library.clone(), class.clone());
            Some(LikenessPart { folder: folder.clone(), library, class, config, tiny })
        };
        Some(Self {
            index: model.index.clone(),
            scheduler: CONFIGURATIONS.schedulers.get(&model.scheduler)?.clone(),
            parts: model.parts.iter().map(part).collect::<Option<_>>()?,
            tokenizers: model.tokenizers.clone(),
        })
    }

    /// The same with few and narrow layers.
    pub fn tiny(mut self) -> Self {
        for part in &mut self.parts {
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
        for part in &mut self.parts {
            let key = match part.class.as_str() {
                "CLIPTextModel"
                | "CLIPTextModelWithProjection"
                | "Qwen3Model"
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
        Ok(self)
    }

    /// Its components: the folder of each, and names and shapes of its tensors as in diffusers and
    /// transformers.
    ///
    /// # Errors
    /// Fails if a built-in configuration cannot be parsed.
    pub fn tensors(&self) -> Result<Vec<(&str, Vec<RandomTensor>)>, LikenessError> {
        self.parts.iter().map(|part| Ok((part.folder.as_str(), part.tensors()?))).collect()
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
        let mut index = self.index.clone();
        let mut inside = |name: &str, library: &str, class: &str| {
            index.insert(name.to_owned(), json!([library, class]));
            let path = folder.join(name);
            match fs::create_dir(&path) {
                Ok(()) => Ok(path),
                Err(source) => Err(CheckpointError::Write { path, source }),
            }
        };
        for (name, tokenizer) in &self.tokenizers {
            tokenizer.write(&inside(name, "transformers", tokenizer.class())?)?;
        }
        let class = self.scheduler["_class_name"].as_str().unwrap_or_default();
        let scheduler = inside("scheduler", "diffusers", class)?;
        write_json(&scheduler.join("scheduler_config.json"), &self.scheduler)?;
        for part in &self.parts {
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
            let (path, tensors) = (path.join(file), part.tensors()?);
            match seed {
                None => write_hollow(&path, &tensors, dtype)?,
                Some(seed) if write_random(&path, &tensors, dtype, part.seed(seed), progress)? => {}
                Some(_) => return Ok(false),
            }
        }
        write_json(&folder.join("model_index.json"), &Value::Object(index))?;
        Ok(true)
    }
}

impl LikenessPart {
    fn tensors(&self) -> Result<Vec<RandomTensor>, LikenessError> {
        let whole = |name: &str| StoredName::whole(name);
        Ok(match self.class.as_str() {
            "FluxTransformer2DModel" => stored(&self.read::<FluxConfig>()?.blueprint(), diffusers_name),
            "SD3Transformer2DModel" => stored(&self.read::<Sd3Config>()?.blueprint(), diffusers_name)
                .into_iter()
                .map(|tensor| match tensor.name.as_str() {
                    "pos_embed.pos_embed" => {
                        RandomTensor { shape: [&[1][..], &tensor.shape].concat(), ..tensor }
                    }
                    _ => tensor,
                })
                .collect(),
            "ZImageTransformer2DModel" => stored(&self.read::<ZImageConfig>()?.blueprint(), whole),
            "UNet2DConditionModel" => {
                let mut tensors = stored(&self.read::<UnetConfig>()?.blueprint(), whole);
                if self.config.get("use_linear_projection") != Some(&Value::Bool(true)) {
                    tensors.iter_mut().for_each(as_convolution);
                }
                tensors
            }
            "AutoencoderKL" => stored(&self.read::<AutoencoderKlConfig>()?.blueprint(), whole),
            "CLIPTextModel" => stored(&self.read::<ClipConfig>()?.blueprint(false), clip_name),
            "CLIPTextModelWithProjection" => stored(&self.read::<ClipConfig>()?.blueprint(true), clip_name),
            "T5EncoderModel" => stored(&self.read::<T5Config>()?.blueprint(), whole),
            "Qwen3Model" => stored(&self.read::<Qwen3Config>()?.blueprint(), whole),
            "QwenImageTransformer2DModel" => {
                stored(&self.read::<QwenImageConfig>()?.blueprint(), diffusers_name)
            }
            "Qwen2_5_VLForConditionalGeneration" => self.read::<Qwen25VlConfig>()?.tensors(),
            "WanTransformer3DModel" => self.read::<WanConfig>()?.tensors(),
            "UMT5EncoderModel" => self.read::<Umt5Config>()?.tensors(),
            "AutoencoderKLQwenImage" | "AutoencoderKLWan" => {
                self.read::<CausalAutoencoderConfig>()?.tensors()
            }
            other => return Err(self.damaged(format!("{other} is unknown"))),
        })
    }

    fn read<T: for<'de> Deserialize<'de>>(&self) -> Result<T, LikenessError> {
        serde_json::from_value(Value::Object(self.config.clone()))
            .map_err(|error| self.damaged(error.to_string()))
    }

    fn damaged(&self, reason: String) -> LikenessError {
        LikenessError::Configuration { part: self.folder.clone(), reason }
    }

    /// Encoders of one kind have tensors of the same names, but need different weights.
    fn seed(&self, seed: u64) -> u64 {
        self.folder.bytes().fold(seed, |seed, byte| seed.rotate_left(8) ^ u64::from(byte))
    }
}

/// The tensors of a blueprint as they are in files.
fn stored(blueprint: &[BlockSpec], name_of: impl Fn(&str) -> StoredName) -> Vec<RandomTensor> {
    let mut seen = HashSet::new();
    let mut tensors = Vec::new();
    for spec in blueprint {
        for (name, shape) in &spec.tensors {
            let stored = name_of(&format!("{}{name}", spec.prefix));
            let mut shape = shape.clone();
            if let (Some((parts, of)), Some(rows)) = (&stored.part, shape.first_mut()) {
                *rows = *rows / parts.len().max(1) * of;
            }
            if seen.insert(stored.name.clone()) {
                tensors.push(RandomTensor { name: stored.name, shape });
            }
        }
    }
    tensors
}

/// Adds the prefix of published CLIP encoders.
fn clip_name(name: &str) -> StoredName {
    StoredName::whole(if name.starts_with("text_projection") {
        name.to_owned()
    } else {
        format!("text_model.{name}")
    })
}

/// In older networks the projections around a spatial transformer are 1×1 convolutions.
fn as_convolution(tensor: &mut RandomTensor) {
    let is_projection = [".proj_in.weight", ".proj_out.weight"].iter().any(|end| tensor.name.ends_with(end));
    if is_projection && tensor.shape.len() == 2 {
        tensor.shape.extend([1, 1]);
    }
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
