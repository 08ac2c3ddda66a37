//! Frames between those of the clip that is generated.

use egui::Ui;
use sluice_engine::request::{Interpolation, Request, RequestError, Smooth};

use super::parts::{Parts, sentence};
use crate::{
    language::tr,
    window::{
        files::Dialog,
        interpolating::{FACTORS, network_of},
        state::State,
        widgets,
    },
};

/// Whether the panel has the section.
pub fn is_shown(state: &State, request: &Request) -> bool {
    let makes_clips = state.summary().is_some_and(|summary| summary.frame_multiple.is_some());
    makes_clips || request.smooth.is_some()
}

/// Draws the section, for models that make clips, and where it is on.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, open: &mut bool) {
    if !is_shown(parts.state, &parts.draft.request) {
        return;
    }
    widgets::fold(ui, (&tr!("interpolate-section"), tr!("interpolate-section-tip")), open, |ui| {
        let known = parts.state.interpolators();
        let chosen = parts.draft.request.smooth.as_ref().map(|smooth| smooth.model.clone());
        let dialog = (Dialog::SmoothInterpolator, &mut *parts.actions);
        if let Some(model) = network_of(ui, known, chosen.as_ref(), dialog) {
            let how =
                parts.draft.request.smooth.as_ref().map_or(Interpolation::times(2), |smooth| smooth.how);
            parts.draft.request.smooth = Some(Smooth { model, how });
        }
        if parts.draft.request.smooth.is_none() {
            widgets::hint(ui, tr!("interpolate-choose"));
            return;
        }
        factor(ui, &mut parts.draft.request.smooth);
        if let Some(error @ (RequestError::SmoothsImage | RequestError::InterpolationFactor(_))) =
            parts.mistake
        {
            widgets::mistake(ui, &sentence(error));
        }
    });
}

/// How many times as many frames there are, or that none are made.
fn factor(ui: &mut Ui, smooth: &mut Option<Smooth>) {
    widgets::field_label(ui, &tr!("interpolate-factor"));
    let off = (1, tr!("interpolate-off"), tr!("interpolate-without"));
    let names: Vec<(u32, String, String)> = std::iter::once(off)
        .chain(FACTORS.map(|factor| {
            let name = format!("{factor}×");
            (factor, name.clone(), tr!("interpolate-factor-tip", factor = name))
        }))
        .collect();
    let Some(own) = smooth.as_mut() else { return };
    match widgets::segmented(ui, own.how.factor, &names) {
        Some(1) => *smooth = None,
        Some(factor) => own.how.factor = factor,
        None => {
            ui.checkbox(&mut own.how.across_cuts, tr!("interpolate-across-cuts"))
                .on_hover_text(tr!("interpolate-across-cuts-tip"));
        }
    }
}

/// What it does, in a few words.
pub fn in_force(smooth: &Smooth) -> String {
    tr!("interpolate-in-force", factor = smooth.how.factor)
}
