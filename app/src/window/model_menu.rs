//! A menu of what makes maps or masks: the models in the library that can, and files; and where these come from.

use std::path::{Path, PathBuf};

use egui::{Popup, ScrollArea, Ui};
use sluice_engine::models::Item;

use super::{
    action::{Action, GetAction},
    commands,
    files::Dialog,
    icons,
    state::State,
    tokens::size,
    widgets::{self, Weight},
};
use crate::{
    enhancing::model_name,
    language::{said, tr},
};

/// The most room for the name of the chosen model.
const WIDEST: f32 = 220.0;

/// What was chosen in the menu.
pub enum Choice {
    /// A model.
    Model(PathBuf),
    /// To look for a file.
    File,
}

/// Draws the chosen model and the menu, whose name for people who do not see it is `label`; only an icon if it is to be narrow.
pub fn show(
    ui: &mut Ui,
    (label, tip): (String, String),
    chosen: Option<&Path>,
    found: &[&Item],
    is_narrow: bool,
) -> Option<Choice> {
    let button = if is_narrow {
        widgets::explained_icon(ui, icons::PACKAGE, &label, &tip)
    } else {
        let name = chosen.map_or_else(|| tr!("control-nets-model-none"), model_name);
        let most = ui.available_width().min(WIDEST);
        let button = widgets::disclosure_within(ui, &name, icons::CHEVRON_DOWN, false, most);
        match chosen {
            Some(path) => button.on_hover_text(format!("{}\n{tip}", path.display())),
            None => button.on_hover_text(&tip),
        }
    };
    let mut choice = None;
    Popup::menu(&button).accessible_name(label).width(size::POPUP).show(|ui| {
        ScrollArea::vertical().show(ui, |ui| {
            for item in found {
                let about = item.content().map(|content| said(&content.what)).unwrap_or_default();
                // Files without names of their own are called by their folders, all others as in the library.
                let own = model_name(&item.path);
                let name = if item.path.ends_with(&own) { &item.name } else { &own };
                let is_chosen = chosen == Some(item.path.as_path());
                let row = widgets::file_button(ui, icons::PACKAGE, name, &about, is_chosen);
                // What the row has no room for.
                if row.on_hover_text(format!("{about}\n{}", item.path.display()).trim()).clicked() {
                    choice = Some(Choice::Model(item.path.clone()));
                    ui.close();
                }
            }
            if widgets::button(ui, Some(icons::FILE_UP), &tr!("control-nets-model-file"), Weight::Plain)
                .on_hover_text(&tip)
                .clicked()
            {
                choice = Some(Choice::File);
                ui.close();
            }
        });
    });
    choice
}

/// Draws where a missing model comes from: a file, which this dialog asks for, or a download.
pub fn offer(ui: &mut Ui, state: &State, (dialog, tip): (Dialog, String), actions: &mut Vec<Action>) {
    ui.horizontal_wrapped(|ui| {
        let name = tr!("control-nets-model-file");
        if widgets::button(ui, Some(icons::FILE_UP), &name, Weight::Plain).on_hover_text(tip).clicked() {
            actions.push(Action::OpenDialog(dialog));
        }
        get(ui, state, actions);
    });
}

/// Draws the button that opens the place for downloads, where there is one.
pub fn get(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let is_there = state.downloads.is_there;
    if is_there
        && widgets::button(ui, Some(icons::DOWNLOAD), &commands::GET_MODELS.title(), Weight::Ghost)
            .on_hover_text(commands::GET_MODELS.sentence())
            .clicked()
    {
        actions.push(GetAction::Show(true).into());
    }
}
