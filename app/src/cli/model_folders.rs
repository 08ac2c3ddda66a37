//! Where a person keeps models.

use std::path::PathBuf;

use crate::folders::model_folders;

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
