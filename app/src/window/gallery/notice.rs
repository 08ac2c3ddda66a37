//! What was just done, with a way back.

use egui::{Align, Layout, RichText, Ui};

use crate::{
    language::tr,
    window::{
        action::{Action, GalleryAction},
        collection::Notice,
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

/// A way back that a notice offers.
pub(super) struct WayBack {
    name: String,
    tip: String,
    action: Action,
}

impl WayBack {
    /// To before what was done to files or collections.
    pub(super) fn of(notice: &Notice) -> Option<Self> {
        let (name, tip) = (tr!("gallery-undo"), tr!("gallery-undo-tip"));
        notice.undo.as_ref().map(|_| Self { name, tip, action: GalleryAction::TakeBack.into() })
    }

    /// To jobs that were cancelled.
    pub(super) fn to_jobs() -> Self {
        Self { name: tr!("side-panel-resume"), tip: tr!("side-panel-resume-tip"), action: Action::Undo }
    }
}

/// Draws it in one line if it fits.
pub(super) fn show(
    ui: &mut Ui,
    notice: &Notice,
    way_back: Option<WayBack>,
    dismiss: Action,
    actions: &mut Vec<Action>,
) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.set_min_height(size::CONTROL);
        ui.spacing_mut().item_spacing.x = space::S;
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::icon_button(ui, icons::X, &tr!("gallery-dismiss")).clicked() {
                actions.push(dismiss);
            }
            if let Some(WayBack { name, tip, action }) = way_back
                && widgets::button(ui, Some(icons::RESTORE), &name, Weight::Plain)
                    .on_hover_text(tip)
                    .clicked()
            {
                actions.push(action);
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
                widgets::told(ui, &notice.text, &notice.name, (font::medium(font::BODY), color));
                if !notice.detail.is_empty() {
                    let words = RichText::new(&notice.detail).small().color(palette.text_muted);
                    widgets::line(ui, words, &notice.detail);
                }
            });
        });
    });
}
