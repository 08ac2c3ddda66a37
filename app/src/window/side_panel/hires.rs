//! Hires fix: a second pass over the enlarged image.

use egui::{ComboBox, Ui};
use sluice_engine::{
    request::{Enlarger, Hires, ModelSource, Request, RequestError, SCALES},
    session::ModelSummary,
};

use super::parts::{Parts, sentence};
use crate::{
    language::{tr, units},
    window::{
        action::Action,
        files::Dialog,
        icons,
        state::{Draft, State, file_name},
        tokens::size,
        widgets::{self, Weight},
    },
};

/// Whether a model can denoise what it made again: it makes images of prompts alone.
fn can(summary: &ModelSummary) -> bool {
    summary.frame_multiple.is_none() && !summary.fills_in
}

/// Whether the panel has the section.
pub fn is_shown(state: &State, request: &Request) -> bool {
    state.summary().is_some_and(can) || request.hires.is_some()
}

/// Draws the section, for models that have it, and where it is on. With an input image it says that there is no first pass.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, open: &mut bool) {
    if !is_shown(parts.state, &parts.draft.request) {
        return;
    }
    let Draft { request, hires_before, .. } = &*parts.draft;
    if request.source.is_some() && request.hires.is_none() {
        let heading = |ui: &mut Ui| widgets::disclosure(ui, &tr!("hires-title"), icons::CHEVRON_RIGHT, true);
        ui.add_enabled(false, heading).on_disabled_hover_text(tr!("hires-title-tip"));
        let words = if hires_before.is_some() { tr!("app-hires-waits") } else { tr!("hires-not-with-input") };
        widgets::hint(ui, words);
        return;
    }
    widgets::fold(ui, (&tr!("hires-title"), tr!("hires-title-tip")), open, |ui| {
        let request = &mut parts.draft.request;
        let mut on = request.hires.is_some();
        if ui.checkbox(&mut on, tr!("hires-on")).on_hover_text(tr!("hires-on-tip")).changed() {
            request.hires = on.then(Hires::default);
        }
        let (first, steps) = ([request.width, request.height], request.steps);
        let Some(hires) = &mut request.hires else { return };
        if let Some(trained) = too_small(parts.state) {
            widgets::hint(ui, tr!("hires-not-starter", width = trained.0, height = trained.1));
        }
        fields(ui, hires, steps);
        enlarger(ui, parts.state, hires, parts.actions);
        let size = |[width, height]: [u32; 2]| format!("{width} × {height}");
        let (before, after) = (size(first), size(hires.size(first, parts.state.size_multiple())));
        widgets::hint(ui, tr!("hires-result", before = before, after = after));
        if let Some(error @ (RequestError::HiresOfClip | RequestError::HiresOfInput)) = parts.mistake {
            widgets::mistake(ui, &sentence(error));
        }
    });
}

fn fields(ui: &mut Ui, hires: &mut Hires, steps: u32) {
    widgets::slider_row(ui, &tr!("hires-scale"), &mut hires.scale, SCALES, SCALES, 0.05)
        .on_hover_text(tr!("hires-scale-tip"));
    widgets::slider_row(ui, &tr!("hires-strength"), &mut hires.strength, 0.05..=1.0, 0.01..=1.0, 0.01)
        .on_hover_text(tr!("hires-strength-tip"));
    let mut own = hires.steps.map(f64::from);
    widgets::optional_row(ui, &tr!("hires-steps"), &mut own, f64::from(steps), 1.0..=1000.0, (1.0, ""))
        .on_hover_text(tr!("hires-steps-tip"));
    hires.steps = own.map(|steps| steps.round() as u32);
}

/// Chooses what enlarges: a known upscaler, one in a file, or latents.
fn enlarger(ui: &mut Ui, state: &State, hires: &mut Hires, actions: &mut Vec<Action>) {
    widgets::field_label(ui, &tr!("hires-upscaler"));
    let mut known: Vec<(Enlarger, String)> =
        state.upscalers().into_iter().map(|(model, name)| (Enlarger::Upscaler(model), name)).collect();
    if let Enlarger::Upscaler(ModelSource::Path(path)) = &hires.enlarger
        && known.iter().all(|(enlarger, _)| *enlarger != hires.enlarger)
    {
        known.push((hires.enlarger.clone(), file_name(path)));
    }
    known.push((Enlarger::Latent, tr!("hires-latent")));
    let chosen = known.iter().find(|(enlarger, _)| *enlarger == hires.enlarger);
    let chosen = chosen.map(|(_, name)| name.clone()).unwrap_or_default();
    ui.horizontal(|ui| {
        let width = ui.available_width() - size::CONTROL - ui.spacing().item_spacing.x;
        let list = ComboBox::from_id_salt("hires-upscaler").width(width).truncate().selected_text(chosen);
        let list = widgets::drop_down(ui, list, |ui| {
            ui.set_max_width(size::POPUP);
            for (enlarger, name) in known {
                widgets::entry(ui, &mut hires.enlarger, enlarger, name);
            }
        });
        list.response.accessible_name(tr!("hires-upscaler")).on_hover_text(tr!("hires-upscaler-tip"));
        if widgets::icon_button(ui, icons::FOLDER_OPEN, &tr!("upscale-open")).clicked() {
            actions.push(Action::OpenDialog(Dialog::HiresUpscaler));
        }
    });
}

/// The size that the starter was trained for, if it is the model: in larger ones it draws nothing but patterns.
fn too_small(state: &State) -> Option<(u32, u32)> {
    let defaults = &state.summary()?.defaults;
    (*state.chosen_model() == ModelSource::Starter).then_some((defaults.width, defaults.height))
}

/// Offers to generate in a size that the model was trained for, and to enlarge that to the wanted one.
pub fn offer(ui: &mut Ui, state: &State, request: &mut Request, trained: (u32, u32)) {
    let Some(summary) = state.summary() else { return };
    if let Some((width, height)) = too_small(state) {
        widgets::hint(ui, tr!("hires-not-starter", width = width, height = height));
        return;
    }
    let is_free = request.hires.is_none() && request.source.is_none();
    let scale = request.width as f32 / trained.0.max(1) as f32;
    if !is_free || !can(summary) || !SCALES.contains(&scale) {
        return;
    }
    let (width, height) = trained;
    if widgets::button(ui, None, &tr!("hires-offer", width = width, height = height), Weight::Plain)
        .on_hover_text(tr!("hires-offer-tip"))
        .clicked()
    {
        (request.width, request.height) = trained;
        request.hires = Some(Hires { scale, ..Hires::default() });
    }
}

/// What it does, in a few words.
pub fn in_force(hires: &Hires) -> String {
    let (scale, strength) = (units::number(hires.scale), units::percent(hires.strength));
    tr!("hires-in-force", scale = scale, strength = strength)
}
