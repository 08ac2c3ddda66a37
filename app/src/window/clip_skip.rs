//! Which layer of CLIP is taken.

use egui::Ui;
use sluice_engine::request::LARGEST_CLIP_SKIP;

use super::{state::State, widgets};

/// Draws the setting; it can be changed where the model heeds it.
pub fn show(ui: &mut Ui, state: &mut State) {
    let unheeded = state.summary().filter(|summary| !summary.reads_clip_skip);
    let unheeded = unheeded.map(|summary| summary.family_name.clone());
    // 0 and 1 mean the same, and people know it as 1.
    let mut shown = state.draft.clip_skip.max(1);
    ui.add_enabled_ui(unheeded.is_none(), |ui| {
        let range = 1..=LARGEST_CLIP_SKIP;
        widgets::slider_row(ui, "Clip skip", &mut shown, range.clone(), range, 1.0);
    });
    if shown != state.draft.clip_skip.max(1) {
        state.draft.clip_skip = shown;
    }
    if let Some(family) = unheeded {
        widgets::hint(ui, format!("{family} does not take layers of CLIP."));
    }
}
