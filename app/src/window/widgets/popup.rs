//! Popups.

use egui::{Frame, Margin, Ui};

use crate::window::tokens::space;

/// The frame of a popup with rows.
pub fn popup_frame(ui: &Ui) -> Frame {
    Frame::popup(ui.style()).inner_margin(Margin::same(space::S as i8))
}
