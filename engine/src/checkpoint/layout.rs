//! Finds the parts of a model in folders and files.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{CheckpointError, FileKind, Role, TensorTable, file_kind, read_header};

/// How the files of a model are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A folder as on the Hugging Face hub.
    Diffusers,
    /// One file a component, as ComfyUI has them.
    Split,
}

impl Layout {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diffusers => "diffusers folder",
            Self::Split => "split files",
        }
    }
}

/// One set of weights that may be a component of a model.
#[derive(Debug, Clone)]
pub struct Part {
    /// What it is for.
    pub role: Role,
    /// Its folder (diffusers) or its file (split).
    pub path: PathBuf,
    /// Its configuration, where the layout has one.
    pub config: Option<Value>,
    /// Its tensors, without the prefixes that programs put before them.
    pub tensors: TensorTable,
}

impl Part {
    /// The configuration read into `T`; what `from_shapes` reads off the tensors where there is none, or
    /// a usual one, so that the tensors which are missing are named.
    pub fn config<T: DeserializeOwned + Default>(
        &self,
        from_shapes: impl FnOnce(&TensorTable) -> Option<T>,
    ) -> Result<T, CheckpointError> {
        let Some(config) = &self.config else {
            return Ok(from_shapes(&self.tensors).unwrap_or_default());
        };
        let path = self.path.join("config.json");
        serde_json::from_value(config.clone())
            .map_err(|error| CheckpointError::Json { path, reason: error.to_string() })
    }
}

/// The parts of a model on disk.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// What was opened.
    pub path: PathBuf,
    /// The folder that its parts are in.
    pub root: PathBuf,
    /// How it is arranged.
    pub layout: Layout,
    /// What it says it is, where it says so.
    pub kind: Option<String>,
    /// Everything found, in a fixed order. Split folders may hold several candidates for a role.
    pub parts: Vec<Part>,
}

const DIFFUSERS_INDEX: &str = "model_index.json";
const SPLIT_FOLDERS: [(Role, &[&str]); 3] = [
    (Role::Denoiser, &["diffusion_models", "unet"]),
    (Role::TextEncoder, &["text_encoders", "clip"]),
    (Role::Autoencoder, &["vae"]),
];
const DIFFUSERS_FOLDERS: [(Role, &[&str]); 3] = [
    (Role::Denoiser, &["transformer", "unet"]),
    (Role::TextEncoder, &["text_encoder", "text_encoder_2", "text_encoder_3"]),
    (Role::Autoencoder, &["vae"]),
];
/// What programs put before the names of a component's tensors.
const PREFIXES: [(Role, &[&str]); 3] = [
    (Role::Denoiser, &["model.diffusion_model.", "diffusion_model."]),
    (Role::TextEncoder, &["model."]),
    (Role::Autoencoder, &["first_stage_model.", "vae."]),
];
const PICKLES: [&str; 5] = ["ckpt", "pt", "pth", "bin", "pkl"];

impl Checkpoint {
    /// Reads the headers below a path.
    ///
    /// `path` is a diffusers folder, a folder of split files, or one file of such a folder: then that file
    /// is the only candidate for its role.
    pub fn open(path: &Path) -> Result<Self, CheckpointError> {
        if !path.exists() {
            return Err(CheckpointError::NotFound { path: path.to_owned() });
        }
        if path.is_file() {
            return if path.file_name().is_some_and(|name| name == DIFFUSERS_INDEX) {
                open_diffusers(path.parent().unwrap_or(path))
            } else {
                open_file(path)
            };
        }
        if path.join(DIFFUSERS_INDEX).is_file() {
            return open_diffusers(path);
        }
        if SPLIT_FOLDERS[0].1.iter().any(|folder| path.join(folder).is_dir()) {
            return open_split(path, None);
        }
        Err(match first_with_extension(path, &PICKLES) {
            Some(pickle) => CheckpointError::Pickle { path: pickle },
            None => CheckpointError::NoModel { path: path.to_owned() },
        })
    }

    /// All candidates for a role.
    pub fn candidates(&self, role: Role) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.role == role)
    }
}

fn open_diffusers(folder: &Path) -> Result<Checkpoint, CheckpointError> {
    let index: Value = read_json(&folder.join(DIFFUSERS_INDEX))?;
    let kind = index.get("_class_name").and_then(Value::as_str).map(str::to_owned);
    let mut parts = Vec::new();
    for (role, names) in DIFFUSERS_FOLDERS {
        for name in names {
            let path = folder.join(name);
            let named =
                index.get(name).and_then(|entry| entry.get(0)).is_some_and(|library| !library.is_null());
            if !path.is_dir() {
                if named {
                    let expected = format!("the folder {} is not there", path.display());
                    return Err(CheckpointError::MissingPart { model: folder.to_owned(), role, expected });
                }
                continue;
            }
            let config_path = path.join("config.json");
            let config = if config_path.is_file() { Some(read_json(&config_path)?) } else { None };
            let tensors = strip_prefix(role, read_weights(folder, role, &path)?);
            parts.push(Part { role, path, config, tensors });
        }
    }
    Ok(Checkpoint {
        path: folder.to_owned(),
        root: folder.to_owned(),
        layout: Layout::Diffusers,
        kind,
        parts,
    })
}

/// The weights of a folder that holds one component.
pub fn read_folder(folder: &Path) -> Result<TensorTable, CheckpointError> {
    read_weights(folder, Role::Denoiser, folder)
}

