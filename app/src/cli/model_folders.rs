//! The folders that are searched for parts of models.

use std::path::PathBuf;

use super::engine_args::EngineArgs;
use crate::folders::model_folders;

/// The options for model folders.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct ModelFolderArgs {
    /// A folder to search for parts that the model's file lacks, such as text encoders. May be given several times; these
    /// folders are searched before those in SLUICE_MODEL_FOLDERS.
    #[arg(long = "model-folder", value_name = "PATH")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
}

impl ModelFolderArgs {
    /// No folders beside those in the environment.
    #[cfg(feature = "download")]
    pub fn none() -> Self {
        Self { folders: Vec::new(), engine: EngineArgs::default() }
    }

    /// Which engines.
    pub fn engines(&self) -> &EngineArgs {
        &self.engine
    }

    /// The folders that are named, which are those of the engine's computer.
    pub fn named(&self) -> Vec<PathBuf> {
        self.folders.clone()
    }

    /// All folders, in the order in which they are searched.
    pub fn all(&self) -> Vec<PathBuf> {
        self.folders.iter().cloned().chain(model_folders()).collect()
    }
}
