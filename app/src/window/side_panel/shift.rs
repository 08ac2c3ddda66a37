//! The shift of the noise levels.

use egui::Ui;
use sluice_engine::request::{LARGEST_SHIFT, RequestError};

use super::parts::{Parts, sentence};
use crate::window::widgets;

/// Draws the setting, for models whose noise levels have a constant shift.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>) {
    let Some(own) = parts.state.summary().and_then(|summary| summary.shift) else { return };
    let chosen = &mut parts.draft.request.shift;
    let mut shown = chosen.unwrap_or(own);
    widgets::slider_row(ui, "Shift", &mut shown, 1.0..=15.0, 0.01..=LARGEST_SHIFT, 0.5).on_hover_text(format!(
        "Spends more steps at high noise, where composition and motion are decided. The model's own shift is {own}."
    ));
    if shown != chosen.unwrap_or(own) {
        *chosen = (shown != own).then_some(shown);
    }
    if let Some(error @ RequestError::Shift(_)) = parts.mistake {
        widgets::mistake(ui, &sentence(error));
    }
}
