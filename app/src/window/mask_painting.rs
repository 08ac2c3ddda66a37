//! A mask that is painted over the picture.

use std::{path::PathBuf, sync::Arc};

use egui::{Align, Color32, ColorImage, Layout, Pos2, Rect, Sense, Stroke, Ui, pos2, vec2};
use sluice_engine::output::Image;

use super::{
    action::Action,
    canvas::{self, View},
    icons,
    textures::Textures,
    tokens::{Palette, space},
    widgets::{self, Weight},
};

/// The brush's diameters in pixels of the picture.
const BRUSHES: std::ops::RangeInclusive<f32> = 1.0..=400.0;

/// A mask that somebody paints.
#[derive(Debug, Clone, PartialEq)]
pub struct Painting {
    /// The picture's file.
    pub picture: PathBuf,
    size: [usize; 2],
    /// Whether a pixel is drawn anew, row by row.
    open: Vec<bool>,
    brush: f32,
    erases: bool,
    /// Where the stroke that goes on was last.
    last: Option<Pos2>,
    /// Rises with every change.
    version: u64,
}

impl Painting {
    /// A mask for a picture of this size: what is light in `before`, if it has that size, or nothing.
    pub fn new(picture: PathBuf, size: [usize; 2], before: Option<&ColorImage>) -> Self {
        let open = match before {
            Some(mask) if mask.size == size => mask.pixels.iter().map(|pixel| pixel.g() >= 128).collect(),
            _ => vec![false; size[0] * size[1]],
        };
        let brush = (size[0].max(size[1]) as f32 / 12.0).clamp(*BRUSHES.start(), *BRUSHES.end()).round();
        Self { picture, size, open, brush, erases: false, last: None, version: 0 }
    }

    /// Whether nothing is masked.
    pub fn is_empty(&self) -> bool {
        !self.open.contains(&true)
    }

    /// Light where the picture is drawn anew, dark elsewhere.
    pub fn image(&self) -> Image {
        let pixels = self.open.iter().flat_map(|&open| [if open { 255 } else { 0 }; 3]).collect();
        Image { width: self.size[0] as u32, height: self.size[1] as u32, pixels }
    }

    /// Takes everything away.
    pub fn clear(&mut self) {
        self.open.fill(false);
        self.version += 1;
    }

    /// What was masked is not, and the other way round.
    pub fn invert(&mut self) {
        self.open.iter_mut().for_each(|open| *open = !*open);
        self.version += 1;
    }

    /// Paints or erases along a line between two points of the picture, in pixels.
    pub fn stroke(&mut self, from: Pos2, to: Pos2) {
        let [width, height] = self.size;
        let reach = (self.brush / 2.0).max(0.5);
        let bounds = Rect::from_two_pos(from, to).expand(reach);
        let clamp = |value: f32, most: usize| (value.max(0.0) as usize).min(most);
        let (left, right) = (clamp(bounds.left().floor(), width), clamp(bounds.right().ceil(), width));
        let (top, bottom) = (clamp(bounds.top().floor(), height), clamp(bounds.bottom().ceil(), height));
        let along = to - from;
        for row in top..bottom {
            for column in left..right {
                let place = pos2(column as f32 + 0.5, row as f32 + 0.5);
                let part = (place - from).dot(along) / along.length_sq().max(f32::EPSILON);
                let nearest = from + along * part.clamp(0.0, 1.0);
                if (place - nearest).length() <= reach {
                    self.open[row * width + column] = !self.erases;
                }
            }
        }
        self.version += 1;
    }

    /// The number of the last change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// What lies over the picture.
    pub fn overlay(&self, color: Color32) -> ColorImage {
        let pixels = self.open.iter().map(|&open| if open { color } else { Color32::TRANSPARENT });
        ColorImage::new(self.size, pixels.collect())
    }
}

