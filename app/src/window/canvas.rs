//! The picture, and how it is looked at.

use egui::{CornerRadius, Rect, Sense, Stroke, StrokeKind, Ui, Vec2, pos2, vec2};

use super::tokens::{Palette, space};

/// How the picture is looked at. Zoom is in screen pixels a picture pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    zoom: Option<f32>,
    /// The point of the picture in the middle of the canvas, 0…1.
    centre: Vec2,
}

impl Default for View {
    fn default() -> Self {
        Self { zoom: None, centre: Vec2::splat(0.5) }
    }
}

/// What a picture's pixels look like above this zoom.
const NEAREST_ABOVE: f32 = 2.0;
const ZOOMS: std::ops::RangeInclusive<f32> = 0.02..=64.0;

impl View {
    /// As large as fits.
    pub fn fit(&mut self) {
        *self = Self::default();
    }

    /// One screen pixel a picture pixel.
    pub fn actual(&mut self) {
        *self = Self { zoom: Some(1.0), centre: Vec2::splat(0.5) };
    }

    /// Whether it is as large as fits.
    pub fn is_fit(&self) -> bool {
        self.zoom.is_none()
    }

    /// The zoom at which a picture is drawn.
    pub fn zoom(&self, picture: Vec2, canvas: Rect, density: f32) -> f32 {
        self.zoom.unwrap_or_else(|| {
            let room = (canvas.size() - Vec2::splat(2.0 * space::XL)).max(Vec2::splat(1.0)) * density;
            (room / picture.max(Vec2::splat(1.0))).min_elem().clamp(*ZOOMS.start(), *ZOOMS.end())
        })
    }

    /// Where a picture is drawn.
    pub fn place(&self, picture: Vec2, canvas: Rect, density: f32) -> Rect {
        let size = picture * self.zoom(picture, canvas, density) / density;
        Rect::from_min_size(canvas.center() - self.centre * size, size)
    }

    /// Zooms so that what is under the pointer stays there.
    pub fn zoom_around(
        &mut self,
        factor: f32,
        pointer: egui::Pos2,
        picture: Vec2,
        canvas: Rect,
        density: f32,
    ) {
        let before = self.place(picture, canvas, density);
        let under = (pointer - before.min) / before.size();
        let zoom = (self.zoom(picture, canvas, density) * factor).clamp(*ZOOMS.start(), *ZOOMS.end());
        let size = picture * zoom / density;
        self.zoom = Some(zoom);
        self.centre = under + (canvas.center() - pointer) / size;
        self.keep_in_sight();
    }

    /// Moves the picture by a distance on the screen.
    pub fn pan(&mut self, by: Vec2, picture: Vec2, canvas: Rect, density: f32) {
        let zoom = self.zoom(picture, canvas, density);
        self.zoom = Some(zoom);
        self.centre -= by / (picture * zoom / density);
        self.keep_in_sight();
    }

    fn keep_in_sight(&mut self) {
        self.centre = self.centre.clamp(Vec2::ZERO, Vec2::splat(1.0));
    }
}

/// Whether single pixels should be seen at a zoom.
pub fn shows_pixels(zoom: f32) -> bool {
    zoom > NEAREST_ABOVE
}

/// Takes the pointer's wishes for a picture of a size in. Returns where to draw it.
pub fn interact(ui: &mut Ui, view: &mut View, canvas: Rect, picture: Vec2, name: &str) -> Rect {
    let density = ui.pixels_per_point();
    let response = ui.interact(canvas, ui.scope_id().with("canvas"), Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, name));
    if response.dragged() {
        view.pan(response.drag_delta(), picture, canvas, density);
    }
    if response.double_clicked() {
        if view.is_fit() { view.actual() } else { view.fit() }
    }
    if let Some(pointer) = response.hover_pos() {
        let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
        let factor = pinch * (scroll / 400.0).exp();
        if factor != 1.0 {
            view.zoom_around(factor, pointer, picture, canvas, density);
        }
    }
    if response.dragged() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::Grabbing);
    } else if response.hovered() && !view.is_fit() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::Grab);
    }
    view.place(picture, canvas, density)
}

