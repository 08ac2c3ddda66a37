//! Sliders.

use egui::{Response, Slider, Stroke, Ui};

use crate::window::tokens::Palette;

/// A slider without a number, in the colours that all have.
pub fn slider(ui: &mut Ui, slider: Slider<'_>, width: f32) -> Response {
    ui.scope(|ui| {
        let palette = Palette::of(ui);
        ui.spacing_mut().slider_width = width;
        ui.spacing_mut().interact_size.y = 16.0;
        let visuals = ui.visuals_mut();
        visuals.selection.bg_fill = palette.accent;
        visuals.widgets.inactive.bg_fill = palette.line;
        visuals.widgets.inactive.fg_stroke = Stroke::new(2.0, palette.accent);
        for held in [&mut visuals.widgets.hovered, &mut visuals.widgets.active] {
            held.bg_fill = palette.accent;
            held.fg_stroke = Stroke::new(2.0, palette.accent_hover);
        }
        ui.add(slider.show_value(false))
    })
    .inner
}
