//! A Redux model, through which references are read.

use std::path::PathBuf;

use egui::{Align, Layout, Ui};
use sluice_engine::request::{Redux, RequestError};

use super::parts::{Parts, gap, sentence};
use crate::{
    language::tr,
    window::{
        action::Action,
        files::Dialog,
        icons,
        state::file_name,
        widgets::{self, Weight},
    },
};

/// Draws the chosen one and how strongly each reference counts.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>) {
    let Some(redux) = &mut parts.draft.request.redux else { return };
    let mut removed = false;
    let name = redux.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    ui.horizontal(|ui| {
        ui.label(tr!("side-panel-redux", name = name)).on_hover_text(redux.path.display().to_string());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            removed = widgets::icon_button(ui, icons::X, &tr!("side-panel-redux-remove")).clicked();
        });
    });
    strengths(ui, redux, &parts.draft.request.references);
    if removed {
        parts.draft.request.redux = None;
    }
    if let Some(error @ (RequestError::ReduxAlone | RequestError::ReduxStrength(_))) = parts.mistake {
        widgets::mistake(ui, &sentence(error));
    }
    gap(ui);
}

/// Offers to choose one, for models that take one.
pub fn offer(ui: &mut Ui, parts: &mut Parts<'_>) {
    let takes = parts.state.summary().is_some_and(|summary| summary.takes_redux);
    if !takes || parts.draft.request.redux.is_some() {
        return;
    }
    if widgets::button(ui, Some(icons::FILE_UP), &tr!("side-panel-redux-add"), Weight::Plain)
        .on_hover_text(tr!("side-panel-redux-add-tip"))
        .clicked()
    {
        parts.actions.push(Action::OpenDialog(Dialog::Redux));
    }
}

fn strengths(ui: &mut Ui, redux: &mut Redux, references: &[PathBuf]) {
    redux.strengths.truncate(references.len());
    for (index, path) in references.iter().enumerate() {
        let label = tr!("side-panel-redux-strength", number = index + 1);
        widgets::slider_row(ui, &label, redux.strength_mut(index), 0.0..=2.0, Redux::STRENGTHS, 0.05)
            .on_hover_text(tr!("side-panel-redux-strength-tip", name = file_name(path)));
    }
}
