//! The part of the question how to change files that is about their details.

use std::path::{Path, PathBuf};

use egui::Ui;
use sluice_engine::request::Detailer;

use super::{
    action::{Action, UpscaleStep},
    files::Dialog,
    icons,
    state::{State, Upscaling, file_name},
    widgets::{self, Weight},
};
use crate::language::tr;

/// The detailers of the panel, or a choice of detectors.
pub(super) fn show(ui: &mut Ui, state: &State, asked: &Upscaling, actions: &mut Vec<Action>) {
    let own = &state.draft().request.detailers;
    if !own.is_empty() {
        let names: Vec<String> = own.iter().map(|detailer| file_name(&detailer.model)).collect();
        widgets::hint(ui, tr!("detailers-ask-own", names = names.join(", ")));
        return;
    }
    widgets::field_label(ui, &tr!("detailers-ask-detectors"));
    let mut chosen = asked.detectors.clone();
    for item in state.detectors() {
        detector(ui, (&item.path, &item.name), &mut chosen);
    }
    if chosen != asked.detectors {
        actions.push(UpscaleStep::ChooseDetectors(chosen).into());
    }
    if widgets::button(ui, Some(icons::FILE_UP), &tr!("detailers-add"), Weight::Plain)
        .on_hover_text(tr!("detailers-add-tip"))
        .clicked()
    {
        actions.push(Action::OpenDialog(Dialog::Detector));
    }
}

/// A detector that is used or not.
fn detector(ui: &mut Ui, (path, name): (&PathBuf, &str), chosen: &mut Vec<PathBuf>) {
    let before = chosen.contains(path);
    let mut is_used = before;
    ui.add_enabled_ui(before || chosen.len() < Detailer::MOST, |ui| {
        ui.checkbox(&mut is_used, name).on_hover_text(tr!("detailers-ask-detector-tip"));
    });
    match (before, is_used) {
        (false, true) => chosen.push(path.clone()),
        (true, false) => chosen.retain(|known| known != path),
        _ => {}
    }
}

/// Where the prompt of an image comes from.
pub(super) fn prompt_of(asked: &Upscaling, path: &Path) -> String {
    match asked.prompts.contains_key(path) {
        true => tr!("detailers-ask-prompt-own"),
        false => tr!("detailers-ask-prompt-panel"),
    }
}
