//! A second model for the last steps.

use egui::{Align, Layout, Ui};
use sluice_engine::request::{Refiner, RequestError};

use super::parts::{Parts, sentence};
use crate::window::{
    action::Action,
    files::Dialog,
    icons,
    widgets::{self, Weight},
};

/// Draws the setting, for models that take a refiner.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>) {
    if !parts.state.summary().is_some_and(|summary| summary.takes_refiner) {
        return;
    }
    let mut removed = false;
    match &mut parts.draft.request.refiner {
        Some(Refiner { path, switch }) => {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            ui.horizontal(|ui| {
                ui.label(format!("Refiner {name}")).on_hover_text(path.display().to_string());
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    removed = widgets::icon_button(ui, icons::X, "Remove the refiner").clicked();
                });
            });
            widgets::slider_row(ui, "Refiner switch", switch, 0.1..=0.95, 0.01..=0.99, 0.01)
                .on_hover_text("The refiner takes over after this fraction of the noise schedule.");
        }
        None => {
            if widgets::button(ui, Some(icons::FILE_UP), "Add refiner…", Weight::Plain)
                .on_hover_text("Choose a second model that does the last steps and adds detail.")
                .clicked()
            {
                parts.actions.push(Action::OpenDialog(Dialog::Refiner));
            }
        }
    }
    if removed {
        parts.draft.request.refiner = None;
    }
    if let Some(error @ RequestError::RefinerSwitch(_)) = parts.mistake {
        widgets::mistake(ui, &sentence(error));
    }
}
