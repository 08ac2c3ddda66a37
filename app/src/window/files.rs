//! Files and dialogs, on separate threads, so that the interface never waits for a disk or the user.

mod added;
mod clipboard;
mod dialog;
mod event;
mod extensions;
mod groups;
#[cfg(target_os = "linux")]
mod native;
mod previews;
mod read;
mod reporter;
mod results;
mod task;
mod write;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use clipboard::FileClipboard;
pub use dialog::{Dialog, Entry, FolderKind};
pub use event::FileEvent;
pub use extensions::is_image_or_clip;
#[cfg(target_os = "linux")]
use native::has_dialogs;
pub use read::{is_moving, is_video, read_first, still_size};
use reporter::Reporter;
pub use task::{PresetTask, StyleTask, Task, Well};
pub use write::{ClipFormat, Export, SavedFrame, SavedImage, named_image};

/// Maximum number of waiting tasks, and of waiting results. Further tasks are rejected; further results wait.
const TASKS: usize = 64;
const RESULTS: usize = 16;

/// The worker and its results.
pub struct Files {
    tasks: Sender<Task>,
    results: Receiver<FileEvent>,
    report: Sender<FileEvent>,
    wake: Wake,
    has_dialog: Arc<AtomicBool>,
    has_native_dialogs: bool,
}

/// Called on the worker's threads after every result.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

impl Files {
    /// Starts the worker. It ends when this is dropped.
    pub fn start(wake: Wake) -> io::Result<Self> {
        let (tasks, queue) = bounded::<Task>(TASKS);
        let (report, results) = bounded(RESULTS);
        let reporter = Reporter { report: report.clone(), wake: wake.clone(), passes: Arc::default() };
        thread::Builder::new().name("window files".to_owned()).spawn(move || {
            let mut clipboard = FileClipboard::default();
            for task in queue {
                if reporter.run(task, &mut clipboard).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { tasks, results, report, wake, has_dialog: Arc::default(), has_native_dialogs: true })
    }

    /// The same with the window's own dialogs instead of the system's.
    pub fn without_native_dialogs(self) -> Self {
        Self { has_native_dialogs: false, ..self }
    }

    /// Queues a task. Returns `false` if too many are waiting.
    pub fn request(&self, task: Task) -> bool {
        match self.tasks.try_send(task) {
            Ok(()) => true,
            Err(TrySendError::Full(task) | TrySendError::Disconnected(task)) => {
                tracing::warn!(?task, "the file worker does not take it");
                false
            }
        }
    }

    /// The next result, if there is one.
    pub fn try_recv(&self) -> Option<FileEvent> {
        self.results.try_recv().ok()
    }

    /// Opens a dialog unless one is already open. It starts in a folder, or with the file to save. Returns whether it opens.
    pub fn open_dialog(&self, dialog: Dialog, start: Option<PathBuf>) -> io::Result<bool> {
        if self.has_dialog.swap(true, Ordering::Relaxed) {
            return Ok(false);
        }
        let reporter =
            Reporter { report: self.report.clone(), wake: self.wake.clone(), passes: Arc::default() };
        let is_native = self.has_native_dialogs;
        let is_open = self.has_dialog.clone();
        let started = thread::Builder::new().name("window dialog".to_owned()).spawn(move || {
            // A folder that is gone is not started in; the name of a file to save is kept.
            let start = start.and_then(|start| {
                let (folder, name) = dialog.start(Some(start.as_path()));
                let is_there = folder.is_none_or(Path::is_dir);
                if is_there { Some(start) } else { name.map(PathBuf::from) }
            });
            let answer = match is_native && has_dialogs() {
                true => dialog.ask(start),
                false => FileEvent::NoDialog { dialog, start },
            };
            is_open.store(false, Ordering::Relaxed);
            // Fails only if the window is closed.
            let _gone = reporter.say(answer);
        });
        if started.is_err() {
            self.has_dialog.store(false, Ordering::Relaxed);
        }
        started.map(|_| true)
    }
}

#[cfg(not(target_os = "linux"))]
fn has_dialogs() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_dialog_is_not_opened() {
        let files = Files::start(Arc::new(|| ())).unwrap().without_native_dialogs();
        files.has_dialog.store(true, Ordering::Relaxed);
        assert!(!files.open_dialog(Dialog::SaveFile, None).unwrap());
        files.has_dialog.store(false, Ordering::Relaxed);
        assert!(files.open_dialog(Dialog::SaveFile, None).unwrap());
    }

    #[test]
    fn a_file_keeps_its_name_if_its_folder_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::start(Arc::new(|| ())).unwrap().without_native_dialogs();
        for (dialog, start, expected) in [
            (Dialog::SaveFile, folder.path().join("boat.png"), Some(folder.path().join("boat.png"))),
            (Dialog::SaveFile, folder.path().join("gone/boat.png"), Some("boat.png".into())),
            (Dialog::InputImage, folder.path().join("gone"), None),
        ] {
            assert!(files.open_dialog(dialog, Some(start)).unwrap());
            let Ok(FileEvent::NoDialog { start, .. }) = files.results.recv() else { panic!("no answer") };
            assert_eq!(start, expected);
        }
        assert_eq!(Dialog::SaveFile.start(Some(Path::new("boat.png"))), (None, Some("boat.png".to_owned())));
    }
}
