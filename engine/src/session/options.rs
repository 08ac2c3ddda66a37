//! Options of a session.

use std::{path::PathBuf, sync::Mutex};

use crate::{
    models::{OpenedModels, Remembered},
    request::PromptFolders,
};

/// Options of a session.
pub struct SessionOptions {
    /// Called after every event, from the engine's threads, so that a window can request a repaint.
    pub wake: Box<dyn Fn() + Send + Sync>,
    /// Number of compute threads; `None` uses all of the machine's.
    pub threads: Option<usize>,
    /// Whether to send [`Event::Hardware`].
    pub hardware: bool,
    /// A folder for measurements of past runs and unfinished jobs; `None` saves nothing.
    pub data: Option<PathBuf>,
    /// The user's model folders, in which missing parts of models are looked up. May also name single files.
    pub model_folders: Vec<PathBuf>,
    /// Where downloads are, which [`Command::List`](super::Command::List) also searches.
    pub downloads: Option<PathBuf>,
    /// Where names in prompts are looked up, before the folders around the model.
    pub prompt_folders: PromptFolders,
    /// Whether unfinished jobs are saved in `data` for the next session, if the engine is a separate process.
    pub keeps_jobs: bool,
    /// Whether the process ends when its GPU is lost, so that a supervisor can start another that resumes.
    pub ends_with_card: bool,
}

/// The models and adapters that requests refer to.
#[derive(Debug)]
pub(super) struct Library {
    /// Opened models.
    pub(super) models: OpenedModels,
    /// See [`SessionOptions::downloads`].
    pub(super) downloads: Option<PathBuf>,
    /// The files that were listed before.
    pub(super) listed: Mutex<Remembered>,
    /// See [`SessionOptions::prompt_folders`].
    pub(super) prompt_folders: PromptFolders,
}

impl Library {
    /// The folders whose models are listed.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let mut folders = self.models.folders();
        folders.extend(self.downloads.clone().filter(|downloads| !folders.contains(downloads)));
        folders
    }
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            wake: Box::new(|| ()),
            threads: None,
            hardware: false,
            data: None,
            model_folders: Vec::new(),
            downloads: None,
            prompt_folders: PromptFolders::default(),
            keeps_jobs: true,
            ends_with_card: false,
        }
    }
}
