//! What this program is, where it keeps things, and what helps to find a fault.

use egui::{Label, RichText, Ui};

use super::{Report, SettingsPage};
use crate::{
    folders::{cache_folder, data_folder},
    logs,
    window::{
        action::Action,
        icons,
        state::State,
        tokens::{Palette, font, space},
        widgets::{self, Weight},
    },
};

/// Draws it.
pub fn show(ui: &mut Ui, state: &State, page: &mut SettingsPage, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    let version = format!("Sluice {}", env!("CARGO_PKG_VERSION"));
    ui.label(RichText::new(version).font(font::medium(font::BODY)).color(palette.text));
    let licence = format!("Licence: {}. It listens on no port, and asks no server for updates.", licence());
    widgets::hint(ui, licence);
    widgets::hint(ui, Report::engine(state));
    let folders = [
        ("Past runs, stars and tags", data_folder()),
        ("Thumbnails and what else can be made again", cache_folder()),
        ("Logs of the last days", logs::folder()),
    ];
    for (words, folder) in folders {
        let Some(folder) = folder else { continue };
        widgets::field_label(ui, words);
        ui.horizontal(|ui| {
            let open = format!("Open the folder of {}", words.to_lowercase());
            if widgets::icon_button(ui, icons::FOLDER_OPEN, &open).clicked() {
                actions.push(Action::OpenFolder(folder.clone()));
            }
            let path = folder.display().to_string();
            ui.add(Label::new(RichText::new(&path).small()).truncate()).on_hover_text(&path);
        });
    }
    ui.add_space(space::S);
    widgets::field_label(ui, "Report a problem");
    let words = "Copies the machine, the model, the settings, the last messages and the end of the log.";
    widgets::hint(ui, words);
    ui.checkbox(&mut page.tells_all, "With paths and prompts")
        .on_hover_text("Otherwise the report has neither prompts nor names of your files and folders.");
    if widgets::button(ui, Some(icons::COPY), "Copy report", Weight::Plain).clicked() {
        actions.push(Action::CopyReport { tells_all: page.tells_all });
    }
}

fn licence() -> &'static str {
    env!("CARGO_PKG_LICENSE")
}
