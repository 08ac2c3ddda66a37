//! Outpainting: a frame around the input image, whose edges are dragged, and the same as numbers.

use egui::{
    Align, CursorIcon, DragValue, Id, Layout, Rect, RichText, Role, Sense, Stroke, StrokeKind, TextureId, Ui,
    Vec2, WidgetInfo, pos2, vec2,
};
use sluice_engine::request::{Outpaint, Request, SourceImage};

use super::parts::Added;
use crate::{
    language::tr,
    window::{
        tokens::{Palette, radius, size, space},
        widgets,
    },
};

/// Height of the frame's area.
const HEIGHT: f32 = 168.0;
/// Width of the number of an edge.
const FIELD: f32 = 72.0;
/// Width of the stretch along an edge that takes the pointer.
const GRIP: f32 = 12.0;
/// The part of the image's longest side that is added at first.
const FIRST: f32 = 0.25;
/// The part of it that is free around the frame.
const FREE: f32 = 0.3;
/// An image with at most as many times the pixels that a model usually generates keeps its size.
const KEEPS_SIZE: f64 = 2.0;

/// An edge of the frame, in the order of [`Outpaint::sides`].
#[derive(Debug, Clone, Copy, PartialEq)]
enum Edge {
    Left,
    Top,
    Right,
    Bottom,
}

impl Edge {
    const ALL: [Self; 4] = [Self::Left, Self::Top, Self::Right, Self::Bottom];

    fn name(self) -> String {
        match self {
            Self::Left => tr!("side-panel-outpaint-left"),
            Self::Top => tr!("side-panel-outpaint-top"),
            Self::Right => tr!("side-panel-outpaint-right"),
            Self::Bottom => tr!("side-panel-outpaint-bottom"),
        }
    }

    fn side(self, outpaint: &mut Outpaint) -> &mut u32 {
        match self {
            Self::Left => &mut outpaint.left,
            Self::Top => &mut outpaint.top,
            Self::Right => &mut outpaint.right,
            Self::Bottom => &mut outpaint.bottom,
        }
    }

    /// How far the pointer has moved outwards.
    fn outwards(self, moved: Vec2) -> f32 {
        match self {
            Self::Left => -moved.x,
            Self::Top => -moved.y,
            Self::Right => moved.x,
            Self::Bottom => moved.y,
        }
    }

    fn grip(self, frame: Rect) -> Rect {
        let (a, b) = match self {
            Self::Left => (frame.left_top(), frame.left_bottom()),
            Self::Top => (frame.left_top(), frame.right_top()),
            Self::Right => (frame.right_top(), frame.right_bottom()),
            Self::Bottom => (frame.left_bottom(), frame.right_bottom()),
        };
        Rect::from_two_pos(a, b).expand(GRIP / 2.0)
    }

    fn cursor(self) -> CursorIcon {
        match self {
            Self::Left | Self::Right => CursorIcon::ResizeHorizontal,
            Self::Top | Self::Bottom => CursorIcon::ResizeVertical,
        }
    }
}

/// What is dragged: the pixels that were added when the drag began, the size of the result then, and the scale, which stays
/// until it ends.
#[derive(Debug, Clone, Copy)]
struct Drag {
    before: u32,
    result: [u32; 2],
    scale: f32,
}

fn drag_id() -> Id {
    Id::unique("sluice outpaint")
}

/// The size of the result when the drag of an edge began, while it is dragged. What is above the frame is drawn for this
/// size, so that the frame stays under the pointer.
pub fn size_before_drag(ui: &Ui) -> Option<[u32; 2]> {
    let drag = ui.data(|data| data.get_temp::<Drag>(drag_id()));
    drag.filter(|_| ui.input(|input| input.pointer.any_down())).map(|drag| drag.result)
}

/// What sizes of a model follow.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Sides of the result are multiples of this; what is dragged has this step, too.
    pub multiple: u32,
    /// Pixels of the image that it generates by default.
    pub usual: f64,
}

impl Sizes {
    /// The step nearest to a number of pixels, of those that can be added.
    fn stepped(self, pixels: f32) -> u32 {
        let step = self.multiple.max(1);
        (pixels.max(0.0) / step as f32).round().min((Outpaint::MOST / step) as f32) as u32 * step
    }
}

/// Draws the switch and, if it is on, the frame. The size of the result follows what is added.
pub fn show(ui: &mut Ui, request: &mut Request, image: (TextureId, [usize; 2]), sizes: Sizes) {
    let Some(source) = &mut request.source else { return };
    let own = image.1.map(|side| side as u32);
    let before = source.outpaint;
    let mut is_on = !before.is_empty();
    let switch = ui.checkbox(&mut is_on, RichText::new(tr!("side-panel-outpaint")).small());
    let switch = switch.on_hover_text(tr!("side-panel-outpaint-tip"));
    let id = Id::unique("sluice outpaint added");
    let mut added: Added = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    if switch.changed() {
        switch_to(source, is_on, own, sizes);
        added.set();
    }
    if is_on {
        frame(ui, &mut source.outpaint, image, ([request.width, request.height], sizes));
        numbers(ui, &mut source.outpaint, sizes);
        widgets::slider_row(
            ui,
            &tr!("side-panel-outpaint-feather"),
            &mut source.outpaint.feather,
            0..=128,
            0..=Outpaint::MOST,
            1.0,
        )
        .on_hover_text(tr!("side-panel-outpaint-feather-tip"));
        added.see(ui, widgets::in_sight(switch.rect, ui.min_rect().bottom()));
    } else {
        added = Added::default();
    }
    ui.data_mut(|data| data.insert_temp(id, added));
    if source.outpaint.sides() != before.sides() {
        let [width, height] = result(own, &source.outpaint, sizes);
        (request.width, request.height) = (width, height);
    }
}

