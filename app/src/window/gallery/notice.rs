//! What was just done, with a way back.

use egui::{Align, Layout, RichText, Ui};

use crate::{
    language::tr,
    window::{
        action::{Action, GalleryAction},
        collection::Notice,
        icons,
        tokens::{Palette, font, size, space},
        widgets::{self, Weight},
    },
};

/// Draws it in one line.
pub(super) fn show(ui: &mut Ui, notice: &Notice, dismiss: Action, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.set_min_height(size::CONTROL);
        ui.spacing_mut().item_spacing.x = space::S;
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::icon_button(ui, icons::X, &tr!("gallery-dismiss")).clicked() {
                actions.push(dismiss);
            }
            if notice.undo.is_some() {
                let undo = widgets::button(ui, Some(icons::RESTORE), &tr!("gallery-undo"), Weight::Plain);
                if undo.on_hover_text(tr!("gallery-undo-tip")).clicked() {
                    actions.push(GalleryAction::TakeBack.into());
                }
            }
            if let Some(folder) = &notice.folder {
                let open =
                    widgets::button(ui, Some(icons::FOLDER_OPEN), &tr!("common-open-folder"), Weight::Plain);
                if open.on_hover_text(tr!("gallery-exported-folder-tip")).clicked() {
                    actions.push(Action::OpenFolder(folder.clone()));
                }
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let color = if notice.is_failure { palette.danger } else { palette.text };
                ui.label(RichText::new(&notice.text).font(font::medium(font::BODY)).color(color));
                if !notice.detail.is_empty() {
                    let words = RichText::new(&notice.detail).small().color(palette.text_muted);
                    ui.add(egui::Label::new(words).truncate()).on_hover_text(&notice.detail);
                }
            });
        });
    });
}
