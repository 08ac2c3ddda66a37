//! The image, with zoom and pan.

use std::path::Path;

use egui::{CornerRadius, Rect, Sense, Stroke, StrokeKind, Ui, Vec2, pos2, vec2};

use crate::window::{
    drag_out,
    tokens::{self, Palette, space},
};

/// The view of the image. Zoom is in screen pixels per image pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    zoom: Option<f32>,
    /// The point of the image in the middle of the canvas, 0…1.
    centre: Vec2,
}

impl Default for View {
    fn default() -> Self {
        Self { zoom: None, centre: Vec2::splat(0.5) }
    }
}

/// Above this zoom, the image's pixels are visible.
const NEAREST_ABOVE: f32 = 2.0;
const ZOOMS: std::ops::RangeInclusive<f32> = 0.02..=64.0;

impl View {
    /// Fits the image to the canvas.
    pub fn fit(&mut self) {
        *self = Self::default();
    }

    /// One screen pixel per image pixel.
    pub fn actual(&mut self) {
        *self = Self { zoom: Some(1.0), centre: Vec2::splat(0.5) };
    }

    /// Whether the image is fitted to the canvas.
    pub fn is_fit(&self) -> bool {
        self.zoom.is_none()
    }

    /// The zoom of an image.
    pub fn zoom(&self, image: Vec2, canvas: Rect, density: f32) -> f32 {
        self.zoom.unwrap_or_else(|| {
            let room = (canvas.size() - Vec2::splat(2.0 * space::XL)).max(Vec2::splat(1.0)) * density;
            (room / image.max(Vec2::splat(1.0))).min_elem().clamp(*ZOOMS.start(), *ZOOMS.end())
        })
    }

    /// The rectangle of an image on the canvas.
    pub fn place(&self, image: Vec2, canvas: Rect, density: f32) -> Rect {
        let size = image * self.zoom(image, canvas, density) / density;
        Rect::from_min_size(canvas.center() - self.centre * size, size)
    }

    /// Zooms around the pointer.
    pub fn zoom_around(&mut self, factor: f32, pointer: egui::Pos2, image: Vec2, canvas: Rect, density: f32) {
        let before = self.place(image, canvas, density);
        let under = (pointer - before.min) / before.size();
        let zoom = (self.zoom(image, canvas, density) * factor).clamp(*ZOOMS.start(), *ZOOMS.end());
        let size = image * zoom / density;
        self.zoom = Some(zoom);
        self.centre = under + (canvas.center() - pointer) / size;
        self.keep_in_sight();
    }

    /// Pans by a distance on the screen.
    pub fn pan(&mut self, by: Vec2, image: Vec2, canvas: Rect, density: f32) {
        let zoom = self.zoom(image, canvas, density);
        self.zoom = Some(zoom);
        self.centre -= by / (image * zoom / density);
        self.keep_in_sight();
    }

    fn keep_in_sight(&mut self) {
        self.centre = self.centre.clamp(Vec2::ZERO, Vec2::splat(1.0));
    }
}

/// Whether to show individual pixels at a zoom.
pub fn shows_pixels(zoom: f32) -> bool {
    zoom > NEAREST_ABOVE
}

/// Zooms and pans an image with the pointer, or carries its file away while the image is fitted to the canvas. Returns its
/// rectangle, and the response of the canvas.
pub fn interact(
    ui: &mut Ui,
    view: &mut View,
    canvas: Rect,
    image: Vec2,
    (name, file): (&str, Option<&Path>),
) -> (Rect, egui::Response) {
    let density = ui.pixels_per_point();
    let response = ui.interact(canvas, ui.scope_id().with("canvas"), Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, name));
    let place = view.place(image, canvas, density);
    // A finger pans, and so does who drags what is beside the image.
    let file = file.filter(|_| view.is_fit()).filter(|_| {
        ui.input(|input| {
            !input.any_touches() && input.pointer.press_origin().is_some_and(|at| place.contains(at))
        })
    });
    if let Some(file) = file {
        drag_out::carry(&response, || vec![file.to_owned()]);
    } else if response.dragged() {
        view.pan(response.drag_delta(), image, canvas, density);
    }
    if response.double_clicked() {
        if view.is_fit() { view.actual() } else { view.fit() }
    }
    zoom(ui, view, &response, image, canvas);
    if response.dragged() && file.is_none() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::Grabbing);
    } else if response.hovered() && !view.is_fit() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::Grab);
    }
    (view.place(image, canvas, density), response)
}

