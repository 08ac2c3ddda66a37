//! Finds the parts of a model in folders and files.

mod components;
mod diffusers;
mod listing;
mod places;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{CheckpointError, FileKind, Role, TensorTable, file_kind, shards::read_weights};
pub use diffusers::{is_diffusers, read_folder};
use listing::{PICKLES, WEIGHTS, files_with_extension, has_extension};
use places::{Place, around, folders_of, usual_folder};
pub use places::{folders_in, may_be_model};

/// How the files of a model are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A folder as on the Hugging Face hub.
    Diffusers,
    /// One file a component, as ComfyUI has them.
    Split,
    /// One file with several components.
    Single,
}

impl Layout {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diffusers => "diffusers folder",
            Self::Split => "split files",
            Self::Single => "single file",
        }
    }
}

/// One set of weights that may be a component of a model.
#[derive(Debug, Clone)]
pub struct Part {
    /// What it is for.
    pub role: Role,
    /// Its folder (diffusers) or its file.
    pub path: PathBuf,
    /// Its configuration, where the layout has one.
    pub config: Option<Value>,
    /// Its tensors, without the prefixes that programs put before them.
    pub tensors: TensorTable,
    /// The names of tensors of its file that belong to no component.
    pub loose: Arc<BTreeSet<String>>,
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

    /// Refuses a value of its configuration.
    ///
    /// # Errors
    /// Always: with the field, its value and why it cannot be.
    pub fn refuse<T>(
        &self,
        field: &'static str,
        value: impl ToString,
        reason: impl Into<String>,
    ) -> Result<T, CheckpointError> {
        let (path, value) = (self.path.join("config.json"), value.to_string());
        Err(CheckpointError::Config { path, field, value, reason: reason.into() })
    }

    /// Mean bits of a weight, of which 16 at most count: more are no better where weights were trained in 16.
    fn precision(&self) -> u64 {
        const ENOUGH: u64 = 16;
        let (mut bits, mut weights) = (0_u64, 0_u64);
        for tensor in self.tensors.values() {
            let own = tensor.elements();
            let stored = tensor.stored_bytes().saturating_mul(8);
            bits = bits.saturating_add(stored.min(own.saturating_mul(ENOUGH)));
            weights = weights.saturating_add(own);
        }
        bits.checked_div(weights).unwrap_or(0)
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
    /// Everything found, the better candidates for a role first: what stands in the chosen file, then what is nearer,
    /// then what has more bits, then names.
    pub parts: Vec<Part>,
    /// Where parts were looked for, and what was found there and cannot be read, in words.
    looked: Vec<(Place, Vec<String>)>,
    /// Where else they may be, the nearest first.
    further: Vec<Place>,
    /// How many of these were looked into for each role.
    advanced: BTreeMap<Role, usize>,
}

/// Whether a folder is laid out as one model: a diffusers folder or one of split files.
pub fn is_model_folder(folder: &Path) -> bool {
    is_diffusers(folder) || has_split_folders(folder)
}

fn has_split_folders(folder: &Path) -> bool {
    folders_of(Role::Denoiser, folder).next().is_some()
}

impl Checkpoint {
    /// Reads the headers below a path.
    ///
    /// `path` is a diffusers folder, a folder of split files, or a file. A file is the only candidate for what it
    /// holds; what it does not hold is looked for around it, and later in `folders`, which a person keeps models in.
    ///
    /// # Errors
    /// When nothing is there, or the files of the model itself cannot be read.
    pub fn open(path: &Path, folders: &[PathBuf]) -> Result<Self, CheckpointError> {
        if !path.exists() {
            return Err(CheckpointError::NotFound { path: path.to_owned() });
        }
        if path.is_file() {
            if path.file_name().is_some_and(|name| name == diffusers::INDEX) {
                return diffusers::open(path.parent().unwrap_or(path));
            }
            let mut checkpoint = Self::of_file(path)?;
            checkpoint.look_around(path, folders);
            return Ok(checkpoint);
        }
        if is_diffusers(path) {
            return diffusers::open(path);
        }
        if has_split_folders(path) {
            let checkpoint = Self::of_split_folder(path, folders);
            if checkpoint.candidates(Role::Denoiser).next().is_none() {
                return Err(checkpoint.missing(Role::Denoiser, "no weights file was found"));
            }
            return Ok(checkpoint);
        }
        Err(match files_with_extension(path, &PICKLES).ok().and_then(|found| found.into_iter().next()) {
            Some(pickle) => CheckpointError::Pickle { path: pickle },
            None => CheckpointError::NoModel { path: path.to_owned() },
        })
    }