fn switch_to(source: &mut SourceImage, is_on: bool, own: [u32; 2], sizes: Sizes) {
    if is_on {
        let added = own[0].max(own[1]) as f32 * FIRST;
        source.outpaint.right = sizes.stepped(added).max(sizes.multiple);
        // What is added has nothing in common with the edges that stand in for it.
        source.strength = 1.0;
    } else {
        source.outpaint = Outpaint::default();
    }
}

/// The size of the result for an image of `own` width and height: its own pixels, or as many as are usual if it is large.
fn result(own: [u32; 2], outpaint: &Outpaint, sizes: Sizes) -> [u32; 2] {
    let pixels = f64::from(own[0]) * f64::from(own[1]);
    let scale = if pixels <= KEEPS_SIZE * sizes.usual { 1.0 } else { (sizes.usual / pixels).sqrt() };
    outpaint.extended(own).map(|side| {
        let multiple = sizes.multiple.max(1);
        ((f64::from(side) * scale / f64::from(multiple)).round() as u32).max(1) * multiple
    })
}

fn frame(
    ui: &mut Ui,
    outpaint: &mut Outpaint,
    (texture, own): (TextureId, [usize; 2]),
    (result, sizes): ([u32; 2], Sizes),
) {
    let palette = Palette::of(ui);
    let (area, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Canvas, true, tr!("side-panel-outpaint-frame")));
    let image = vec2(own[0] as f32, own[1] as f32);
    let id = drag_id();
    let dragged = ui.data(|data| data.get_temp::<Drag>(id));
    let free = image.max_elem() * FREE;
    let whole = Outpaint::extended(outpaint, own.map(|side| side as u32)).map(|side| side as f32);
    let fits = (area.width() / (whole[0] + 2.0 * free)).min(area.height() / (whole[1] + 2.0 * free));
    let scale = dragged.map_or(fits, |drag| drag.scale);
    let frame = Rect::from_center_size(area.center(), vec2(whole[0], whole[1]) * scale);
    let at = frame.min + vec2(outpaint.left as f32, outpaint.top as f32) * scale;
    let inner = Rect::from_min_size(at, image * scale);
    let painter = ui.painter_at(area);
    painter.rect_filled(area, radius::M, palette.field);
    painter.rect_filled(frame, 0.0, palette.accent_soft);
    let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
    painter.image(texture, inner, uv, egui::Color32::WHITE);
    painter.rect_stroke(frame, 0.0, Stroke::new(1.5, palette.accent), StrokeKind::Outside);
    let mut held = false;
    for edge in Edge::ALL {
        let grip = edge.grip(frame).intersect(area);
        let response = ui.interact(grip, id.with(edge as u8), Sense::drag()).on_hover_cursor(edge.cursor());
        let name = edge.name();
        response.widget_info(|| {
            WidgetInfo::labeled(Role::Slider, true, tr!("side-panel-outpaint-edge", edge = &name))
        });
        let side = edge.side(outpaint);
        if response.drag_started() {
            ui.data_mut(|data| data.insert_temp(id, Drag { before: *side, result, scale }));
        }
        if let Some(drag) = ui.data(|data| data.get_temp::<Drag>(id)).filter(|_| response.dragged()) {
            held = true;
            // The frame stays in the middle, so an edge moves by half of what is added.
            let moved = 2.0 * edge.outwards(response.total_drag_delta().unwrap_or_default()) / drag.scale;
            *side = sizes.stepped(drag.before as f32 + moved);
        }
        response.on_hover_text(tr!("side-panel-outpaint-edge-tip"));
    }
    if !held {
        ui.data_mut(|data| data.remove::<Drag>(id));
    }
}

fn numbers(ui: &mut Ui, outpaint: &mut Outpaint, sizes: Sizes) {
    for pair in Edge::ALL.chunks(2) {
        ui.columns(2, |columns| {
            for (ui, edge) in columns.iter_mut().zip(pair) {
                ui.horizontal(|ui| {
                    let label = widgets::field_label(ui, &edge.name());
                    let field = DragValue::new(edge.side(outpaint))
                        .range(0..=Outpaint::MOST)
                        .speed(f64::from(sizes.multiple))
                        .suffix(" px");
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        ui.add_sized(vec2(FIELD, size::CONTROL - space::XS), field)
                            .labelled_by(label.id)
                            .on_hover_text(tr!("side-panel-outpaint-side-tip"));
                    });
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: Sizes = Sizes { multiple: 16, usual: 1024.0 * 1024.0 };

    #[test]
    fn an_image_of_usual_size_keeps_its_pixels() {
        let outpaint = Outpaint { right: 256, ..Outpaint::default() };
        assert_eq!(result([1024, 1024], &outpaint, SIZES), [1280, 1024]);
        assert_eq!(result([1216, 832], &Outpaint { top: 64, ..outpaint }, SIZES), [1472, 896]);
    }

    #[test]
    fn no_step_is_beyond_what_can_be_added() {
        let sizes = Sizes { multiple: 96, ..SIZES };
        assert_eq!([-5.0, 47.0, 49.0, 1e9].map(|pixels| sizes.stepped(pixels)), [0, 0, 96, 4032]);
    }

    #[test]
    fn a_photo_is_scaled_down_to_what_the_model_generates() {
        let outpaint = Outpaint { left: 1000, right: 1000, ..Outpaint::default() };
        let [width, height] = result([4000, 3000], &outpaint, SIZES);
        assert_eq!([width % 16, height % 16], [0, 0]);
        assert!((0.9..1.1).contains(&(f64::from(width) * f64::from(height) / (1.5 * SIZES.usual))));
    }
}
