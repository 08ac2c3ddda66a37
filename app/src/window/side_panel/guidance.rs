//! Guidance options besides the scale, and the step cache.

use egui::Ui;
use sluice_engine::request::RequestError;

use super::parts::{Parts, sentence};
use crate::{language::tr, window::widgets};

/// The smallest selectable fraction of the steps.
const SHORTEST: f32 = 0.05;

/// Draws the section.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>, open: &mut bool) {
    let (request, mistake) = (&mut parts.draft.request, parts.mistake);
    let reads_true_cfg = parts.state.summary().is_some_and(|summary| summary.reads_true_cfg);
    widgets::fold(
        ui,
        (&tr!("side-panel-guidance-and-speed"), tr!("side-panel-guidance-and-speed-tip")),
        open,
        |ui| {
            let guiding = &mut request.guiding;
            widgets::slider_row(
                ui,
                &tr!("side-panel-guidance-rescale"),
                &mut guiding.rescale,
                0.0..=1.0,
                0.0..=1.0,
                0.05,
            )
            .on_hover_text(tr!("side-panel-guidance-rescale-tip"));
            let interval = &mut guiding.interval;
            let most = 1.0 - SHORTEST;
            widgets::slider_row(
                ui,
                &tr!("side-panel-guidance-start"),
                &mut interval.start,
                0.0..=1.0,
                0.0..=most,
                0.05,
            )
            .on_hover_text(tr!("side-panel-guidance-start-tip"));
            interval.end = interval.end.max(interval.start + SHORTEST).min(1.0);
            widgets::slider_row(
                ui,
                &tr!("side-panel-guidance-end"),
                &mut interval.end,
                0.0..=1.0,
                SHORTEST..=1.0,
                0.05,
            )
            .on_hover_text(tr!("side-panel-guidance-end-tip"));
            interval.start = interval.start.min(interval.end - SHORTEST).max(0.0);
            widgets::hint(ui, tr!("side-panel-guidance-interval-hint"));
            if reads_true_cfg {
                widgets::slider_row(
                    ui,
                    &tr!("side-panel-true-cfg"),
                    &mut guiding.true_cfg,
                    1.0..=10.0,
                    1.0..=30.0,
                    0.1,
                )
                .on_hover_text(tr!("side-panel-true-cfg-tip"));
                widgets::hint(ui, tr!("side-panel-true-cfg-hint"));
            }
            widgets::slider_row(
                ui,
                &tr!("side-panel-step-cache"),
                &mut request.step_cache,
                0.0..=0.5,
                0.0..=10.0,
                0.01,
            )
            .on_hover_text(tr!("side-panel-step-cache-tip"));
            widgets::hint(ui, tr!("side-panel-step-cache-hint"));
            if let Some(error @ (RequestError::Guiding(_) | RequestError::StepCache(_))) = mistake {
                widgets::mistake(ui, &sentence(error));
            }
        },
    );
}