/// The surface under a picture that has no pixels yet, or behind one that has.
pub fn paint_sheet(ui: &Ui, canvas: Rect, place: Rect) {
    let palette = Palette::of(ui);
    let painter = ui.painter_at(canvas);
    painter.add(super::tokens::shadow(palette).as_shape(place, CornerRadius::ZERO));
    painter.rect_filled(place, CornerRadius::ZERO, palette.panel);
}

/// A picture's pixels.
pub fn paint_picture(ui: &Ui, canvas: Rect, place: Rect, texture: egui::TextureId, tint: egui::Color32) {
    let painter = ui.painter_at(canvas);
    painter.image(texture, place, Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)), tint);
    let line = Stroke::new(1.0, Palette::of(ui).line);
    painter.rect_stroke(place, CornerRadius::ZERO, line, StrokeKind::Outside);
}

/// The parts of a sheet for the pictures of a batch.
pub fn grid(place: Rect, count: usize) -> Vec<Rect> {
    let columns = (count as f32).sqrt().ceil().max(1.0) as usize;
    let rows = count.div_ceil(columns).max(1);
    let cell = vec2(place.width() / columns as f32, place.height() / rows as f32);
    // Each cell keeps the sheet's aspect, as the pictures do.
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
    const PICTURE: Vec2 = Vec2::splat(128.0);

    fn near(a: Vec2, b: Vec2) -> bool {
        (a - b).length() < 1e-2
    }

    #[test]
    fn a_picture_fits_with_room_around_it() {
        let place = View::default().place(PICTURE, CANVAS, 1.0);
        assert!(near(place.center().to_vec2(), CANVAS.center().to_vec2()));
        assert!((place.height() - (600.0 - 2.0 * space::XL)).abs() < 1e-3);
        let dense = View::default().place(PICTURE, CANVAS, 2.0);
        assert!(near(dense.size(), place.size()));
    }

    #[test]
    fn at_100_percent_a_picture_pixel_is_a_screen_pixel() {
        let mut view = View::default();
        view.actual();
        assert!(near(view.place(PICTURE, CANVAS, 2.0).size(), PICTURE / 2.0));
        assert!(!shows_pixels(view.zoom(PICTURE, CANVAS, 2.0)));
    }

    #[test]
    fn what_is_under_the_pointer_stays_there() {
        let mut view = View::default();
        let pointer = pos2(430.0, 300.0);
        let before = view.place(PICTURE, CANVAS, 1.5);
        let under = (pointer - before.min) / before.size();
        for factor in [1.3, 2.0, 0.7] {
            view.zoom_around(factor, pointer, PICTURE, CANVAS, 1.5);
            let after = view.place(PICTURE, CANVAS, 1.5);
            assert!(near((pointer - after.min) / after.size(), under));
        }
    }

    #[test]
    fn a_drag_moves_the_picture_and_never_out_of_sight() {
        let mut view = View::default();
        let before = view.place(PICTURE, CANVAS, 1.0);
        view.pan(vec2(30.0, -12.0), PICTURE, CANVAS, 1.0);
        let after = view.place(PICTURE, CANVAS, 1.0);
        assert!(near(after.min - before.min, vec2(30.0, -12.0)));
        view.pan(vec2(1e6, 1e6), PICTURE, CANVAS, 1.0);
        assert!(view.place(PICTURE, CANVAS, 1.0).min.x <= CANVAS.center().x + 1e-2);
    }

    #[test]
    fn the_pictures_of_a_batch_share_the_sheet() {
        let place = Rect::from_min_size(pos2(0.0, 0.0), vec2(300.0, 200.0));
        assert_eq!(grid(place, 1), [place]);
        let four = grid(place, 4);
        assert_eq!(four.len(), 4);
        assert!(four.iter().all(|cell| place.contains_rect(*cell)));
        assert_eq!(grid(place, 3).len(), 3);
    }
}
