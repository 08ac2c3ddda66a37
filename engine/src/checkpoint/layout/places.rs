//! Where programs keep the parts of models: ComfyUI, A1111's web interface and Forge.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    Role,
    listing::{PICKLES, WEIGHTS, files_with_extension, has_extension},
};
use crate::checkpoint::shards::without_continuations;

/// The names of folders for a role, in small letters. Those of checkpoints hold denoisers, or all of a model.
const FOLDERS: [(Role, &[&str]); 3] = [
    (Role::Denoiser, &["diffusion_models", "unet"]),
    (Role::TextEncoder, &["text_encoders", "clip", "text_encoder", "text_encoder_2", "text_encoder_3"]),
    (Role::Autoencoder, &["vae"]),
];
/// Folders above a file that those for other roles may be in: `models` is the fourth above
/// `models/unet/flux/dev/a.gguf`.
const ABOVE: usize = 4;
/// Folders in folders that are looked into.
const DEPTH: usize = 4;

/// A folder that may hold parts.
#[derive(Debug, Clone)]
pub struct Place {
    /// Which.
    pub folder: PathBuf,
    /// What it is for, if for one thing alone.
    pub role: Option<Role>,
    depth: usize,
}

impl Place {
    /// A folder for one role.
    pub fn of_role(folder: PathBuf, role: Role) -> Self {
        // A denoiser is chosen by its file where there are more.
        Self { folder, role: Some(role), depth: usize::from(role != Role::Denoiser) }
    }

    /// The files of a folder, without the folders in it.
    pub fn flat(folder: PathBuf) -> Self {
        Self { folder, role: None, depth: 0 }
    }

    /// A folder that somebody keeps models in, and the folders in it.
    pub fn mixed(folder: PathBuf) -> Self {
        Self { folder, role: None, depth: DEPTH }
    }

    /// The files of weights, by name; those of a folder before those of the folders in it. Pickles are among them, so
    /// that a reader can say why they are not used. A folder that cannot be read has none.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        collect(&self.folder, self.depth, &mut files);
        without_continuations(&mut files);
        files
    }
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let extensions: Vec<&str> = WEIGHTS.into_iter().chain(PICKLES).collect();
    match files_with_extension(folder, &extensions) {
        Ok(found) => files.extend(found),
        Err(error) => tracing::warn!(%error, "a folder is ignored"),
    }
    if depth > 0 {
        folders_in(folder).iter().for_each(|inner| collect(inner, depth - 1, files));
    }
}

/// The folders in a folder, by name; none if it cannot be read.
pub fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

/// The folders in `root` whose names say that they are for a role, in the order of [`FOLDERS`].
pub fn folders_of(role: Role, root: &Path) -> impl Iterator<Item = PathBuf> {
    let found = folders_in(root);
    let names = FOLDERS.iter().filter(move |(of, _)| *of == role).flat_map(|(_, names)| names.iter());
    names.flat_map(move |name| {
        let named = |path: &&PathBuf| path.file_name().is_some_and(|own| own.eq_ignore_ascii_case(name));
        found.iter().filter(named).cloned().collect::<Vec<_>>()
    })
}

/// Where files for a role are put in the folder `root`.
pub fn usual_folder(role: Role, root: &Path) -> PathBuf {
    root.join(match role {
        Role::Denoiser => "diffusion_models",
        Role::TextEncoder => "text_encoders",
        Role::Autoencoder => "vae",
    })
}

/// The folders above a file in which folders for other roles may be, the nearest first.
pub fn around(file: &Path) -> Vec<&Path> {
    file.ancestors().skip(1).take(ABOVE).collect()
}

/// What a file is for, by the folder it is in; nothing if that does not say.
pub fn role_of_folder(file: &Path) -> Option<Role> {
    let folder = file.parent()?.file_name()?;
    let named = |(_, names): &&(Role, &[&str])| names.iter().any(|name| folder.eq_ignore_ascii_case(name));
    FOLDERS.iter().find(named).map(|(role, _)| *role)
}

/// Whether a file's name says that it may hold weights, or a pickle of them.
pub fn may_be_model(path: &Path) -> bool {
    has_extension(path, &WEIGHTS) || has_extension(path, &PICKLES)
}
