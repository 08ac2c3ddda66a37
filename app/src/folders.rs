//! Where things are kept on this machine.

use std::{env, path::PathBuf};

/// Names folders, with the separator of `PATH` between them.
const MODEL_FOLDERS: &str = "SLUICE_MODEL_FOLDERS";

/// The folder `Sluice` among the user's pictures.
pub fn pictures_folder() -> Option<PathBuf> {
    let user = directories::UserDirs::new()?;
    let pictures = user.picture_dir().map_or_else(|| user.home_dir().join("Pictures"), PathBuf::from);
    Some(pictures.join("Sluice"))
}

/// The folder for what Sluice remembers of past runs; nowhere without a home.
pub fn data_folder() -> Option<PathBuf> {
    directories::ProjectDirs::from("", "", "Sluice").map(|folders| folders.data_local_dir().to_owned())
}

/// The folders for models that the environment names.
pub fn model_folders() -> Vec<PathBuf> {
    let named = env::var_os(MODEL_FOLDERS).unwrap_or_default();
    env::split_paths(&named).filter(|folder| !folder.as_os_str().is_empty()).collect()
}
