//! Compares two images or clips: with a divider between them, or side by side. Zoom and place are the same for both,
//! and clips have one playhead.

use egui::{
    Align2, Color32, CornerRadius, CursorIcon, FontId, Key, Pos2, Rect, Sense, Stroke, Ui, UiBuilder, Vec2,
    WidgetInfo, pos2, vec2,
};

use super::{
    canvas::{self, View},
    player::repaint_at_next_frame,
};
use crate::{
    language::tr,
    window::{
        action::Action,
        icons,
        state::{Control, Pixels, Recent, State},
        textures::{Side, Textures},
        tokens::{Palette, font, radius, space},
        widgets,
    },
};

/// The view state of a comparison; not saved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Whether the images are next to each other.
    pub is_side_by_side: bool,
    /// Where the divider is, as a share of the image's width.
    divider: f32,
}

impl Default for Comparison {
    fn default() -> Self {
        Self { is_side_by_side: false, divider: 0.5 }
    }
}

impl Comparison {
    /// The part of the canvas for the shown image.
    pub fn room(self, area: Rect) -> Rect {
        if self.is_side_by_side { area.with_max_x(area.center().x) } else { area }
    }
}

/// How far an arrow key moves the divider, as a share of the image's width.
const KEY_STEP: f32 = 0.02;

/// What is compared: the shown image and another one.
pub type Pair<'a> = (&'a Recent, &'a Recent);

