//! The menu of a right click on a file in the settings.

use std::path::Path;

use egui::Response;
use sluice_engine::source::is_image_name;

use crate::{
    language::tr,
    window::{
        action::{Action, EnhanceStep},
        files::Dialog,
        icons,
        tokens::size,
        widgets,
    },
};

/// What is done with a file where it is used.
pub struct FileMenu<'a> {
    /// The file.
    pub path: &'a Path,
    /// The dialog that chooses another file in its place.
    pub replace: Dialog,
    /// What removing it is called.
    pub remove: &'a str,
}

impl FileMenu<'_> {
    /// Draws the menu if somebody has asked for it. Returns whether the file is to be removed.
    pub fn show(&self, on: &Response, actions: &mut Vec<Action>) -> bool {
        let mut is_removed = false;
        on.context_menu(|ui| {
            ui.set_width(size::MENU);
            ui.spacing_mut().item_spacing.y = 2.0;
            let mut row = |icon, name: &str, tip: String| {
                let is_chosen = widgets::row_button(ui, icon, name, "", false).on_hover_text(tip).clicked();
                if is_chosen {
                    ui.close();
                }
                is_chosen
            };
            if row(icons::FILE_UP, &tr!("side-panel-replace"), tr!("side-panel-replace-tip")) {
                actions.push(Action::OpenDialog(self.replace));
            }
            if is_image_name(self.path)
                && row(
                    icons::MESSAGE_SQUARE_TEXT,
                    &tr!("enhance-describe-open"),
                    tr!("enhance-describe-open-tip"),
                )
            {
                actions.push(EnhanceStep::Describe(vec![self.path.to_owned()]).into());
            }
            is_removed = row(icons::X, self.remove, tr!("side-panel-file-remove-tip"));
            let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
            if let Some(folder) = folder
                && row(icons::FOLDER_OPEN, &tr!("gallery-show-in-folder"), tr!("gallery-show-in-folder-tip"))
            {
                actions.push(Action::OpenFolder(folder.to_owned()));
            }
            if row(icons::COPY, &tr!("library-copy-path"), tr!("library-copy-path-tip")) {
                actions.push(Action::CopyText(self.path.display().to_string()));
            }
        });
        is_removed
    }
}
