//! The shift of the noise levels.

use egui::Ui;
use sluice_engine::request::{LARGEST_SHIFT, RequestError};

use super::parts::{Parts, sentence};
use crate::{language::tr, window::widgets};

/// Draws the setting, for models whose noise levels have a constant shift.
pub fn show(ui: &mut Ui, parts: &mut Parts<'_>) {
    let Some(own) = parts.state.summary().and_then(|summary| summary.shift) else { return };
    let chosen = &mut parts.draft.request.shift;
    let mut shown = chosen.unwrap_or(own);
    widgets::slider_row(ui, &tr!("side-panel-shift"), &mut shown, 1.0..=15.0, 0.01..=LARGEST_SHIFT, 0.5)
        .on_hover_text(tr!("side-panel-shift-tip", own = own.to_string()));
    if shown != chosen.unwrap_or(own) {
        *chosen = (shown != own).then_some(shown);
    }
    if let Some(error @ RequestError::Shift(_)) = parts.mistake {
        widgets::mistake(ui, &sentence(error));
    }
}