/// The picture with the mask over it, and the brush.
pub fn canvas(
    ui: &mut Ui,
    area: Rect,
    view: &View,
    textures: &mut Textures,
    painting: &mut Painting,
    picture: &Arc<ColorImage>,
) {
    let palette = Palette::of(ui);
    let density = ui.pixels_per_point();
    let size = vec2(painting.size[0] as f32, painting.size[1] as f32);
    let place = view.place(size, area, density);
    let response = ui.interact(area, ui.scope_id().with("mask"), Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Canvas, true, "The mask over the picture"));
    canvas::paint_sheet(ui, area, place);
    let texture = textures.source(ui.ctx(), &painting.picture, picture);
    canvas::paint_picture(ui, area, place, texture, Color32::WHITE);
    let pixel = |pointer: Pos2| ((pointer - place.min) / place.size() * size).to_pos2();
    match response.interact_pointer_pos().filter(|_| response.is_pointer_button_down_on()) {
        Some(pointer) => {
            let here = pixel(pointer);
            let from = painting.last.unwrap_or(here);
            if painting.last != Some(here) {
                painting.stroke(from, here);
            }
            painting.last = Some(here);
        }
        None => painting.last = None,
    }
    let over = textures.mask(ui.ctx(), painting, palette.accent.gamma_multiply(0.6));
    let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    ui.painter_at(area).image(over, place, whole, Color32::WHITE);
    if let Some(pointer) = response.hover_pos() {
        let reach = painting.brush / 2.0 * place.width() / size.x.max(1.0);
        let painter = ui.painter_at(area);
        painter.circle_stroke(pointer, reach, Stroke::new(2.5, Color32::from_black_alpha(120)));
        painter.circle_stroke(pointer, reach, Stroke::new(1.0, Color32::WHITE));
        ui.ctx().set_cursor_icon(egui::CursorIcon::Crosshair);
    }
}

/// The bar under it.
pub fn toolbar(ui: &mut Ui, painting: &mut Painting, actions: &mut Vec<Action>) {
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        let label = widgets::field_label(ui, "Brush");
        ui.spacing_mut().slider_width = 140.0;
        let most = (painting.size[0].max(painting.size[1]) as f32 / 2.0).clamp(8.0, *BRUSHES.end());
        let slider =
            egui::Slider::new(&mut painting.brush, *BRUSHES.start()..=most).integer().logarithmic(true);
        ui.add(slider).labelled_by(label.id);
        for (name, erases) in [("Paint", false), ("Erase", true)] {
            if widgets::toggle_button(ui, name, painting.erases == erases).clicked() {
                painting.erases = erases;
            }
        }
        if widgets::button(ui, Some(icons::ARROW_LEFT_RIGHT), "Invert", Weight::Ghost).clicked() {
            painting.invert();
        }
        if widgets::button(ui, Some(icons::X), "Clear", Weight::Ghost).clicked() {
            painting.clear();
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_enabled_ui(!painting.is_empty(), |ui| {
                if widgets::button(ui, None, "Use the mask", Weight::Primary).clicked() {
                    actions.push(Action::UsePainting);
                }
            });
            if widgets::button(ui, None, "Leave", Weight::Plain).clicked() {
                actions.push(Action::LeavePainting);
            }
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(painting: &Painting) -> Vec<String> {
        let row = |row: &[bool]| row.iter().map(|&open| if open { '#' } else { '.' }).collect();
        painting.open.chunks(painting.size[0]).map(row).collect()
    }

    #[test]
    fn a_stroke_is_as_wide_as_the_brush_and_can_be_erased() {
        let mut painting = Painting::new("fox.png".into(), [8, 5], None);
        assert!(painting.is_empty());
        painting.brush = 2.0;
        painting.stroke(pos2(2.0, 2.0), pos2(6.0, 2.0));
        assert_eq!(rows(&painting), ["........", ".######.", ".######.", "........", "........"]);
        painting.erases = true;
        painting.stroke(pos2(-40.0, 1.5), pos2(40.0, 1.5));
        assert_eq!(rows(&painting)[1..3], ["........", "........"]);
        painting.invert();
        assert!(painting.open.iter().all(|&open| open));
        painting.clear();
        assert!(painting.is_empty() && painting.version() == 4);
    }

    #[test]
    fn an_earlier_mask_of_the_same_size_is_gone_on_with() {
        let mut before = ColorImage::filled([3, 1], Color32::BLACK);
        before.pixels[1] = Color32::WHITE;
        let painting = Painting::new("fox.png".into(), [3, 1], Some(&before));
        assert_eq!(rows(&painting), [".#."]);
        assert_eq!(painting.image().pixels, [0, 0, 0, 255, 255, 255, 0, 0, 0]);
        assert_eq!(painting.overlay(Color32::RED).pixels[1], Color32::RED);
        assert!(Painting::new("fox.png".into(), [4, 1], Some(&before)).is_empty());
    }
}
