//! Folders on this machine.

use std::{env, path::PathBuf};

/// The environment variable for model folders, separated as in `PATH`.
const MODEL_FOLDERS: &str = "SLUICE_MODEL_FOLDERS";

/// The folder `Sluice` in the user's pictures folder.
pub fn pictures_folder() -> Option<PathBuf> {
    let user = directories::UserDirs::new()?;
    let pictures = user.picture_dir().map_or_else(|| user.home_dir().join("Pictures"), PathBuf::from);
    Some(pictures.join("Sluice"))
}

/// The folder for measurements of past runs, stars and tags; `None` without a home folder.
pub fn data_folder() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "Sluice").map(|folders| folders.data_local_dir().to_owned())
}

/// The folder of the user's own wildcard files.
pub fn wildcard_folder() -> Option<PathBuf> {
    data_folder().map(|folder| folder.join("wildcards"))
}

/// The folder of the user's presets.
pub fn preset_folder() -> Option<PathBuf> {
    data_folder().map(|folder| folder.join("presets"))
}

/// The folder of the user's own files of styles.
pub fn style_folder() -> Option<PathBuf> {
    data_folder().map(|folder| folder.join("styles"))
}

/// The folder for what can be made again, such as thumbnails; `None` without a home folder.
pub fn cache_folder() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "Sluice").map(|folders| folders.cache_dir().to_owned())
}

/// The folder for downloaded models: the first model folder in the environment variable, or `Sluice/models` in the home
/// folder; `None` without a home folder.
pub fn downloads_folder() -> Option<PathBuf> {
    let own = || Some(directories::BaseDirs::new()?.home_dir().join("Sluice").join("models"));
    model_folders().into_iter().next().or_else(own)
}

/// The model folders in the environment variable.
pub fn model_folders() -> Vec<PathBuf> {
    let named = env::var_os(MODEL_FOLDERS).unwrap_or_default();
    env::split_paths(&named).filter(|folder| !folder.as_os_str().is_empty()).collect()
}
