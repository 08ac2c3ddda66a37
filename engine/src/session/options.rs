//! How a session is started.

use std::path::PathBuf;

use crate::models::OpenedModels;

/// How a session is started.
pub struct SessionOptions {
    /// Called after every event, from the engine's threads: a window asks for a repaint here.
    pub wake: Box<dyn Fn() + Send + Sync>,
    /// Threads that compute; all of the machine's if absent.
    pub threads: Option<usize>,
    /// Whether [`Event::Hardware`] is wanted.
    pub hardware: bool,
    /// A folder for what is remembered of past runs; nothing is kept if absent.
    pub data: Option<PathBuf>,
    /// Where a person keeps models: what a model's file does not hold and is not around it is looked for there.
    pub model_folders: Vec<PathBuf>,
    /// Folders in which adapters are looked for that prompts name, before those beside the model.
    pub adapter_folders: Vec<PathBuf>,
    /// Whether jobs that have not ended are kept in `data` for the next session, where the engine is a process.
    pub keeps_jobs: bool,
    /// Whether the process ends when its card is lost to it, so that whoever watches it starts another that goes on.
    pub ends_with_card: bool,
}

/// Models and adapters that requests name.
#[derive(Debug)]
pub(super) struct Library {
    /// Models that were opened.
    pub(super) models: OpenedModels,
    /// See [`SessionOptions::adapter_folders`].
    pub(super) adapter_folders: Vec<PathBuf>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            wake: Box::new(|| ()),
            threads: None,
            hardware: false,
            data: None,
            model_folders: Vec::new(),
            adapter_folders: Vec::new(),
            keeps_jobs: true,
            ends_with_card: false,
        }
    }
}
