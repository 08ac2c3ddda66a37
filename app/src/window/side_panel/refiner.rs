//! A second model for the last steps.

use egui::{Align, Layout, Ui};
use sluice_engine::request::{Refiner, RequestError};

use super::parts::{Parts, sentence};
use crate::{
    language::tr,
    window::{
        action::Action,
        files::Dialog,
        icons,
        widgets::{self, Weight},
    },
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
                ui.label(tr!("side-panel-refiner", name = name)).on_hover_text(path.display().to_string());
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    removed = widgets::icon_button(ui, icons::X, &tr!("side-panel-refiner-remove")).clicked();
                });
            });
            widgets::slider_row(ui, &tr!("side-panel-refiner-switch"), switch, 0.1..=0.95, 0.01..=0.99, 0.01)
                .on_hover_text(tr!("side-panel-refiner-switch-tip"));
        }
        None => {
            if widgets::button(ui, Some(icons::FILE_UP), &tr!("side-panel-refiner-add"), Weight::Plain)
                .on_hover_text(tr!("side-panel-refiner-add-tip"))
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
