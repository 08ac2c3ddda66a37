//! Shows the control that keys have given the focus: it is scrolled into view, and has a ring around it.

use egui::{
    Event, Id, Key, Response, Stroke, StrokeKind, Ui,
    accesskit::{Action, ActionRequest, TreeId},
};

use super::tokens::{Palette, radius};

/// Keys that move the focus.
const KEYS: [Key; 5] = [Key::Tab, Key::ArrowUp, Key::ArrowDown, Key::ArrowLeft, Key::ArrowRight];
/// Widths of the ring, and of the gap between it and the control.
pub const RING: f32 = 2.0;
const GAP: f32 = 2.0;

/// What has the focus, and how it got it.
#[derive(Debug, Default)]
pub struct FocusRing {
    focused: Option<Id>,
    /// Whether keys moved the focus since the pointer was used.
    by_keys: bool,
    /// Whether such a key was pressed in the last frame: some move the focus only in the next one.
    pressed: bool,
    /// A control out of sight that the next frame scrolls to.
    hidden: Option<Id>,
    /// The control that was last scrolled to, as long as it has the focus.
    revealed: Option<Id>,
}

impl FocusRing {
    /// Scrolls to the control that the last frame did not show. Is called before anything is drawn.
    pub fn reveal(&mut self, ui: &Ui) {
        let Some(id) = self.hidden.take() else { return };
        // egui scrolls every area that the control is in, as for screen readers.
        let request = ActionRequest {
            action: Action::ScrollIntoView,
            target_tree: TreeId::ROOT,
            target_node: id.accesskit_id(),
            data: None,
        };
        ui.input_mut(|input| input.events.push(Event::AccessKitActionRequest(request)));
    }

    /// Draws the ring. Is called when everything else is drawn.
    pub fn show(&mut self, ui: &Ui) {
        let focused = ui.memory(|memory| memory.focused());
        let (moves, points) =
            ui.input(|input| (KEYS.iter().any(|key| input.key_pressed(*key)), input.pointer.any_pressed()));
        let is_new = focused.is_some() && focused != self.focused;
        if points {
            self.by_keys = false;
        } else if is_new && (moves || self.pressed) {
            self.by_keys = true;
        }
        if is_new {
            self.revealed = None;
        }
        (self.focused, self.pressed) = (focused, moves);
        let control = focused.filter(|_| self.by_keys).and_then(|id| ui.ctx().read_response(id));
        let Some(control) = control else { return };
        if self.revealed != focused && is_cut(&control) {
            (self.hidden, self.revealed) = (focused, focused);
            ui.ctx().request_repaint();
        }
        ring(ui, &control);
    }
}

/// Whether a part of a control is out of sight.
fn is_cut(control: &Response) -> bool {
    let (whole, seen) = (control.rect.size(), control.interact_rect.size());
    seen.x + 1.0 < whole.x || seen.y + 1.0 < whole.y
}

fn ring(ui: &Ui, control: &Response) {
    let seen = control.interact_rect;
    if !seen.is_positive() {
        return;
    }
    let palette = Palette::of(ui);
    let painter = ui.ctx().layer_painter(control.layer_id);
    // The gap tells the ring from controls of its own colour.
    painter.rect_stroke(seen, radius::M, Stroke::new(GAP, palette.panel), StrokeKind::Outside);
    let around = seen.expand(GAP);
    painter.rect_stroke(
        around,
        radius::M + GAP as u8,
        Stroke::new(RING, palette.accent),
        StrokeKind::Outside,
    );
}
