//! Opens file dialogs, and remembers in which folders they start.

use std::path::{Path, PathBuf};

use super::SluiceApp;
use crate::{
    language::tr,
    window::files::{Dialog, FolderKind},
};

impl SluiceApp {
    /// Opens a dialog, unless one is open. Returns whether it did.
    pub(super) fn open_dialog(&mut self, dialog: Dialog) -> bool {
        let kept = self.state.settings.dialog_folders.get(&dialog.folder_kind()).cloned();
        let start = match dialog {
            Dialog::SaveAs(id) => in_folder(self.suggested_file(id), kept),
            Dialog::SaveFile => in_folder(self.suggested_copy(), kept),
            _ => kept.or_else(|| self.usual_folder(dialog)),
        };
        self.files.open_dialog(dialog, start).unwrap_or_else(|error| {
            let advice = Some(tr!("app-dialog-failed-advice"));
            self.fail(&tr!("app-dialog-failed"), error.to_string(), advice);
            false
        })
    }

    /// The folder in which a dialog starts the first time.
    fn usual_folder(&self, dialog: Dialog) -> Option<PathBuf> {
        let of_model = || self.state.settings.recent_models.first()?.parent().map(Path::to_owned);
        let output = || self.state.surroundings.output_folder.clone();
        match dialog {
            Dialog::GalleryFolder
            | Dialog::ExportFolder
            | Dialog::InputFolder
            | Dialog::ReferenceFolder
            | Dialog::ChangedFolder(_) => self.gallery_folder(),
            _ if dialog.folder_kind() == FolderKind::Images => output().or_else(of_model),
            _ => of_model(),
        }
    }

    /// Uses the answer of a dialog. The next one of its kind starts in the same folder.
    pub(super) fn take_answer(&mut self, dialog: Dialog, path: PathBuf) {
        // Models that are folders, and folders of images, lie side by side, as files do.
        let is_one_of_many = dialog.filter().is_some()
            || matches!(
                dialog,
                Dialog::ModelFolder
                    | Dialog::InputFolder
                    | Dialog::ReferenceFolder
                    | Dialog::ChangedFolder(_)
            );
        let folder = if is_one_of_many { path.parent() } else { Some(path.as_path()) };
        let folders = &mut self.state.settings.dialog_folders;
        folders.extend(folder.map(|folder| (dialog.folder_kind(), folder.to_owned())));
        self.take_chosen(dialog, path);
    }
}

/// A suggested file with the same name in another folder, if there is one.
fn in_folder(file: Option<PathBuf>, folder: Option<PathBuf>) -> Option<PathBuf> {
    let file = file?;
    Some(match (folder, file.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => file,
    })
}
