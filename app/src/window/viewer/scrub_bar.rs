//! The scrub bar: where the clip is, and which part of it is played.

use egui::{
    CornerRadius, CursorIcon, EventFilter, Id, Key, Pos2, Rect, Response, Sense, Shape, Stroke, Ui,
    WidgetInfo,
    accesskit::{Action, ActionData},
    pos2, vec2,
};

use super::player::clock;
use crate::{
    language::tr,
    window::{
        state::{Control, Playback},
        tokens::{Palette, size},
    },
};

const RAIL: f32 = 4.0;
const HEAD: f32 = 6.0;
/// The height of a handle under the rail, and half its width.
const HANDLE: (f32, f32) = (9.0, 5.0);

/// Draws it in the remaining width.
pub fn show(ui: &mut Ui, playback: &Playback, frame: u32, press: &mut dyn FnMut(Control)) {
    let wanted = vec2(ui.available_width().max(4.0 * HEAD), size::CONTROL);
    let (rect, response) = ui.allocate_exact_size(wanted, Sense::click_and_drag());
    let rail = Rail::new(rect, playback.frames());
    scrub(ui, &response, rail, playback, frame, press);
    let (first, last) = playback.range();
    let start = handle(ui, rail, Edge::Start, first, (0, last));
    let end = handle(ui, rail, Edge::End, last, (first, playback.frames() - 1));
    if let Some(to) = start.to {
        press(Control::First(to));
    }
    if let Some(to) = end.to {
        press(Control::Last(to));
    }
    paint(ui, rail, playback, frame, response.has_focus());
    for (handle, frame) in [(&start, first), (&end, last)] {
        paint_handle(ui, rail, frame, handle, playback.is_trimmed());
    }
}

/// An end of the played range.
#[derive(Debug, Clone, Copy, Hash)]
enum Edge {
    Start,
    End,
}

/// The places of the frames.
#[derive(Debug, Clone, Copy)]
struct Rail {
    rect: Rect,
    last: u32,
}

impl Rail {
    fn new(rect: Rect, frames: u32) -> Self {
        Self { rect: rect.shrink2(vec2(HEAD, 0.0)), last: frames.saturating_sub(1) }
    }

    fn y(self) -> f32 {
        self.rect.center().y - 2.0
    }

    fn x(self, frame: u32) -> f32 {
        self.rect.left() + self.rect.width() * (frame as f32 / self.last.max(1) as f32)
    }

    fn frame(self, pointer: Pos2) -> u32 {
        let share = ((pointer.x - self.rect.left()) / self.rect.width()).clamp(0.0, 1.0);
        (share * self.last as f32).round() as u32
    }
}

fn scrub(
    ui: &Ui,
    response: &Response,
    rail: Rail,
    playback: &Playback,
    frame: u32,
    press: &mut dyn FnMut(Control),
) {
    response.widget_info(|| WidgetInfo::slider(ui.is_enabled(), f64::from(frame + 1), tr!("viewer-frame")));
    let held = response.is_pointer_button_down_on() || response.clicked();
    if let Some(pointer) = response.interact_pointer_pos().filter(|_| held) {
        press(Control::Scrub(rail.frame(pointer)));
    }
    if response.clicked() || response.drag_stopped() {
        press(Control::Release);
    }
    let numbers = (frame + 1, 1, playback.frames());
    if let Some(number) = moved(ui, response.id, response.has_focus(), numbers) {
        press(Control::Go(number - 1));
    }
    if let Some(pointer) = response.hover_pos().filter(|_| !held) {
        let under = rail.frame(pointer);
        let line = Stroke::new(1.0, Palette::of(ui).text_faint);
        ui.painter().vline(rail.x(under), rail.y() - 8.0..=rail.y() + 8.0, line);
        let tip = tr!("viewer-frame-at", frame = under + 1, time = clock(playback.seconds(under)));
        response.clone().on_hover_text_at_pointer(tip);
    }
}

