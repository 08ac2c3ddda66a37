//! Where a person keeps models.

use std::{env, path::PathBuf};

/// Names folders, with the separator of `PATH` between them.
const VARIABLE: &str = "SLUICE_MODEL_FOLDERS";

/// Flags about where models are.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ModelFolderArgs {
    /// A folder that models are kept in: what the model's file does not hold is looked for there too. May be given
    /// several times, and comes before those in SLUICE_MODEL_FOLDERS.
    #[arg(long = "model-folder", value_name = "PATH")]
    folders: Vec<PathBuf>,
}

impl ModelFolderArgs {
    /// All of them, the ones to look into first before the others.
    pub fn all(&self) -> Vec<PathBuf> {
        self.folders.iter().cloned().chain(model_folders()).collect()
    }
}

/// Those that the environment names.
pub fn model_folders() -> Vec<PathBuf> {
    let named = env::var_os(VARIABLE).unwrap_or_default();
    env::split_paths(&named).filter(|folder| !folder.as_os_str().is_empty()).collect()
}