    /// The parts in one file, and nothing around it.
    ///
    /// # Errors
    /// When it cannot be read or is no file of weights.
    pub fn of_file(path: &Path) -> Result<Self, CheckpointError> {
        if has_extension(path, &PICKLES) {
            return Err(CheckpointError::Pickle { path: path.to_owned() });
        }
        // A name that says nothing is no reason to refuse a file.
        if !has_extension(path, &WEIGHTS) && file_kind(path)? == FileKind::Other {
            return Err(CheckpointError::NotAModelFile { path: path.to_owned() });
        }
        let parts = components::split(path, read_weights(path)?, places::role_of_folder(path));
        let root = path.parent().and_then(Path::parent).unwrap_or(path);
        let layout = if parts.len() > 1 { Layout::Single } else { Layout::Split };
        Ok(Self { parts, ..Self::empty(path, root, layout) })
    }

    fn of_split_folder(path: &Path, folders: &[PathBuf]) -> Self {
        let mut checkpoint = Self::empty(path, path, Layout::Split);
        for role in [Role::Denoiser, Role::TextEncoder, Role::Autoencoder] {
            checkpoint.look_near(role, &[path]);
        }
        checkpoint.further = folders.iter().cloned().map(Place::mixed).collect();
        checkpoint
    }

    fn empty(path: &Path, root: &Path, layout: Layout) -> Self {
        Self {
            path: path.to_owned(),
            root: root.to_owned(),
            layout,
            kind: None,
            parts: Vec::new(),
            looked: Vec::new(),
            further: Vec::new(),
            advanced: BTreeMap::new(),
        }
    }

    /// Looks for what a chosen file does not hold in the folders around it that are for that.
    fn look_around(&mut self, path: &Path, folders: &[PathBuf]) {
        let own: Vec<Role> = self.parts.iter().map(|part| part.role).collect();
        for role in [Role::Denoiser, Role::TextEncoder, Role::Autoencoder] {
            // Models have several text encoders; of the others a chosen one is the only one.
            if own.contains(&role) && role != Role::TextEncoder {
                continue;
            }
            self.look_near(role, &around(path));
        }
        let beside = path.parent().map(|folder| Place::flat(folder.to_owned()));
        self.further = beside.into_iter().chain(folders.iter().cloned().map(Place::mixed)).collect();
    }

    /// Adds what is in the folders for a role in each of these.
    fn look_near(&mut self, role: Role, roots: &[&Path]) {
        let folders: Vec<PathBuf> = roots.iter().flat_map(|root| folders_of(role, root)).collect();
        if folders.is_empty() {
            self.looked.push((Place::of_role(usual_folder(role, &self.root), role), Vec::new()));
        }
        for folder in folders {
            self.look_into(Place::of_role(folder, role), None);
        }
    }

    /// Adds what is in a place, or what of it is for a role.
    fn look_into(&mut self, place: Place, wanted: Option<Role>) {
        let first = self.parts.len();
        let mut unreadable = Vec::new();
        for file in place.files() {
            if file == self.path {
                continue;
            }
            match Self::of_file(&file) {
                // What belongs to another model as a whole is not taken out of it.
                Ok(found) if found.layout == Layout::Single => {}
                Ok(found) => {
                    let fits = |part: &Part| wanted.is_none_or(|role| role == part.role);
                    self.parts.extend(found.parts.into_iter().filter(fits));
                }
                Err(error) => unreadable.push(error.to_string()),
            }
        }
        self.parts[first..].sort_by_key(|part| std::cmp::Reverse(part.precision()));
        self.looked.push((place, unreadable));
    }

    /// Looks for parts with a role in the next place that they may be in; says whether there was one.
    pub fn look_further(&mut self, role: Role) -> bool {
        let next = self.advanced.entry(role).or_default();
        let Some(mut place) = self.further.get(*next).cloned() else { return false };
        *next += 1;
        place.role = Some(role);
        self.look_into(place, Some(role));
        true
    }

    /// All candidates for a role.
    pub fn candidates(&self, role: Role) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.role == role)
    }

    /// The error that a part is missing; `expected` says what was looked for.
    pub fn missing(&self, role: Role, expected: &str) -> CheckpointError {
        let looked = || self.looked.iter().filter(|(place, _)| place.role.is_none_or(|own| own == role));
        CheckpointError::MissingPart {
            model: self.path.clone(),
            role,
            expected: expected.to_owned(),
            looked: looked().map(|(place, _)| place.folder.clone()).collect(),
            unreadable: looked().flat_map(|(_, unreadable)| unreadable.clone()).collect(),
        }
    }
}
