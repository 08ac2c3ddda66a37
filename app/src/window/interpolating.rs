//! The part of the question how to change files that is about frames between those of clips.

use std::path::PathBuf;

use egui::{ComboBox, Ui};

use super::{
    action::{Action, UpscaleStep},
    files::Dialog,
    icons,
    state::{State, file_name},
    tokens::size,
    widgets::{self, Weight},
};
use crate::language::tr;

/// Factors that are offered.
pub(super) const FACTORS: [u32; 2] = [2, 4];

/// The network, how many frames it makes, and whether it makes some across cuts.
pub(super) fn show(ui: &mut Ui, state: &State, actions: &mut Vec<Action>) {
    let choice = &state.interpolate_choice();
    let mut chosen = choice.clone();
    let known = state.interpolators();
    if let Some(model) = network_of(ui, known, choice.model.as_ref(), (Dialog::Interpolator, actions)) {
        chosen.model = Some(model);
    }
    widgets::field_label(ui, &tr!("interpolate-factor"));
    let names = FACTORS.map(|factor| {
        let name = format!("{factor}×");
        let tip = tr!("interpolate-factor-tip", factor = name.clone());
        (factor, name, tip)
    });
    if let Some(factor) = widgets::segmented(ui, choice.factor, &names) {
        chosen.factor = factor;
    }
    ui.checkbox(&mut chosen.across_cuts, tr!("interpolate-across-cuts"))
        .on_hover_text(tr!("interpolate-across-cuts-tip"));
    if chosen != *choice {
        actions.push(UpscaleStep::ChooseInterpolation(chosen).into());
    }
}

/// Chooses the network among those that are known, or a file in a dialog; returns another one than the chosen one.
pub(super) fn network_of(
    ui: &mut Ui,
    mut known: Vec<(PathBuf, String)>,
    chosen: Option<&PathBuf>,
    (dialog, actions): (Dialog, &mut Vec<Action>),
) -> Option<PathBuf> {
    if let Some(path) = chosen.filter(|path| known.iter().all(|(known, _)| known != *path)) {
        known.push((path.clone(), file_name(path)));
    }
    widgets::field_label(ui, &tr!("interpolate-model"));
    let name = known.iter().find(|(path, _)| Some(path) == chosen).map(|(_, name)| name.clone());
    let mut other = None;
    ui.horizontal(|ui| {
        let (open, tip) = (tr!("upscale-open"), tr!("interpolate-open-tip"));
        let (room, gap) = (ui.available_width(), ui.spacing().item_spacing.x);
        let worded = widgets::button_width(ui, Some(icons::FOLDER_OPEN), &open) + gap;
        let is_worded = room >= worded + size::CARD / 2.0;
        let width = room - if is_worded { worded } else { size::CONTROL + gap };
        let list = ComboBox::from_id_salt("interpolator")
            .width(width)
            .truncate()
            .selected_text(name.unwrap_or_default());
        let list = widgets::drop_down(ui, list, |ui| {
            ui.set_max_width(size::POPUP);
            for (path, name) in known {
                let is_chosen = Some(&path) == chosen;
                if widgets::choice(ui, is_chosen, name).clicked() && !is_chosen {
                    other = Some(path);
                }
            }
        });
        list.response.accessible_name(tr!("interpolate-model")).on_hover_text(tr!("interpolate-model-tip"));
        let button = match is_worded {
            true => widgets::button(ui, Some(icons::FOLDER_OPEN), &open, Weight::Plain).on_hover_text(tip),
            false => widgets::explained_icon(ui, icons::FOLDER_OPEN, &open, &tip),
        };
        if button.clicked() {
            actions.push(Action::OpenDialog(dialog));
        }
    });
    other
}