/// Zooms an image around the pointer, with the wheel or two fingers.
pub fn zoom(ui: &Ui, view: &mut View, response: &egui::Response, image: Vec2, canvas: Rect) {
    let Some(pointer) = response.hover_pos().filter(|_| !drag_out::is_carrying(ui.ctx())) else { return };
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
    let factor = pinch * (scroll / 400.0).exp();
    if factor != 1.0 {
        view.zoom_around(factor, pointer, image, canvas, ui.pixels_per_point());
    }
}

/// Draws the background of an image.
pub fn paint_sheet(ui: &Ui, canvas: Rect, place: Rect) {
    let palette = Palette::of(ui);
    let painter = ui.painter_at(canvas);
    painter.add(tokens::shadow(palette).as_shape(place, CornerRadius::ZERO));
    painter.rect_filled(place, CornerRadius::ZERO, palette.panel);
}

/// Draws the pixels of an image.
pub fn paint_image(ui: &Ui, canvas: Rect, place: Rect, texture: egui::TextureId, tint: egui::Color32) {
    let painter = ui.painter_at(canvas);
    painter.image(texture, place, Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)), tint);
    let line = Stroke::new(1.0, Palette::of(ui).line);
    painter.rect_stroke(place, CornerRadius::ZERO, line, StrokeKind::Outside);
}

/// The cells of a sheet for the images of a batch.
pub fn grid(place: Rect, count: usize) -> Vec<Rect> {
    let columns = (count as f32).sqrt().ceil().max(1.0) as usize;
    let rows = count.div_ceil(columns).max(1);
    let cell = vec2(place.width() / columns as f32, place.height() / rows as f32);
    // Each cell has the sheet's aspect ratio, like the images.
    let scale = (cell / place.size()).min_elem();
    (0..count)
        .map(|index| {
            let corner = vec2((index % columns) as f32 * cell.x, (index / columns) as f32 * cell.y);
            let cell = Rect::from_min_size(place.min + corner, cell);
            Rect::from_center_size(cell.center(), place.size() * scale).shrink(if count > 1 {
                2.0
            } else {
                0.0
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANVAS: Rect = Rect { min: pos2(100.0, 50.0), max: pos2(900.0, 650.0) };
    const IMAGE: Vec2 = Vec2::splat(128.0);

    fn near(a: Vec2, b: Vec2) -> bool {
        (a - b).length() < 1e-2
    }

    #[test]
    fn an_image_fits_with_room_around_it() {
        let place = View::default().place(IMAGE, CANVAS, 1.0);
        assert!(near(place.center().to_vec2(), CANVAS.center().to_vec2()));
        assert!((place.height() - (600.0 - 2.0 * space::XL)).abs() < 1e-3);
        let dense = View::default().place(IMAGE, CANVAS, 2.0);
        assert!(near(dense.size(), place.size()));
    }

    #[test]
    fn at_100_percent_an_image_pixel_is_a_screen_pixel() {
        let mut view = View::default();
        view.actual();
        assert!(near(view.place(IMAGE, CANVAS, 2.0).size(), IMAGE / 2.0));
        assert!(!shows_pixels(view.zoom(IMAGE, CANVAS, 2.0)));
    }

    #[test]
    fn what_is_under_the_pointer_stays_there() {
        let mut view = View::default();
        let pointer = pos2(430.0, 300.0);
        let before = view.place(IMAGE, CANVAS, 1.5);
        let under = (pointer - before.min) / before.size();
        for factor in [1.3, 2.0, 0.7] {
            view.zoom_around(factor, pointer, IMAGE, CANVAS, 1.5);
            let after = view.place(IMAGE, CANVAS, 1.5);
            assert!(near((pointer - after.min) / after.size(), under));
        }
    }

    #[test]
    fn a_drag_moves_the_image_and_never_out_of_sight() {
        let mut view = View::default();
        let before = view.place(IMAGE, CANVAS, 1.0);
        view.pan(vec2(30.0, -12.0), IMAGE, CANVAS, 1.0);
        let after = view.place(IMAGE, CANVAS, 1.0);
        assert!(near(after.min - before.min, vec2(30.0, -12.0)));
        view.pan(vec2(1e6, 1e6), IMAGE, CANVAS, 1.0);
        assert!(view.place(IMAGE, CANVAS, 1.0).min.x <= CANVAS.center().x + 1e-2);
    }

    #[test]
    fn the_images_of_a_batch_share_the_sheet() {
        let place = Rect::from_min_size(pos2(0.0, 0.0), vec2(300.0, 200.0));
        assert_eq!(grid(place, 1), [place]);
        let four = grid(place, 4);
        assert_eq!(four.len(), 4);
        assert!(four.iter().all(|cell| place.contains_rect(*cell)));
        assert_eq!(grid(place, 3).len(), 3);
    }
}
