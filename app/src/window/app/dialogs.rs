//! Opens file dialogs, and remembers in which folders they start.

use std::path::{Path, PathBuf};

use super::SluiceApp;
use crate::{
    language::tr,
    window::files::{Dialog, FolderKind},
};

impl SluiceApp {
    pub(super) fn open_dialog(&mut self, dialog: Dialog) {
        let kept = self.state.settings.dialog_folders.get(&dialog.folder_kind()).cloned();
        let start = match dialog {
            Dialog::SaveAs(id) => in_folder(self.suggested_file(id), kept),
            Dialog::SaveFile => in_folder(self.suggested_copy(), kept),
            _ => kept.or_else(|| self.usual_folder(dialog)),
        };
        if let Err(error) = self.files.open_dialog(dialog, start) {
            let advice = Some(tr!("app-dialog-failed-advice"));
            self.fail(&tr!("app-dialog-failed"), error.to_string(), advice);
        }
    }

    /// The folder in which a dialog starts the first time.
    fn usual_folder(&self, dialog: Dialog) -> Option<PathBuf> {
        let of_model = || self.state.settings.recent_models.first()?.parent().map(Path::to_owned);
        let output = || self.state.surroundings.output_folder.clone();
        match dialog {
            Dialog::GalleryFolder | Dialog::ExportFolder | Dialog::InputFolder | Dialog::ReferenceFolder => {
                self.gallery_folder()
            }
            _ if dialog.folder_kind() == FolderKind::Images => output().or_else(of_model),
            _ => of_model(),
        }
    }

    /// Uses the answer of a dialog. The next one of its kind starts in the same folder.
    pub(super) fn take_answer(&mut self, dialog: Dialog, path: PathBuf) {
        let folder = if dialog.filter().is_some() { path.parent() } else { Some(path.as_path()) };
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
