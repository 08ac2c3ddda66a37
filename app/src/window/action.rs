//! What a person asks for in the window. Drawing reads the state and collects these; the app carries them out
//! afterwards. What a panel remembers for itself, such as what is folded open, is no action.

use std::path::PathBuf;

use sluice_engine::{request::ModelSource, session::JobId};

use super::{
    files::Dialog,
    settings::Setting,
    state::{Draft, MaskEdit, RecentId, Shown},
};

/// One thing that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Change the settings panel.
    Edit(Box<Draft>),
    /// Change a setting outside it.
    Set(Setting),
    /// Write an example into the prompt.
    UsePrompt(String),
    /// Roll another seed.
    RandomizeSeed,
    /// Queue a job with the panel's settings.
    Generate,
    /// Cancel the running job.
    CancelRunning,
    /// Cancel one job.
    Cancel(JobId),
    /// Cancel all jobs.
    CancelAll,
    /// Resume the jobs that were not finished when Sluice was closed.
    ResumeUnfinished,
    /// Discard them.
    DiscardUnfinished,
    /// Use another model.
    ChooseModel(ModelSource),
    /// Ask for a file.
    OpenDialog(Dialog),
    /// Look for adapters beside the model.
    ListAdapters,
    /// Use an adapter.
    AddAdapter(PathBuf),
    /// Show an image.
    Show(Shown),
    /// Use the settings that made an image.
    UseSettings(RecentId),
    /// Start from an image.
    UseAsInput(PathBuf),
    /// Paint a mask over the input image.
    PaintMask,
    /// Change the mask that is painted.
    EditMask(MaskEdit),
    /// Use the painted mask.
    ApplyMask,
    /// Discard the painted mask.
    CancelMask,
    /// Use the settings of the dropped image.
    UseDroppedSettings,
    /// Copy an image to the clipboard.
    CopyImage(RecentId),
    /// Copy text to the clipboard.
    CopyText(String),
    /// Open a folder in the file manager.
    OpenFolder(PathBuf),
    /// Go back to the settings before the notice.
    Undo,
    /// Something was read.
    Dismiss(Message),
}

/// What can be dismissed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// The newest failure.
    Failure,
    /// The notice above the settings.
    Notice,
    /// That a run continues with another plan.
    Replanned,
    /// What a dropped image is for.
    Dropped,
}
