//! Dialogs over the window.

use egui::ModalResponse;

/// Whether a click beside a dialog closes it. If a list is open, the click closes only the list.
pub fn is_clicked_beside<T>(dialog: &ModalResponse<T>) -> bool {
    dialog.backdrop_response.clicked() && !dialog.any_popup_open
}
