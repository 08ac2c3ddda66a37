//! What was just done, with a way back.

use egui::{Align, Layout, RichText, Ui};

use crate::{
    language::tr,
    window::{
        action::{Action, GalleryAction},
        collection::{Notice, TakeBack},
        icons,
        leaving::Stays,
        tokens::{Palette, font, size, space},
        widgets::{self, Weight},
    },
};

/// How long it stays, unless it has to be dismissed.
pub(super) fn stays(notice: &Notice) -> Option<Stays> {
    let offers = notice.undo.is_some() || notice.folder.is_some() || !notice.detail.is_empty();
    match (notice.is_failure, offers) {
        (true, _) => None,
        (false, true) => Some(Stays::Long),
        (false, false) => Some(Stays::Shortly),
    }
}

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
                let (name, tip) = match &notice.undo {
                    Some(TakeBack::Jobs(_)) => (tr!("side-panel-resume"), tr!("side-panel-resume-tip")),
                    _ => (tr!("gallery-undo"), tr!("gallery-undo-tip")),
                };
                let undo = widgets::button(ui, Some(icons::RESTORE), &name, Weight::Plain);
                if undo.on_hover_text(tip).clicked() {
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
