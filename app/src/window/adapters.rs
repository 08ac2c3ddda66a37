//! LoRAs and other adapters: which are used, how strongly, and what of them did not match.

use std::path::PathBuf;

use egui::{Align, Layout, Ui};
use sluice_engine::adapters::AdapterReport;

use super::{
    action::Action,
    draft::{Draft, DraftAdapter},
    files::Dialog,
    icons,
    state::State,
    tokens::size,
    widgets::{self, Weight},
};

/// What the list remembers between frames and not beyond.
#[derive(Debug, Default)]
pub struct AdaptersState {
    open: bool,
}

/// Adds an adapter, or uses again one that is in the list.
pub fn add(draft: &mut Draft, path: PathBuf) {
    match draft.adapters.iter_mut().find(|known| known.path == path) {
        Some(known) => known.enabled = true,
        None => draft.adapters.push(DraftAdapter::new(path, 1.0)),
    }
}

/// Draws the list, folded away unless somebody opens it.
pub fn show(ui: &mut Ui, state: &mut State, list: &mut AdaptersState, actions: &mut Vec<Action>) {
    let used = state.draft.adapters.iter().filter(|adapter| adapter.enabled).count();
    let title = if used == 0 { "LoRA".to_owned() } else { format!("LoRA ({used})") };
    let pressed = widgets::fold(ui, &title, &mut list.open, |ui| opened(ui, state, actions));
    if pressed && list.open {
        actions.push(Action::ListAdapters);
    }
}

fn opened(ui: &mut Ui, state: &mut State, actions: &mut Vec<Action>) {
    let mut removed = None;
    for (index, adapter) in state.draft.adapters.iter_mut().enumerate() {
        let report = state.adapter_reports.iter().find(|report| report.path == adapter.path);
        if row(ui, adapter, report) {
            removed = Some(index);
        }
    }
    if let Some(index) = removed {
        state.draft.adapters.remove(index);
    }
    ui.horizontal(|ui| {
        if widgets::button(ui, Some(icons::FILE_UP), "Add a LoRA", Weight::Plain).clicked() {
            actions.push(Action::OpenDialog(Dialog::Adapter));
        }
        beside_the_model(ui, state, actions);
    });
}

/// One adapter; says whether it is to be taken out.
fn row(ui: &mut Ui, adapter: &mut DraftAdapter, report: Option<&AdapterReport>) -> bool {
    let name = adapter.name();
    let mut removed = false;
    ui.horizontal(|ui| {
        ui.checkbox(&mut adapter.enabled, &name).on_hover_text(adapter.path.display().to_string());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            removed = widgets::icon_button(ui, icons::X, &format!("Take {name} out")).clicked();
        });
    });
    if adapter.enabled {
        let label = format!("Weight of {name}");
        widgets::slider_row(ui, &label, &mut adapter.weight, -1.0..=2.0, -10.0..=10.0, 0.05);
        if let Some(sentence) = report.and_then(AdapterReport::sentence) {
            widgets::hint(ui, sentence);
        }
    }
    removed
}

/// A menu of the adapters in the folders beside the model that are not in the list yet.
fn beside_the_model(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let listed = |path: &&PathBuf| state.draft.adapters.iter().all(|adapter| adapter.path != **path);
    let found: Vec<&PathBuf> = state.known_adapters.iter().filter(listed).collect();
    if found.is_empty() {
        return;
    }
    let button = widgets::disclosure(ui, "Beside the model", icons::CHEVRON_DOWN, false);
    egui::Popup::menu(&button).accessible_name("LoRAs beside the model").width(size::POPUP).show(|ui| {
        egui::ScrollArea::vertical().show(ui, |ui| {
            for path in found {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                if widgets::row_button(ui, icons::LAYERS, &name, "", false).clicked() {
                    actions.push(Action::AddAdapter(path.clone()));
                    ui.close();
                }
            }
        });
    });
}
