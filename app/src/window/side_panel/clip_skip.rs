//! The CLIP layer to use.

use egui::Ui;
use sluice_engine::request::LARGEST_CLIP_SKIP;

use super::parts::Parts;
use crate::{
    language::{said, tr},
    window::widgets,
};

/// Draws the setting, enabled if it has an effect.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>) {
    let without_effect = parts.state.summary().filter(|summary| !summary.reads_clip_skip);
    let chosen = &mut parts.draft.request.clip_skip;
    // 0 and 1 mean the same; users know it as 1.
    let mut shown = (*chosen).max(1);
    ui.add_enabled_ui(without_effect.is_none(), |ui| {
        let range = 1..=LARGEST_CLIP_SKIP;
        widgets::slider_row(ui, &tr!("side-panel-clip-skip"), &mut shown, range.clone(), range, 1.0)
            .on_hover_text(tr!("side-panel-clip-skip-tip"));
    });
    if shown != (*chosen).max(1) {
        *chosen = shown;
    }
    if let Some(summary) = without_effect {
        widgets::hint(ui, tr!("side-panel-clip-skip-without-effect", family = said(&summary.family_name)));
    }
}
