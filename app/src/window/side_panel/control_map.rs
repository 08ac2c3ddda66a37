//! What a preprocessor makes of an image, as the ControlNet sees it.

use std::path::Path;

use egui::{
    CornerRadius, Painter, Popup, Rect, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2,
};
use sluice_engine::request::Fit;

use crate::{
    language::tr,
    window::{
        state::{FileState, InputFiles},
        textures::Textures,
        tokens::{Palette, radius},
        widgets,
    },
};

/// The side of the small version.
const SIDE: f32 = 60.0;
/// The part of the window that the large version takes at most.
const LARGE: f32 = 0.6;
/// How much larger than its pixels it is at most.
const LARGEST: f32 = 4.0;

/// Draws a map, brought to the width and height of the result as for the ControlNet. A click shows it large.
pub fn show(
    ui: &mut Ui,
    (files, textures): (&InputFiles, &mut Textures),
    map: &Path,
    (fit, size): (Fit, [u32; 2]),
) {
    let palette = Palette::of(ui);
    let shape = vec2(size[0].max(1) as f32, size[1].max(1) as f32);
    ui.horizontal(|ui| {
        let (square, small) = ui.allocate_exact_size(Vec2::splat(SIDE), Sense::click());
        small.widget_info(|| WidgetInfo::labeled(Role::Button, true, tr!("control-nets-map-large")));
        let rounding = CornerRadius::same(radius::S);
        ui.painter().rect_filled(square, rounding, palette.raised);
        let line = if small.hovered() || small.has_focus() { palette.accent } else { palette.line };
        if let Some(image) = files.pixels(map) {
            let texture = textures.input(ui.ctx(), map, image);
            let paint = |painter: &Painter, place: Rect| {
                painter.image(texture, place, seen(image.size, fit, place.size()), egui::Color32::WHITE);
            };
            paint(ui.painter(), Rect::from_center_size(square.center(), shape * (SIDE / shape.max_elem())));
            Popup::menu(&small).accessible_name(tr!("control-nets-map")).show(|ui| {
                let room = ui.ctx().content_rect().size() * LARGE;
                let scale = (room / shape).min_elem().min(LARGEST);
                let (place, large) = ui.allocate_exact_size(shape * scale, Sense::hover());
                large.widget_info(|| WidgetInfo::labeled(Role::Image, true, tr!("control-nets-map")));
                paint(ui.painter(), place);
            });
        }
        ui.painter().rect_stroke(square, rounding, Stroke::new(1.0, line), StrokeKind::Outside);
        small.on_hover_text(tr!("control-nets-map-large-tip"));
        match files.get(map) {
            Some(FileState::Unreadable(message)) => widgets::mistake(ui, message),
            _ => {
                widgets::hint(ui, tr!("control-nets-map"));
            }
        }
    });
}

/// The part of a map that is seen in a place of the shape of the result; beyond the edges of the map, they are repeated.
fn seen(map: [usize; 2], fit: Fit, place: Vec2) -> Rect {
    let own = vec2(map[0].max(1) as f32, map[1].max(1) as f32);
    let scales = place / own;
    let scaled = match fit {
        Fit::Stretch => place,
        Fit::Crop => own * scales.max_elem(),
        Fit::Pad => own * scales.min_elem(),
    };
    Rect::from_center_size(pos2(0.5, 0.5), place / scaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_brought_to_the_shape_of_the_result() {
        let part = |map, fit| {
            let seen = seen(map, fit, vec2(50.0, 50.0));
            [seen.left(), seen.top(), seen.right(), seen.bottom()]
        };
        assert_eq!(part([64, 64], Fit::Crop), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(part([200, 100], Fit::Stretch), [0.0, 0.0, 1.0, 1.0]);
        assert_eq!(part([200, 100], Fit::Crop), [0.25, 0.0, 0.75, 1.0]);
        assert_eq!(part([200, 100], Fit::Pad), [0.0, -0.5, 1.0, 1.5]);
    }
}
