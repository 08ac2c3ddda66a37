//! Guidance beside its scale, and the step cache.

use egui::Ui;
use sluice_engine::request::RequestError;

use super::{draft::Draft, widgets};

/// Shortest part of the steps that can be chosen.
const SHORTEST: f32 = 0.05;

/// Draws the fold.
pub fn show(ui: &mut Ui, draft: &mut Draft, open: &mut bool, mistake: Option<&RequestError>) {
    widgets::fold(ui, "Guidance and speed", open, |ui| {
        let guiding = &mut draft.guiding;
        widgets::slider_row(ui, "Guidance rescale", &mut guiding.rescale, 0.0..=1.0, 0.0..=1.0, 0.05);
        let interval = &mut guiding.interval;
        widgets::slider_row(ui, "Guided from", &mut interval.start, 0.0..=1.0, 0.0..=1.0 - SHORTEST, 0.05);
        interval.end = interval.end.max(interval.start + SHORTEST).min(1.0);
        widgets::slider_row(ui, "Guided to", &mut interval.end, 0.0..=1.0, SHORTEST..=1.0, 0.05);
        interval.start = interval.start.min(interval.end - SHORTEST).max(0.0);
        widgets::hint(ui, "Parts of the steps. Steps without guidance take half the work.");
        widgets::slider_row(ui, "True CFG", &mut guiding.true_cfg, 1.0..=10.0, 1.0..=30.0, 0.1);
        widgets::hint(ui, "Lets the negative prompt count in models like FLUX.1, for twice the work.");
        widgets::slider_row(ui, "Step cache", &mut draft.step_cache, 0.0..=0.5, 0.0..=10.0, 0.01);
        widgets::hint(ui, "Leaves out predictions that would change little. Faster, and another picture.");
        if let Some(error @ (RequestError::Guiding(_) | RequestError::StepCache(_))) = mistake {
            widgets::mistake(ui, &error.to_string());
        }
    });
}
