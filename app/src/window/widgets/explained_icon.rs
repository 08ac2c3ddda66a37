//! Square buttons with an icon whose one tooltip has their name and a sentence about them.

use egui::{
    Align2, Color32, CornerRadius, Response, RichText, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo,
};

use crate::window::tokens::{Palette, font, radius, size};

/// A button.
pub fn explained_icon(ui: &mut Ui, icon: &str, name: &str, tip: &str) -> Response {
    let response = square(ui, icon, false);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    explained(response, name, tip)
}

/// A toggle.
pub fn explained_toggle(ui: &mut Ui, icon: &str, (name, tip): (&str, &str), on: bool) -> Response {
    let response = square(ui, icon, on);
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, ui.is_enabled(), on, name));
    explained(response, name, tip)
}

fn square(ui: &mut Ui, icon: &str, on: bool) -> Response {
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(size::CONTROL), Sense::click());
    let palette = Palette::of(ui);
    let is_over = response.hovered() || response.highlighted();
    let (fill, ink) = match (on, response.is_pointer_button_down_on(), is_over) {
        (true, ..) => (palette.accent_soft, palette.text),
        (false, true, _) => (palette.press, palette.text),
        (false, false, true) => (palette.hover, palette.text),
        (false, false, false) => (Color32::TRANSPARENT, palette.text_muted),
    };
    let line = match (response.has_focus(), on) {
        (true, _) => palette.accent,
        (false, true) => palette.accent.gamma_multiply(0.4),
        (false, false) => Color32::TRANSPARENT,
    };
    let rounding = CornerRadius::same(radius::M);
    ui.painter().rect(rect, rounding, fill, Stroke::new(1.0, line), StrokeKind::Inside);
    ui.painter().text(rect.center(), Align2::CENTER_CENTER, icon, font::icons(font::ICON), ink);
    response
}

fn explained(response: Response, name: &str, tip: &str) -> Response {
    response.ctx.accesskit_node_builder(response.id, |node| node.set_description(tip));
    response.on_hover_ui(|ui| {
        ui.set_max_width(ui.spacing().tooltip_width);
        ui.spacing_mut().item_spacing.y = 2.0;
        ui.label(RichText::new(name).font(font::medium(font::BODY)));
        if tip != name {
            ui.label(tip);
        }
    })
}
