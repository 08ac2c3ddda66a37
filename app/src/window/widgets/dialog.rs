//! Dialogs over the window.

use egui::{Context, Id, Modal, ModalResponse};

use crate::window::tokens;

/// A dialog in the middle of the window, which it dims.
pub fn dialog(ctx: &Context, name: &str) -> Modal {
    Modal::new(Id::unique(name)).backdrop_color(tokens::backdrop(ctx))
}

/// Whether a click beside a dialog closes it. If a list is open, the click closes only the list.
pub fn is_clicked_beside<T>(dialog: &ModalResponse<T>) -> bool {
    dialog.backdrop_response.clicked() && !dialog.any_popup_open
}
