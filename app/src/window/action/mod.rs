//! User actions. Panels read the state and collect actions while they draw; the app executes them afterwards.
//! The view state of a panel, such as an open section, is not an action.

mod browse;
mod cuda;
mod enhance;
mod gallery;
mod get;
mod kept;
mod library;
mod making;
mod section;
mod upscale;

use std::path::PathBuf;

use sluice_engine::{request::ModelSource, session::JobId};

use super::{
    files::{ClipFormat, Dialog},
    settings::Setting,
    state::{Control, Draft, MaskEdit, RecentId, Shown},
};
pub use browse::Browse;
pub use cuda::CudaAction;
pub use enhance::EnhanceStep;
pub use gallery::GalleryAction;
pub use get::GetAction;
pub use kept::Keeping;
pub use library::LibraryAction;
pub use making::{FolderFound, FolderInputs, InputUse, Making};
pub use section::Section;
pub use upscale::UpscaleStep;

/// One user action.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Change the settings panel.
    Edit(Box<Draft>),
    /// Open a section of the settings panel, and scroll to it.
    ShowSection(Section),
    /// Close the question that is asked.
    CloseQuestion,
    /// Use the settings without all that is in force out of sight.
    RemoveInForce(Box<Draft>),
    /// Change a setting outside it.
    Set(Setting),
    /// Insert an example into the prompt.
    UsePrompt(String),
    /// Choose another seed.
    RandomizeSeed,
    /// Queue a job with the panel's settings.
    Generate,
    /// Start several jobs at once, or end them.
    Make(Making),
    /// Something with enlarging images and clips.
    Upscale(UpscaleStep),
    /// Something with making the prompt better, or describing images.
    Enhance(EnhanceStep),
    /// Something with presets or styles.
    Keep(Keeping),
    /// Cancel the running job.
    CancelRunning,
    /// Cancel one job.
    Cancel(JobId),
    /// Cancel all jobs.
    CancelAll,
    /// Resume the job that was cancelled last while it ran.
    ResumeCancelled,
    /// Move a waiting job in front of another one, or to the end of the queue.
    MoveJob(JobId, Option<JobId>),
    /// Run a waiting job before the others.
    RunNext(JobId),
    /// Queue a job again, with another seed.
    DuplicateJob(JobId),
    /// Take a waiting job out of the queue and restore its settings.
    EditJob(JobId),
    /// Open the list of the queue.
    ShowQueue,
    /// Stop the running job for now and start no other, or go on.
    PauseQueue(bool),
    /// Show the forecasts, the hardware and the timeline of one of several engines.
    ShowLane(usize),
    /// Generate the last job again and again, or no longer.
    RepeatQueue(bool),
    /// Resume the jobs that were not finished when Sluice was closed.
    ResumeUnfinished,
    /// Discard those jobs.
    DiscardUnfinished,
    /// Use another model.
    ChooseModel(ModelSource),
    /// Remove a model from the list of recent ones.
    ForgetModel(PathBuf),
    /// Something in the place of models.
    Library(LibraryAction),
    /// Open a file dialog.
    OpenDialog(Dialog),
    /// A step in the window's own file dialog.
    Browse(Browse),
    /// Something with the engine for NVIDIA GPUs.
    Cuda(CudaAction),
    /// Look for a newer release.
    LookForUpdates,
    /// Something in the gallery.
    Gallery(Box<GalleryAction>),
    /// List the adapters next to the model.
    ListAdapters,
    /// Use an adapter, also one that is switched off.
    AddAdapter(PathBuf),
    /// Keep an adapter in the list without using it.
    SwitchAdapterOff(PathBuf),
    /// Remove an adapter from the list.
    RemoveAdapter(PathBuf),
    /// Show an image.
    Show(Shown),
    /// Compare the shown image with another one, or with none.
    Compare(Option<RecentId>),
    /// Exchange the two images that are compared.
    SwapCompared,
    /// Play, pause or move through the displayed clip.
    Play(Control),
    /// Save the displayed frame of a clip as an image.
    SaveFrame(RecentId),
    /// Write the range of a clip that is played into a new file.
    Export(RecentId, ClipFormat),
    /// Use the displayed frame of a clip as the input image.
    UseFrame(RecentId),
    /// Restore the settings of an image.
    UseSettings(RecentId),
    /// Use an image as the input image.
    UseAsInput(PathBuf),
    /// Use a clip as the input clip.
    UseAsClip(PathBuf),
    /// Use the displayed frame of a clip as the image that the next clip ends with.
    UseFrameAsLast(RecentId),
    /// Continue a clip from the end of the range that is played.
    Extend(RecentId),
    /// Use an image as the input image, and paint a mask over it.
    Inpaint(PathBuf),
    /// Paint a mask over the input image.
    PaintMask,
    /// Edit the painted mask.
    EditMask(MaskEdit),
    /// Let this segmenter make the masks of objects.
    UseSegmenter(PathBuf),
    /// Use the painted mask.
    ApplyMask,
    /// Ask what becomes of the painted mask.
    AskMask,
    /// Discard the painted mask.
    CancelMask,
    /// Use the settings of the dropped image.
    UseDroppedSettings,
    /// Copy an image, or the displayed frame of a clip, to the clipboard.
    CopyImage(RecentId),
    /// Copy files to the clipboard, for file managers and chats.
    CopyFiles(Vec<PathBuf>),
    /// Copy text to the clipboard.
    CopyText(String),
    /// Open a folder in the file manager.
    OpenFolder(PathBuf),
    /// Undo what the notice says.
    Undo,
    /// Show or hide the sheet of keys.
    ShowHelp(bool),
    /// Show or hide the settings.
    ShowSettings(bool),
    /// Copy what helps to find a fault.
    CopyReport {
        /// Whether it has paths and prompts.
        tells_all: bool,
    },
    /// Show or hide the command palette.
    ShowPalette(bool),
    /// Switch between a full screen and a window.
    ToggleFullScreen,
    /// Dismiss a message.
    Dismiss(Message),
}

impl From<CudaAction> for Action {
    fn from(action: CudaAction) -> Self {
        Self::Cuda(action)
    }
}

impl From<LibraryAction> for Action {
    fn from(action: LibraryAction) -> Self {
        Self::Library(action)
    }
}

impl From<GetAction> for Action {
    fn from(action: GetAction) -> Self {
        Self::Library(LibraryAction::Get(action))
    }
}

impl From<GalleryAction> for Action {
    fn from(action: GalleryAction) -> Self {
        Self::Gallery(Box::new(action))
    }
}

impl From<Keeping> for Action {
    fn from(step: Keeping) -> Self {
        Self::Keep(step)
    }
}

impl From<UpscaleStep> for Action {
    fn from(step: UpscaleStep) -> Self {
        Self::Upscale(step)
    }
}

impl From<EnhanceStep> for Action {
    fn from(step: EnhanceStep) -> Self {
        Self::Enhance(step)
    }
}

impl From<Making> for Action {
    fn from(making: Making) -> Self {
        Self::Make(making)
    }
}

/// A message that can be dismissed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// The latest failure.
    Failure,
    /// All failures.
    Failures,
    /// The notice above the settings.
    Notice,
    /// The notice that a run continues with another plan.
    Replanned,
    /// The question about a dropped image.
    Dropped,
}
