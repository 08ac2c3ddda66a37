//! Asks whether the images of subfolders are used, too.

use egui::{RichText, Ui};

use crate::{
    input_folder::InputFolder,
    language::tr,
    window::{
        action::{Action, FolderInputs, Making},
        icons,
        state::file_name,
        tokens::{Palette, font},
        widgets::{self, Weight},
    },
};

/// The question.
#[derive(Debug, Clone, PartialEq)]
pub struct FolderQuestion {
    /// The images of the folder itself.
    pub own: FolderInputs,
    /// Those of its subfolders, too.
    pub all: InputFolder,
    /// Whether these are used.
    pub includes: bool,
}

impl FolderQuestion {
    /// Draws it.
    pub(super) fn contents(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let ink = Palette::of(ui).text;
        let title = tr!("app-folder-ask", name = file_name(&self.own.folder));
        ui.label(RichText::new(title).font(font::semibold(font::HEADING)).color(ink));
        widgets::hint(ui, tr!("app-folder-results", folder = self.own.results.display()));
        let inside = self.all.count() - self.own.found.count();
        ui.checkbox(&mut self.includes, tr!("app-folder-subfolders", count = inside))
            .on_hover_text(tr!("app-folder-subfolders-tip"));
        let found = if self.includes { &self.all } else { &self.own.found };
        let words = match found.done {
            0 => tr!("app-folder-count", count = found.images.len()),
            done => tr!("app-folder-count-done", count = found.images.len(), done = done),
        };
        widgets::hint(ui, words);
        ui.horizontal(|ui| {
            let generate = ui.add_enabled_ui(!found.images.is_empty(), |ui| {
                widgets::button(ui, Some(icons::SPARKLES), &tr!("app-folder-generate"), Weight::Primary)
                    .on_hover_text(tr!("app-folder-generate-tip"))
            });
            if generate.inner.clicked() {
                let inputs = FolderInputs { found: found.clone(), ..self.own.clone() };
                actions.push(Making::Inputs(Box::new(inputs)).into());
            }
            if widgets::button(ui, None, &tr!("common-cancel"), Weight::Plain)
                .on_hover_text(tr!("grid-cancel-tip"))
                .clicked()
            {
                actions.push(Action::CloseQuestion);
            }
        });
    }
}
