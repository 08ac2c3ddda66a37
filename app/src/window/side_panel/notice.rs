//! What was just done, and how to undo it.

use egui::{Align, FontId, Frame, Layout, Margin, Ui};

use crate::{
    language::tr,
    window::{
        action::{Action, Message},
        icons,
        leaving::{self, Stays},
        settings::PromptKind,
        state::{Notice, State, Undo},
        tokens::{Palette, font, radius, space},
        widgets::{self, Weight},
    },
};

/// How long it stays. What came as a surprise has to be dismissed, what can be undone, as it is the only way back, and what
/// leads to a folder.
fn stays(notice: &Notice) -> Option<Stays> {
    let only_confirms = notice.details.is_empty() && notice.undo.is_none() && notice.folder.is_none();
    only_confirms.then_some(Stays::Shortly)
}

/// Draws it.
pub fn show(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let Some(notice) = &state.messages.notice else { return };
    let palette = Palette::of(ui);
    let shown = Frame::new()
        .fill(palette.accent_soft)
        .corner_radius(radius::M)
        .inner_margin(Margin { left: 12, right: 6, top: 6, bottom: 6 })
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
                    if widgets::icon_button(ui, icons::X, &tr!("side-panel-notice-dismiss")).clicked() {
                        actions.push(Action::Dismiss(Message::Notice));
                    }
                    let undo = match notice.undo {
                        Some(Undo::Settings(_)) => Some((tr!("side-panel-undo"), tr!("side-panel-undo-tip"))),
                        Some(Undo::Prompt(_)) => {
                            Some((tr!("side-panel-undo"), tr!("side-panel-prompt-undo-tip")))
                        }
                        Some(Undo::Edited(_)) => {
                            Some((tr!("side-panel-undo"), tr!("side-panel-edit-undo-tip")))
                        }
                        Some(Undo::Cancelled(_)) => {
                            Some((tr!("side-panel-resume"), tr!("side-panel-resume-tip")))
                        }
                        Some(Undo::Snippet(PromptKind::Positive, _)) => {
                            Some((tr!("side-panel-undo"), tr!("side-panel-snippet-undo-tip")))
                        }
                        Some(Undo::Snippet(PromptKind::Negative, _)) => {
                            Some((tr!("side-panel-undo"), tr!("side-panel-negative-snippet-undo-tip")))
                        }
                        Some(Undo::Style(_)) => {
                            Some((tr!("side-panel-undo"), tr!("side-panel-style-undo-tip")))
                        }
                        Some(Undo::Preset(_)) => {
                            Some((tr!("side-panel-undo"), tr!("side-panel-preset-undo-tip")))
                        }
                        Some(Undo::Trash(_)) => {
                            Some((tr!("side-panel-undo"), tr!("side-panel-trash-undo-tip")))
                        }
                        None => None,
                    };
                    if let Some((name, tip)) = undo
                        && widgets::button(ui, Some(icons::RESTORE), &name, Weight::Ghost)
                            .on_hover_text(tip)
                            .clicked()
                    {
                        actions.push(Action::Undo);
                    }
                    let words = (FontId::proportional(font::BODY), palette.text);
                    widgets::told_beside(ui, &notice.text, &notice.name, words);
                });
            });
            for detail in &notice.details {
                widgets::hint(ui, detail.as_str());
            }
            if let Some(folder) = &notice.folder
                && widgets::button(ui, Some(icons::FOLDER_OPEN), &tr!("common-open-folder"), Weight::Ghost)
                    .on_hover_text(tr!("settings-open-folder-tip"))
                    .clicked()
            {
                actions.push(Action::OpenFolder(folder.clone()));
            }
        });
    let (stays, stamp) = (stays(notice), ("settings", state.messages.told()));
    if stays.is_some_and(|stays| leaving::is_over(ui, stays, stamp, shown.response.rect)) {
        actions.push(Action::Dismiss(Message::Notice));
    }
    ui.add_space(space::S);
}