/// The weights of one diffusers component: the files that its index names, or its only safetensors file.
fn read_weights(model: &Path, role: Role, folder: &Path) -> Result<TensorTable, CheckpointError> {
    let files = files_with_extension(folder, &["json"])?;
    if let Some(index) = files.iter().find(|path| path.to_string_lossy().ends_with(".safetensors.index.json"))
    {
        return read_shards(folder, index);
    }
    let weights = files_with_extension(folder, &["safetensors"])?;
    let plain = weights.iter().find(|path| !path.to_string_lossy().contains(".fp16."));
    match plain.or(weights.first()) {
        Some(file) => read_header(file),
        None => Err(match first_with_extension(folder, &PICKLES) {
            Some(pickle) => CheckpointError::Pickle { path: pickle },
            None => CheckpointError::MissingPart {
                model: model.to_owned(),
                role,
                expected: format!("there is no .safetensors file in {}", folder.display()),
            },
        }),
    }
}

fn read_shards(folder: &Path, index: &Path) -> Result<TensorTable, CheckpointError> {
    let content: Value = read_json(index)?;
    let map = content.get("weight_map").and_then(Value::as_object).ok_or_else(|| CheckpointError::Json {
        path: index.to_owned(),
        reason: "it has no weight_map".to_owned(),
    })?;
    let shards: BTreeSet<&str> = map.values().filter_map(Value::as_str).collect();
    let mut tensors = TensorTable::new();
    for shard in shards {
        let path = folder.join(shard);
        if !path.is_file() {
            return Err(CheckpointError::MissingShard { index: index.to_owned(), shard: path });
        }
        tensors.append(&mut read_header(&path)?);
    }
    Ok(tensors)
}

fn open_file(path: &Path) -> Result<Checkpoint, CheckpointError> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        Some("safetensors" | "gguf") => {}
        Some(extension) if PICKLES.contains(&extension) => {
            return Err(CheckpointError::Pickle { path: path.to_owned() });
        }
        // A name that says nothing is no reason to refuse a file.
        _ if matches!(file_kind(path)?, FileKind::Gguf | FileKind::Safetensors) => {}
        _ => return Err(CheckpointError::NotAModelFile { path: path.to_owned() }),
    }
    // An unreadable file is reported for itself, before anything is said about its neighbours.
    read_header(path)?;
    let root = path.parent().and_then(Path::parent).unwrap_or(path);
    open_split(root, Some(path))
}

fn open_split(root: &Path, chosen: Option<&Path>) -> Result<Checkpoint, CheckpointError> {
    let chosen_role = chosen.map(role_of_file);
    let mut parts = Vec::new();
    for (role, folders) in SPLIT_FOLDERS {
        let mut files = Vec::new();
        match chosen {
            Some(file) if chosen_role == Some(role) => files.push(file.to_owned()),
            _ => {
                for folder in folders {
                    let folder = root.join(folder);
                    if folder.is_dir() {
                        files.extend(files_with_extension(&folder, &["safetensors", "gguf"])?);
                    }
                }
            }
        }
        for file in files {
            let tensors = strip_prefix(role, read_header(&file)?);
            parts.push(Part { role, path: file, config: None, tensors });
        }
    }
    Ok(Checkpoint {
        path: chosen.unwrap_or(root).to_owned(),
        root: root.to_owned(),
        layout: Layout::Split,
        kind: None,
        parts,
    })
}

/// What a file is for, by the folder it is in; a denoiser if that says nothing.
fn role_of_file(file: &Path) -> Role {
    let folder = file.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let named =
        |(_, names): &&(Role, &[&str])| folder.as_deref().is_some_and(|folder| names.contains(&folder));
    SPLIT_FOLDERS.iter().find(named).map_or(Role::Denoiser, |(role, _)| *role)
}

fn strip_prefix(role: Role, tensors: TensorTable) -> TensorTable {
    let prefixes = PREFIXES.iter().filter(|(of, _)| *of == role).flat_map(|(_, prefixes)| prefixes.iter());
    for prefix in prefixes {
        if tensors.keys().any(|name| name.starts_with(prefix)) {
            return tensors
                .into_iter()
                .filter_map(|(name, tensor)| Some((name.strip_prefix(prefix)?.to_owned(), tensor)))
                .collect();
        }
    }
    tensors
}

/// The files of a folder with one of these extensions, by name.
fn files_with_extension(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, CheckpointError> {
    let io = |source| CheckpointError::Io { path: folder.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        let path = entry.map_err(io)?.path();
        let matches = path.extension().is_some_and(|own| extensions.iter().any(|wanted| own == *wanted));
        if matches && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn first_with_extension(folder: &Path, extensions: &[&str]) -> Option<PathBuf> {
    files_with_extension(folder, extensions).ok()?.into_iter().next()
}

/// Reads a JSON file. Python also writes numbers that JSON does not have, such as the `-Infinity` in the configurations
/// of some schedulers; they count as absent.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, CheckpointError> {
    let text =
        fs::read_to_string(path).map_err(|source| CheckpointError::Io { path: path.to_owned(), source })?;
    let without = |text: &str| {
        let numbers = [": -Infinity", ": Infinity", ": NaN"];
        numbers.into_iter().fold(text.to_owned(), |text, number| text.replace(number, ": null"))
    };
    serde_json::from_str(&text)
        .or_else(|error| serde_json::from_str(&without(&text)).map_err(|_| error))
        .map_err(|error| CheckpointError::Json { path: path.to_owned(), reason: error.to_string() })
}

/// Reads a TOML file.
pub fn read_toml<T: DeserializeOwned>(path: &Path) -> Result<T, CheckpointError> {
    let text =
        fs::read_to_string(path).map_err(|source| CheckpointError::Io { path: path.to_owned(), source })?;
    toml::from_str(&text)
        .map_err(|error| CheckpointError::Json { path: path.to_owned(), reason: error.to_string() })
}
