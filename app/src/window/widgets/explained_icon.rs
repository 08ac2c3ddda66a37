//! Buttons with an icon whose one tooltip has their name and a sentence about them.

use egui::{Response, RichText, Role, Ui, WidgetInfo};

use super::buttons::{Weight, icon_square, small_icon};
use crate::window::tokens::font;

/// A button.
pub fn explained_icon(ui: &mut Ui, icon: &str, name: &str, tip: &str) -> Response {
    let response = icon_square(ui, icon, Weight::Ghost);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    explained(response, name, tip)
}

/// A small button beside a label, which opens something below it.
pub fn opener(ui: &mut Ui, icon: &str, name: &str, tip: &str) -> Response {
    let response = small_icon(ui, icon);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    explained(response, name, tip)
}

/// A toggle.
pub fn explained_toggle(ui: &mut Ui, icon: &str, (name, tip): (&str, &str), on: bool) -> Response {
    let response = icon_square(ui, icon, if on { Weight::Selected } else { Weight::Ghost });
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, ui.is_enabled(), on, name));
    explained(response, name, tip)
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
