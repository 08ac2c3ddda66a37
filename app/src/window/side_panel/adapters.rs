//! LoRAs and other adapters: the list, their weights, and unmatched keys.

use std::path::{Path, PathBuf};

use egui::{Align, Layout, Popup, ScrollArea, TextWrapMode, Ui};
use sluice_engine::{adapters::AdapterReport, request::AdapterUse};

use super::{file_menu::FileMenu, parts::Parts};
use crate::{
    language::tr,
    window::{
        action::Action,
        files::Dialog,
        icons,
        state::{Draft, State},
        tokens::size,
        widgets::{self, Weight},
    },
};

/// View state of the list; not saved.
#[derive(Debug, Default)]
pub struct AdapterList {
    /// Whether it is open.
    pub(super) open: bool,
}

/// Draws the list, collapsed by default.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, list: &mut AdapterList) {
    let used = parts.draft.to_send().adapters.len();
    let title = if used == 0 { tr!("side-panel-loras") } else { tr!("side-panel-loras-used", count = used) };
    let pressed =
        widgets::fold(ui, (&title, tr!("side-panel-loras-tip")), &mut list.open, |ui| opened(ui, parts));
    if pressed && list.open {
        parts.actions.push(Action::ListAdapters);
    }
}

fn opened(ui: &mut Ui, parts: &mut Parts<'_>) {
    let Parts { state, draft, actions, .. } = parts;
    let paths: Vec<PathBuf> = draft.request.adapters.iter().map(|adapter| adapter.path.clone()).collect();
    for (index, path) in paths.iter().enumerate() {
        let report = state.adapters.reports.iter().find(|report| report.path == *path);
        let half = state.adapters.reports.iter().find(|report| report.half_of.as_ref() == Some(path));
        row(ui, draft, (index, path), [report, half], actions);
    }
    ui.horizontal(|ui| {
        if widgets::button(ui, Some(icons::FILE_UP), &tr!("side-panel-lora-add"), Weight::Plain)
            .on_hover_text(tr!("side-panel-lora-add-tip"))
            .clicked()
        {
            actions.push(Action::OpenDialog(Dialog::Adapter));
        }
        beside_the_model(ui, state, draft, actions);
    });
}

fn row(
    ui: &mut Ui,
    draft: &mut Draft,
    (index, path): (usize, &Path),
    [report, half]: [Option<&AdapterReport>; 2],
    actions: &mut Vec<Action>,
) {
    let name = stem(path);
    let mut on = draft.uses(path);
    ui.horizontal(|ui| {
        let width = ui.available_width() - size::CONTROL - ui.spacing().item_spacing.x;
        let switch = ui.scope(|ui| {
            ui.set_max_width(width);
            ui.style_mut().wrap_mode = Some(TextWrapMode::Truncate);
            ui.checkbox(&mut on, &name)
        });
        let switch = switch.inner.on_hover_text(path.display().to_string());
        if switch.changed() {
            let path = path.to_owned();
            actions.push(if on { Action::AddAdapter(path) } else { Action::SwitchAdapterOff(path) });
        }
        let remove = tr!("side-panel-lora-remove", name = name.as_str());
        let replace = Dialog::OtherAdapter(index);
        let by_menu = FileMenu { path, replace, remove: &remove }.show(&switch, actions);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if widgets::icon_button(ui, icons::X, &remove).clicked() || by_menu {
                actions.push(Action::RemoveAdapter(path.to_owned()));
            }
        });
    });
    let adapter = draft.request.adapters.iter_mut().find(|adapter| adapter.path == path);
    if let Some(AdapterUse { weight, .. }) = adapter.filter(|_| on) {
        widgets::slider_row(
            ui,
            &tr!("side-panel-lora-weight", name = name.as_str()),
            weight,
            -1.0..=2.0,
            -10.0..=10.0,
            0.05,
        )
        .on_hover_text(tr!("side-panel-lora-weight-tip"));
        if let Some(sentence) = report.and_then(AdapterReport::sentence) {
            widgets::hint(ui, sentence);
        }
        if let Some(half) = half {
            widgets::hint(ui, tr!("side-panel-lora-half", name = stem(&half.path)));
        }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// A menu of the adapters in the folders next to the model that are not in the list yet.
fn beside_the_model(ui: &mut Ui, state: &State, draft: &Draft, actions: &mut Vec<Action>) {
    let listed = |path: &&PathBuf| draft.request.adapters.iter().all(|adapter| adapter.path != **path);
    let found: Vec<&PathBuf> = state.adapters.known.iter().filter(listed).collect();
    if found.is_empty() {
        return;
    }
    let button = widgets::disclosure(ui, &tr!("side-panel-loras-near"), icons::CHEVRON_DOWN, false)
        .on_hover_text(tr!("side-panel-loras-near-tip"));
    Popup::menu(&button).accessible_name(tr!("side-panel-loras-near-spoken")).width(size::POPUP).show(|ui| {
        ScrollArea::vertical().show(ui, |ui| {
            for path in found {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                let row = widgets::file_button(ui, icons::LAYERS, &name, "", false);
                if row.on_hover_text(path.display().to_string()).clicked() {
                    actions.push(Action::AddAdapter(path.clone()));
                    ui.close();
                }
            }
        });
    });
}
