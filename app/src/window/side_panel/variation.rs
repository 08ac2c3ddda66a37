//! How far the noise is turned towards that of another seed.

use egui::Ui;
use sluice_engine::request::Variation;

use super::parts::Parts;
use crate::{language::tr, window::widgets};

/// Draws the strength and, if it is felt, the other seed.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>) {
    let request = &mut parts.draft.request;
    let before = request.variation;
    // The seed of another 32 bits is as good as a random one.
    let mut chosen = before
        .unwrap_or(Variation { seed: request.seed.wrapping_add(1) & u64::from(u32::MAX), strength: 0.0 });
    widgets::slider_row(
        ui,
        &tr!("side-panel-variation-strength"),
        &mut chosen.strength,
        0.0..=1.0,
        0.0..=1.0,
        0.01,
    )
    .on_hover_text(tr!("side-panel-variation-strength-tip"));
    if chosen.is_felt() {
        let mut seed = chosen.seed as f64;
        // Larger numbers are not exact in a field.
        widgets::number_row(
            ui,
            &tr!("side-panel-variation-seed"),
            &mut seed,
            0.0..=9_007_199_254_740_991.0,
            (1.0, ""),
        )
        .on_hover_text(tr!("side-panel-variation-seed-tip"));
        if seed != chosen.seed as f64 {
            chosen.seed = seed as u64;
        }
    }
    request.variation = chosen.is_felt().then_some(chosen);
}
