//! A card over the image.

use egui::{Align2, Area, Frame, Margin, Order, Rect, Stroke, Ui, vec2};

use crate::window::tokens::{Palette, radius, shadow, size, space};

/// Draws a card at the top of an area, as wide as there is room; its contents get the width that is left.
pub fn show(ui: &Ui, area: Rect, name: &str, margin: Margin, contents: impl FnOnce(&mut Ui, f32)) {
    let palette = Palette::of(ui);
    let width = (area.width() - 2.0 * space::L).min(size::CARD);
    Area::new(ui.scope_id().with(name))
        .order(Order::Middle)
        .pivot(Align2::CENTER_TOP)
        .fixed_pos(area.center_top() + vec2(0.0, space::M))
        .constrain_to(area)
        .show(ui.ctx(), |ui| {
            let frame = Frame::new()
                .fill(palette.panel)
                .stroke(Stroke::new(1.0, palette.line_strong))
                .corner_radius(radius::M)
                .shadow(shadow(palette))
                .inner_margin(margin);
            frame.show(ui, |ui| {
                ui.set_width(width);
                contents(ui, width);
            });
        });
}