/// Draws both. A click plays or pauses clips.
pub fn canvas(
    ui: &mut Ui,
    view: &mut View,
    comparison: &mut Comparison,
    textures: &mut Textures,
    (state, (a, b), now): (&State, Pair<'_>, f64),
    actions: &mut Vec<Action>,
) {
    let area = ui.max_rect();
    let shape = shape(a);
    let left = comparison.room(area);
    let right = if comparison.is_side_by_side { area.with_min_x(area.center().x) } else { area };
    let (place, mut is_clicked) = interact(ui, view, left, shape, ("A", &a.name()));
    let mut other = place;
    if comparison.is_side_by_side {
        let (place, clicked) = interact(ui, view, right, shape, ("B", &b.name()));
        other = place;
        is_clicked |= clicked;
    }
    if is_clicked && state.player.current().is_some() {
        actions.push(Action::Play(Control::Toggle));
    }
    let is_magnified = canvas::shows_pixels(view.zoom(shape, left, ui.pixels_per_point()));
    let mut paint = |ui: &Ui, clip: Rect, place: Rect, side: Side, recent: &Recent| {
        let texture = match &recent.pixels {
            Some(Pixels::Image(image)) => textures.shown(ui.ctx(), side, recent.id, image, is_magnified),
            Some(Pixels::Clip(frames)) => {
                let frame = state.frame_of(recent.id, frames, now);
                match textures.frame(ui.ctx(), side, (recent.id, frames), frame, is_magnified) {
                    Some(texture) => texture,
                    None => return,
                }
            }
            None => textures.thumbnail(ui.ctx(), recent.id, &recent.thumbnail),
        };
        canvas::paint_image(ui, clip, place, texture, Color32::WHITE);
    };
    let fitted = fit(self::shape(b), other);
    if comparison.is_side_by_side {
        canvas::paint_sheet(ui, left, place);
        paint(ui, left, place, Side::A, a);
        canvas::paint_sheet(ui, right, fitted);
        paint(ui, right, fitted, Side::B, b);
        ui.painter().vline(area.center().x, area.y_range(), Stroke::new(1.0, Palette::of(ui).line_strong));
    } else {
        canvas::paint_sheet(ui, area, place);
        let x = divider(ui, area, place, &mut comparison.divider);
        paint(ui, area.with_max_x(x), place, Side::A, a);
        paint(ui, area.with_min_x(x), fitted, Side::B, b);
        paint_divider(ui, area, x);
    }
    label(ui, left.left_top(), Align2::LEFT_TOP, "A", &a.name(), area.width() / 2.0);
    label(ui, right.right_top(), Align2::RIGHT_TOP, "B", &b.name(), area.width() / 2.0);
    if let Some((_, playback)) = state.player.current() {
        repaint_at_next_frame(ui.ctx(), playback, now);
    }
}

fn shape(recent: &Recent) -> Vec2 {
    let [width, height] = recent.size();
    vec2(width as f32, height as f32)
}

/// Zooms and pans within a part of the canvas. Returns the place of the image, and whether it was clicked.
fn interact(
    ui: &mut Ui,
    view: &mut View,
    part: Rect,
    shape: Vec2,
    (side, name): (&str, &str),
) -> (Rect, bool) {
    let builder = UiBuilder::new().max_rect(part).id_salt(side);
    let (place, response) =
        ui.scope_builder(builder, |ui| canvas::interact(ui, view, part, shape, (name, None))).inner;
    (place, response.clicked())
}

/// The largest rectangle of an image's aspect ratio in another one.
fn fit(shape: Vec2, place: Rect) -> Rect {
    let scale = (place.size() / shape.max(Vec2::splat(1.0))).min_elem();
    Rect::from_center_size(place.center(), shape * scale)
}

/// Moves the divider with the pointer or the keyboard. Returns where it is.
fn divider(ui: &Ui, area: Rect, place: Rect, share: &mut f32) -> f32 {
    let x_of = |share: f32| (place.left() + share * place.width()).clamp(area.left(), area.right());
    let grip = Rect::from_x_y_ranges(x_of(*share) - 8.0..=x_of(*share) + 8.0, area.y_range());
    let response = ui.interact(grip, ui.scope_id().with("divider"), Sense::drag() | Sense::FOCUSABLE);
    response.widget_info(|| WidgetInfo::slider(ui.is_enabled(), f64::from(*share), tr!("viewer-divider")));
    if let Some(pointer) = response.interact_pointer_pos().filter(|_| response.dragged()) {
        *share = ((pointer.x - place.left()) / place.width().max(1.0)).clamp(0.0, 1.0);
    }
    if response.has_focus() {
        let arrows = egui::EventFilter { horizontal_arrows: true, ..egui::EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
        let presses = |key| ui.input(|input| input.num_presses(key)) as f32;
        let steps = presses(Key::ArrowRight) - presses(Key::ArrowLeft);
        *share = (*share + steps * KEY_STEP).clamp(0.0, 1.0);
    }
    let tip = tr!("viewer-divider-tip");
    response.on_hover_cursor(CursorIcon::ResizeHorizontal).on_hover_text(tip);
    x_of(*share)
}

fn paint_divider(ui: &Ui, area: Rect, x: f32) {
    let palette = Palette::of(ui);
    let painter = ui.painter_at(area);
    painter.vline(x, area.y_range(), Stroke::new(3.0, Color32::from_black_alpha(90)));
    painter.vline(x, area.y_range(), Stroke::new(1.5, Color32::WHITE));
    let knob = pos2(x, area.center().y);
    painter.circle(knob, 13.0, palette.panel, Stroke::new(1.5, palette.line_strong));
    painter.text(
        knob,
        Align2::CENTER_CENTER,
        icons::MOVE_HORIZONTAL,
        font::icons(font::ICON - 2.0),
        palette.text,
    );
}

/// The name of a side in its upper corner.
fn label(ui: &Ui, corner: Pos2, align: Align2, side: &str, name: &str, width: f32) {
    let words = widgets::elided(
        ui,
        &format!("{side} · {name}"),
        FontId::proportional(font::SMALL),
        Color32::WHITE,
        width - 6.0 * space::M,
    );
    let inside = if align == Align2::LEFT_TOP { 1.0 } else { -1.0 };
    let size = words.size() + vec2(2.0 * space::S, 2.0 * space::XS);
    let rect = align.anchor_size(corner + vec2(inside * space::M, space::M), size);
    ui.painter().rect_filled(rect, CornerRadius::same(radius::S), Color32::from_black_alpha(170));
    ui.painter().galley(rect.min + vec2(space::S, space::XS), words, Color32::WHITE);
}
