//! What this program is, where it keeps things, and what helps to find a fault.

use egui::{RichText, Ui};

use super::{SettingsPage, licences};
use crate::{
    folders::{cache_folder, data_folder},
    language::tr,
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
    let licence = tr!("settings-licence", licence = licence());
    widgets::hint(ui, licence);
    let engine = match &state.engine.serving {
        Some(serving) => tr!("settings-engine", engine = &serving.engine),
        None => tr!("settings-engine-within"),
    };
    widgets::hint(ui, engine);
    let folders = [
        (tr!("settings-data"), tr!("settings-data-open"), data_folder()),
        (tr!("settings-cache"), tr!("settings-cache-open"), cache_folder()),
        (tr!("settings-logs"), tr!("settings-logs-open"), logs::folder()),
    ];
    for (words, open, folder) in folders {
        let Some(folder) = folder else { continue };
        widgets::field_label(ui, &words);
        ui.horizontal(|ui| {
            if widgets::icon_button(ui, icons::FOLDER_OPEN, &open).clicked() {
                actions.push(Action::OpenFolder(folder.clone()));
            }
            let path = folder.display().to_string();
            widgets::line(ui, RichText::new(&path).small(), &path);
        });
    }
    ui.add_space(space::S);
    licences::show(ui, &mut page.licences);
    ui.add_space(space::S);
    widgets::field_label(ui, &tr!("settings-report"));
    widgets::hint(ui, tr!("settings-report-hint"));
    ui.checkbox(&mut page.tells_all, tr!("settings-report-all"))
        .on_hover_text(tr!("settings-report-all-tip"));
    if widgets::button(ui, Some(icons::COPY), &tr!("settings-report-copy"), Weight::Plain)
        .on_hover_text(tr!("settings-report-copy-tip"))
        .clicked()
    {
        actions.push(Action::CopyReport { tells_all: page.tells_all });
    }
}

fn licence() -> &'static str {
    env!("CARGO_PKG_LICENSE")
}
