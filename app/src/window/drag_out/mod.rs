//! Carries files out of the window with the pointer: to a file manager, a browser or a chat.
//!
//! Inside the window this is egui's drag and drop, whose payload is [`Carried`]. Beyond it the system goes on: `x11` over a
//! connection of its own, and `system` through the crate `drag`. winit cannot start a drag, so there is none on Wayland.

#[cfg(any(target_os = "macos", windows))]
mod system;
#[cfg(target_os = "linux")]
mod x11;

use std::path::PathBuf;

use egui::{
    Area, Context, DragAndDrop, Event, FontId, Frame, Id, Margin, Order, PointerButton, RawInput, Response,
    Stroke, vec2,
};
use raw_window_handle::HasWindowHandle;

use super::{
    icons,
    state::file_name,
    tokens::{Palette, font, radius, shadow, space},
    widgets,
};
use crate::language::tr;

#[cfg(any(target_os = "macos", windows))]
use system::Drag;
#[cfg(target_os = "linux")]
use x11::Drag;

/// How far the pointer moves with the button held before it carries something.
const START: f32 = 6.0;
/// Where the words are from the tip of the pointer, and how wide they may be.
const BESIDE: egui::Vec2 = vec2(14.0, 12.0);
const WIDEST: f32 = 220.0;

/// Files that the pointer carries: the payload of egui's drag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried(pub Vec<PathBuf>);

/// Whether files can leave a window.
pub fn is_possible(window: &impl HasWindowHandle) -> bool {
    Drag::is_possible(window)
}

/// Lets the pointer carry files once it has dragged a widget far enough. Returns whether it has just begun.
pub fn carry(response: &Response, files: impl FnOnce() -> Vec<PathBuf>) -> bool {
    let ctx = &response.ctx;
    if !response.dragged_by(PointerButton::Primary) || DragAndDrop::has_any_payload(ctx) {
        return false;
    }
    let moved = ctx.input(|input| {
        let (here, from) = (input.pointer.latest_pos()?, input.pointer.press_origin()?);
        Some((here - from).length())
    });
    if moved.is_none_or(|moved| moved < START) {
        return false;
    }
    let files = files();
    if files.is_empty() {
        return false;
    }
    DragAndDrop::set_payload(ctx, Carried(files));
    true
}

/// Whether the pointer carries files.
pub fn is_carrying(ctx: &Context) -> bool {
    DragAndDrop::has_payload_of_type::<Carried>(ctx)
}

/// What the pointer carries, and how it goes on outside the window.
#[derive(Default)]
pub struct DragOut {
    files: Vec<PathBuf>,
    drag: Option<Drag>,
}

impl DragOut {
    /// What is carried.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Notices that a drag has ended: the button was released, or Escape was pressed.
    pub fn follow(&mut self, ctx: &Context) {
        if self.files.is_empty() || is_carrying(ctx) {
            return;
        }
        // The button is still held, so it was Escape. The same drag does not begin again.
        if ctx.input(|input| input.pointer.primary_down()) {
            ctx.stop_dragging();
            if let Some(drag) = &self.drag {
                drag.cancel();
            }
        }
        (self.files, self.drag) = (Vec::new(), None);
    }

    /// Takes note of what is carried, and says it beside the pointer.
    pub fn show(&mut self, ctx: &Context) {
        let Some(carried) = DragAndDrop::payload::<Carried>(ctx) else { return };
        if self.files.is_empty() {
            self.files.clone_from(&carried.0);
        }
        ctx.set_cursor_icon(egui::CursorIcon::Grabbing);
        let Some(pointer) = ctx.input(|input| input.pointer.latest_pos()) else { return };
        let area = Area::new(Id::unique("carried files")).order(Order::Tooltip).interactable(false);
        area.fixed_pos(pointer + BESIDE).constrain(false).show(ctx, |ui| {
            let palette = Palette::of(ui);
            let frame = Frame::new()
                .fill(palette.panel)
                .stroke(Stroke::new(1.0, palette.line_strong))
                .corner_radius(radius::M)
                .shadow(shadow(palette))
                .inner_margin(Margin::symmetric(space::S as i8, space::XS as i8));
            frame.show(ui, |ui| {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = space::S;
                    widgets::icon(ui, icons::FILE, font::ICON, palette.text_muted);
                    let words = match carried.0.as_slice() {
                        [one] => file_name(one),
                        all => tr!("files-carried", count = all.len()),
                    };
                    let font = FontId::proportional(font::SMALL);
                    ui.label(widgets::elided(ui, &words, font, palette.text, WIDEST));
                });
            });
        });
    }

    /// Lets the system take over, once it has to.
    pub fn go_on(&mut self, ctx: &Context, window: &impl HasWindowHandle) {
        if self.drag.is_some() || self.files.is_empty() || !is_carrying(ctx) {
            return;
        }
        let leaves = ctx.input(|input| {
            let area = input.content_rect();
            input.pointer.latest_pos().is_none_or(|pointer| !area.contains(pointer))
        });
        if leaves || Drag::BEGINS_INSIDE {
            self.drag = Drag::start(ctx, window, &self.files);
        }
    }

    /// Whether the system has taken over, so that what is dropped on the window comes from itself.
    pub fn is_of_system(&self) -> bool {
        self.drag.is_some() && !Drag::BEGINS_INSIDE
    }

    /// Gives egui the release of the button that it did not see, because the system had taken over.
    pub fn release(&mut self, input: &mut RawInput, ctx: &Context) {
        if !self.drag.as_ref().is_some_and(Drag::has_swallowed_release) {
            return;
        }
        self.drag = None;
        DragAndDrop::clear_payload(ctx);
        let (pos, modifiers) = ctx.input(|input| (input.pointer.latest_pos(), input.modifiers));
        if let Some(pos) = pos {
            let button = PointerButton::Primary;
            input.events.push(Event::PointerButton { pos, button, pressed: false, modifiers });
        }
    }
}

/// Elsewhere nothing leaves the window.
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
struct Drag;

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
impl Drag {
    const BEGINS_INSIDE: bool = true;

    fn is_possible(_: &impl HasWindowHandle) -> bool {
        false
    }

    fn start(_: &Context, _: &impl HasWindowHandle, _: &[PathBuf]) -> Option<Self> {
        None
    }

    fn cancel(&self) {}

    fn has_swallowed_release(&self) -> bool {
        false
    }
}
