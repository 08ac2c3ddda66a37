//! Where programs keep model components: ComfyUI, A1111's web UI and Forge.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    Role,
    listing::{PICKLES, WEIGHTS, files_with_extension, has_extension},
};
use crate::checkpoint::shards::without_continuations;

/// Folder names for each role, in lower case. Checkpoint folders hold denoisers or whole models.
const FOLDERS: [(Role, &[&str]); 3] = [
    (Role::Denoiser, &["diffusion_models", "unet"]),
    (
        Role::TextEncoder,
        &[
            "text_encoders",
            "clip",
            "text_encoder",
            "text_encoder_2",
            "text_encoder_3",
            "text_encoder_4",
            "clip_vision",
        ],
    ),
    (Role::Autoencoder, &["vae"]),
];
/// How many parent folders of a file may contain the folders of other roles: `models` is the fourth above
/// `models/unet/flux/dev/a.gguf`.
const ABOVE: usize = 4;
/// Maximum depth of subfolders.
const DEPTH: usize = 4;

/// A folder that may hold components.
#[derive(Debug, Clone)]
pub struct Place {
    /// Its path.
    pub folder: PathBuf,
    /// Its role, if it has only one.
    pub role: Option<Role>,
    depth: usize,
}

impl Place {
    /// A folder for one role.
    pub fn of_role(folder: PathBuf, role: Role) -> Self {
        // A denoiser in a subfolder is chosen by its file.
        Self { folder, role: Some(role), depth: usize::from(role != Role::Denoiser) }
    }

    /// The files of a folder, without its subfolders.
    pub fn flat(folder: PathBuf) -> Self {
        Self { folder, role: None, depth: 0 }
    }

    /// A user's model folder, with its subfolders, or one file.
    pub fn mixed(folder: PathBuf) -> Self {
        Self { folder, role: None, depth: DEPTH }
    }

    /// The weight files, sorted by name, those of a folder before those of its subfolders. Includes pickles,
    /// so that a reader can say why they are not used. An unreadable folder is treated as empty.
    pub fn files(&self) -> Vec<PathBuf> {
        if self.folder.is_file() {
            return vec![self.folder.clone()];
        }
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

/// The subfolders of a folder, sorted by name; none if it cannot be read.
pub fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

/// The subfolders of `root` whose names match a role, in the order of [`FOLDERS`].
pub fn folders_of(role: Role, root: &Path) -> impl Iterator<Item = PathBuf> {
    let found = folders_in(root);
    let names = FOLDERS.iter().filter(move |(of, _)| *of == role).flat_map(|(_, names)| names.iter());
    names.flat_map(move |name| {
        let named = |path: &&PathBuf| path.file_name().is_some_and(|own| own.eq_ignore_ascii_case(name));
        found.iter().filter(named).cloned().collect::<Vec<_>>()
    })
}

/// Where files for a role belong in the folder `root`.
pub fn usual_folder(role: Role, root: &Path) -> PathBuf {
    root.join(match role {
        Role::Denoiser => "diffusion_models",
        Role::TextEncoder => "text_encoders",
        Role::Autoencoder => "vae",
        Role::Upscaler => "upscale_models",
        Role::Interpolator => "frame_interpolation",
        Role::Preprocessor => "depthanything",
        Role::Segmenter => "sams",
        Role::Detector => "ultralytics",
        Role::LanguageModel => "LLM",
    })
}

/// The parent folders of a file that may contain the folders of other roles, nearest first.
pub fn around(file: &Path) -> Vec<&Path> {
    file.ancestors().skip(1).take(ABOVE).collect()
}

/// The role of a file according to its folder, if any.
pub fn role_of_folder(file: &Path) -> Option<Role> {
    let folder = file.parent()?.file_name()?;
    let named = |(_, names): &&(Role, &[&str])| names.iter().any(|name| folder.eq_ignore_ascii_case(name));
    FOLDERS.iter().find(named).map(|(role, _)| *role)
}

/// Whether a file's extension is that of weights or of a pickle.
pub fn may_be_model(path: &Path) -> bool {
    has_extension(path, &WEIGHTS) || has_extension(path, &PICKLES)
}
