//! What a person asks for in the window. Drawing collects these; the app carries them out afterwards.

use std::path::PathBuf;

use sluice_engine::{memory::MemoryPreferences, request::ModelSource, session::JobId};

use super::{
    files::Dialog,
    persistence::{DrawWith, ThemeChoice},
    recent::RecentId,
    state::Shown,
};

/// One wish.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Queue a job with the panel's settings.
    Generate,
    /// End the running job.
    CancelRunning,
    /// End one job.
    Cancel(JobId),
    /// End all jobs.
    CancelAll,
    /// Use another model.
    ChooseModel(ModelSource),
    /// Ask for a file.
    OpenDialog(Dialog),
    /// Write an example into the prompt.
    UsePrompt(String),
    /// Look for adapters beside the model.
    ListAdapters,
    /// Use an adapter.
    AddAdapter(PathBuf),
    /// Draw another seed.
    NewSeed,
    /// Show a picture.
    Show(Shown),
    /// Take over what made a picture.
    UseSettings(RecentId),
    /// Draw over a picture.
    UseAsSource(PathBuf),
    /// Draw over no picture.
    ClearSource,
    /// Paint a mask over the picture that is drawn over.
    PaintMask,
    /// Draw where the painted mask says.
    UsePainting,
    /// Forget the painted mask.
    LeavePainting,
    /// Take over what made the dropped picture.
    UseDroppedSettings,
    /// The dropped picture is for nothing.
    DismissDropped,
    /// Put a picture on the clipboard.
    CopyPicture(RecentId),
    /// Put words on the clipboard.
    CopyText(String),
    /// Open a folder in the file manager.
    OpenFolder(PathBuf),
    /// Light or dark.
    SetTheme(ThemeChoice),
    /// Whether forming pictures are shown.
    SetPreviews(bool),
    /// Which graphics card draws the window from the next start on.
    SetDrawWith(DrawWith),
    /// Use memory in another way.
    SetMemory(Box<MemoryPreferences>),
    /// Open the plan or fold it away.
    SetPlanOpen(bool),
    /// Open the timeline or fold it away.
    SetTimelineOpen(bool),
    /// That a run went on under another plan was read.
    DismissReplanned,
    /// Go on with the pictures that were not finished when Sluice was closed.
    FinishEarlier,
    /// Forget them.
    ForgetEarlier,
    /// The newest failure was read.
    DismissFailure,
    /// The notice was read.
    DismissNotice,
    /// Go back to the settings before they were restored.
    UndoRestore,
}