/// What the keyboard or a screen reader wants instead of a number.
fn moved(ui: &Ui, id: Id, has_focus: bool, (number, least, most): (u32, u32, u32)) -> Option<u32> {
    ui.ctx().accesskit_node_builder(id, |node| {
        node.set_description(tr!("viewer-frame-tip"));
        node.set_min_numeric_value(f64::from(least));
        node.set_max_numeric_value(f64::from(most));
        node.set_numeric_value_step(1.0);
        for action in [Action::SetValue, Action::Increment, Action::Decrement] {
            node.add_action(action);
        }
    });
    if has_focus {
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    }
    let mut wanted = i64::from(number);
    ui.input(|input| {
        if has_focus {
            wanted += input.num_presses(Key::ArrowRight) as i64;
            wanted -= input.num_presses(Key::ArrowLeft) as i64;
        }
        wanted += input.num_accesskit_action_requests(id, Action::Increment) as i64;
        wanted -= input.num_accesskit_action_requests(id, Action::Decrement) as i64;
        for request in input.accesskit_action_requests(id, Action::SetValue) {
            if let Some(ActionData::NumericValue(value)) = request.data {
                wanted = value.round() as i64;
            }
        }
    });
    let wanted = wanted.clamp(i64::from(least), i64::from(most)) as u32;
    (wanted != number).then_some(wanted)
}

struct Handle {
    /// Where it was moved.
    to: Option<u32>,
    is_lit: bool,
}

fn handle(ui: &Ui, rail: Rail, edge: Edge, frame: u32, (least, most): (u32, u32)) -> Handle {
    let number = frame + 1;
    let (name, tip) = match edge {
        Edge::Start => (tr!("viewer-range-start"), tr!("viewer-range-start-tip", frame = number)),
        Edge::End => (tr!("viewer-range-end"), tr!("viewer-range-end-tip", frame = number)),
    };
    let top = pos2(rail.x(frame), rail.y() + RAIL);
    let rect =
        Rect::from_min_max(top - vec2(HANDLE.1 + 2.0, 0.0), top + vec2(HANDLE.1 + 2.0, HANDLE.0 + 5.0));
    let response = ui.interact(rect, ui.scope_id().with(edge), Sense::drag());
    response.widget_info(|| WidgetInfo::slider(ui.is_enabled(), f64::from(number), &name));
    let mut to = moved(ui, response.id, response.has_focus(), (frame + 1, least + 1, most + 1));
    if let Some(pointer) = response.interact_pointer_pos().filter(|_| response.dragged()) {
        let under = rail.frame(pointer).clamp(least, most);
        to = (under != frame).then_some(under + 1);
    }
    let is_lit = response.hovered() || response.dragged() || response.has_focus();
    response.on_hover_cursor(CursorIcon::ResizeHorizontal).on_hover_text(tip);
    Handle { to: to.map(|number| number - 1), is_lit }
}

fn paint(ui: &Ui, rail: Rail, playback: &Playback, frame: u32, has_focus: bool) {
    let palette = Palette::of(ui);
    let painter = ui.painter();
    let part = |from: u32, to: u32| {
        let half = RAIL / 2.0;
        Rect::from_x_y_ranges(rail.x(from)..=rail.x(to), rail.y() - half..=rail.y() + half)
    };
    let rounding = CornerRadius::same(2);
    let (first, last) = playback.range();
    painter.rect_filled(part(0, rail.last), rounding, palette.line);
    painter.rect_filled(part(first, last), rounding, palette.line_strong);
    painter.rect_filled(part(first, frame.clamp(first, last)), rounding, palette.accent);
    let head = pos2(rail.x(frame), rail.y());
    let edge = if has_focus { palette.text } else { palette.panel };
    painter.circle(head, HEAD, palette.accent, Stroke::new(1.5, edge));
}

fn paint_handle(ui: &Ui, rail: Rail, frame: u32, handle: &Handle, is_set: bool) {
    let palette = Palette::of(ui);
    let color = match (handle.is_lit, is_set) {
        (true, _) => palette.accent_hover,
        (false, true) => palette.text_muted,
        (false, false) => palette.line_strong,
    };
    let top = pos2(rail.x(frame), rail.y() + RAIL + 2.0);
    let (height, half) = HANDLE;
    let corners = vec![top, top + vec2(half, height), top + vec2(-half, height)];
    ui.painter().add(Shape::convex_polygon(corners, color, Stroke::NONE));
}
