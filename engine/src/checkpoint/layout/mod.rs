//! Finds the components of a model in folders and files.

mod components;
mod diffusers;
mod hollow;
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
pub use hollow::{HollowFolder, HollowPart, HollowTensor};
use listing::{PICKLES, WEIGHTS, files_with_extension, has_extension};
use places::{Place, around, folders_of, usual_folder};
pub use places::{folders_in, may_be_model};

/// How the files of a model are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A folder as on the Hugging Face Hub.
    Diffusers,
    /// One file per component, as in ComfyUI.
    Split,
    /// One file with several components.
    Single,
}

impl Layout {
    /// The name in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diffusers => "diffusers folder",
            Self::Split => "split files",
            Self::Single => "single file",
        }
    }
}

/// A set of weights that may be a component of a model.
#[derive(Debug, Clone)]
pub struct Part {
    /// Its role.
    pub role: Role,
    /// Its folder (diffusers) or its file.
    pub path: PathBuf,
    /// Its configuration, if the layout has one.
    pub config: Option<Value>,
    /// Its tensors, without prefixes added by programs.
    pub tensors: TensorTable,
    /// Names of tensors in its file that belong to no component.
    pub loose: Arc<BTreeSet<String>>,
}

impl Part {
    /// Parses the configuration as `T`. Without one, uses `from_shapes` on the tensors, or else the default,
    /// so that errors name the missing tensors.
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

    /// Rejects a value of its configuration.
    ///
    /// # Errors
    /// Always, with the field, its value and the reason.
    pub fn refuse<T>(
        &self,
        field: &'static str,
        value: impl ToString,
        reason: impl Into<String>,
    ) -> Result<T, CheckpointError> {
        let (path, value) = (self.path.join("config.json"), value.to_string());
        Err(CheckpointError::Config { path, field, value, reason: reason.into() })
    }

    /// Mean bits per weight, at most 16: weights trained in 16 bits are no better in more.
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

/// The components of a model on disk.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// The path that was opened.
    pub path: PathBuf,
    /// The folder that contains its components.
    pub root: PathBuf,
    /// How it is arranged.
    pub layout: Layout,
    /// The kind the model claims to be, if any.
    pub kind: Option<String>,
    /// `model_index.json` or `modular_model_index.json` of a diffusers folder.
    pub index: Option<Value>,
    /// `scheduler_config.json` of a diffusers folder, if it has one.
    pub scheduler: Option<Value>,
    /// All candidates, better ones first: those in the chosen file, then by distance, then by bits, then by
    /// name.
    pub parts: Vec<Part>,
    /// The searched folders, and for each the files that cannot be read, with reasons.
    looked: Vec<(Place, Vec<String>)>,
    /// Folders not yet searched, nearest first.
    further: Vec<Place>,
    /// How many of those were searched for each role.
    advanced: BTreeMap<Role, usize>,
}

/// Whether a folder is laid out as one model: a diffusers folder or split files.
pub fn is_model_folder(folder: &Path) -> bool {
    is_diffusers(folder) || has_split_folders(folder)
}

fn has_split_folders(folder: &Path) -> bool {
    folders_of(Role::Denoiser, folder).next().is_some()
}

impl Checkpoint {
    /// Reads the headers below a path.
    ///
    /// `path` is a diffusers folder, a folder of split files, or a file. For components contained in a file,
    /// the file is the only candidate. Missing components are searched around it, and later in `folders`, the
    /// user's model folders or single files.
    ///
    /// # Errors
    /// Fails if there is nothing at the path, or the model's own files cannot be read.
    pub fn open(path: &Path, folders: &[PathBuf]) -> Result<Self, CheckpointError> {
        if !path.exists() {
            return Err(CheckpointError::NotFound { path: path.to_owned() });
        }
        if path.is_file() {
            if path.file_name().is_some_and(|own| diffusers::INDEXES.iter().any(|name| own == *name)) {
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

    /// The components in one file, without looking around it.
    ///
    /// # Errors
    /// Fails if it cannot be read or is not a weight file.
    pub fn of_file(path: &Path) -> Result<Self, CheckpointError> {
        if has_extension(path, &PICKLES) {
            return Err(CheckpointError::Pickle { path: path.to_owned() });
        }
        // An unknown extension alone is no reason to reject a file.
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
            index: None,
            scheduler: None,
            parts: Vec::new(),
            looked: Vec::new(),
            further: Vec::new(),
            advanced: BTreeMap::new(),
        }
    }

    /// Searches the folders around a chosen file for the components it lacks.
    fn look_around(&mut self, path: &Path, folders: &[PathBuf]) {
        let own: Vec<Role> = self.parts.iter().map(|part| part.role).collect();
        for role in [Role::Denoiser, Role::TextEncoder, Role::Autoencoder] {
            // A model may have several text encoders; for other roles the chosen file is the only candidate.
            if own.contains(&role) && role != Role::TextEncoder {
                continue;
            }
            self.look_near(role, &around(path));
        }
        let beside = path.parent().map(|folder| Place::flat(folder.to_owned()));
        self.further = beside.into_iter().chain(folders.iter().cloned().map(Place::mixed)).collect();
    }

    /// Adds the contents of the folders for a role in each of these.
    fn look_near(&mut self, role: Role, roots: &[&Path]) {
        let folders: Vec<PathBuf> = roots.iter().flat_map(|root| folders_of(role, root)).collect();
        if folders.is_empty() {
            self.looked.push((Place::of_role(usual_folder(role, &self.root), role), Vec::new()));
        }
        for folder in folders {
            self.look_into(Place::of_role(folder, role), None);
        }
    }

    /// Adds the contents of a place, or only those for a role.
    fn look_into(&mut self, place: Place, wanted: Option<Role>) {
        let first = self.parts.len();
        let mut unreadable = Vec::new();
        for file in place.files() {
            if file == self.path {
                continue;
            }
            match Self::of_file(&file) {
                // Single files are complete models; their components are not taken for others.
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

    /// Searches the next place for a role; returns whether there was one.
    pub fn look_further(&mut self, role: Role) -> bool {
        let next = self.advanced.entry(role).or_default();
        let Some(mut place) = self.further.get(*next).cloned() else { return false };
        *next += 1;
        place.role = Some(role);
        self.look_into(place, Some(role));
        true
    }

    /// Where a diffusers folder has the configuration of its scheduler.
    pub fn scheduler_path(&self) -> PathBuf {
        self.root.join("scheduler").join("scheduler_config.json")
    }

    /// All candidates for a role.
    pub fn candidates(&self, role: Role) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.role == role)
    }

    /// The error for a missing component; `expected` says what was searched for.
    pub fn missing(&self, role: Role, expected: &str) -> CheckpointError {
        let looked = || self.looked.iter().filter(|(place, _)| place.role.is_none_or(|own| own == role));
        CheckpointError::MissingPart {
            model: self.path.clone(),
            role,
            expected: expected.to_owned(),
            // Single files are those that the window knows, which may be many.
            looked: looked().map(|(place, _)| place.folder.clone()).filter(|path| !path.is_file()).collect(),
            unreadable: looked().flat_map(|(_, unreadable)| unreadable.clone()).collect(),
        }
    }
}
