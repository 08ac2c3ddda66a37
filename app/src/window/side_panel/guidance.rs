//! Guidance options besides the scale, and the step cache.

use egui::Ui;
use sluice_engine::request::RequestError;

use super::parts::{Parts, sentence};
use crate::window::widgets;

/// The smallest selectable fraction of the steps.
const SHORTEST: f32 = 0.05;

/// Draws the section.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, open: &mut bool) {
    let (request, mistake) = (&mut parts.draft.request, parts.mistake);
    widgets::fold(ui, "Guidance and speed", open, |ui| {
        let guiding = &mut request.guiding;
        widgets::slider_row(ui, "Guidance rescale", &mut guiding.rescale, 0.0..=1.0, 0.0..=1.0, 0.05)
            .on_hover_text("Counteracts colours that high guidance makes too strong.");
        let interval = &mut guiding.interval;
        let most = 1.0 - SHORTEST;
        widgets::slider_row(ui, "Guidance start", &mut interval.start, 0.0..=1.0, 0.0..=most, 0.05)
            .on_hover_text("Guidance starts after this fraction of the steps.");
        interval.end = interval.end.max(interval.start + SHORTEST).min(1.0);
        widgets::slider_row(ui, "Guidance end", &mut interval.end, 0.0..=1.0, SHORTEST..=1.0, 0.05)
            .on_hover_text("Guidance ends after this fraction of the steps.");
        interval.start = interval.start.min(interval.end - SHORTEST).max(0.0);
        widgets::hint(ui, "Fraction of steps. Steps without guidance cost half.");
        widgets::slider_row(ui, "True CFG", &mut guiding.true_cfg, 1.0..=10.0, 1.0..=30.0, 0.1)
            .on_hover_text(
                "Above 1, models like FLUX.1 use the negative prompt. Each step takes twice as long.",
            );
        widgets::hint(ui, "For the negative prompt in models like FLUX.1. Doubles the time.");
        widgets::slider_row(ui, "Step cache", &mut request.step_cache, 0.0..=0.5, 0.0..=10.0, 0.01)
            .on_hover_text("How much a step may change and still be skipped. 0 skips none.");
        widgets::hint(ui, "Skips similar steps: faster, but the image changes slightly.");
        if let Some(error @ (RequestError::Guiding(_) | RequestError::StepCache(_))) = mistake {
            widgets::mistake(ui, &sentence(error));
        }
    });
}
