//! What the secondary mouse button offers in a text field.

use egui::{
    Response, ViewportCommand,
    text::{CCursor, CCursorRange},
    text_edit::TextEditState,
};

use super::row_button;
use crate::{
    language::tr,
    window::{icons, tokens::size},
};

/// Adds the menu to a field with so many characters.
pub fn edit_menu(field: &Response, length: usize) {
    field.context_menu(|ui| {
        ui.set_width(size::MENU);
        // The field has the focus when the command comes to it.
        let chosen = |ui: &egui::Ui| ui.memory_mut(|memory| memory.request_focus(field.id));
        for (icon, name, command) in [
            (icons::SCISSORS, tr!("common-edit-cut"), ViewportCommand::RequestCut),
            (icons::COPY, tr!("common-edit-copy"), ViewportCommand::RequestCopy),
            (icons::FILE, tr!("common-edit-paste"), ViewportCommand::RequestPaste),
        ] {
            if row_button(ui, icon, &name, "", false).clicked() {
                chosen(ui);
                ui.ctx().send_viewport_cmd(command);
                ui.close();
            }
        }
        if row_button(ui, icons::MOVE_HORIZONTAL, &tr!("common-edit-all"), "", false).clicked() {
            chosen(ui);
            let mut state = TextEditState::load(ui.ctx(), field.id).unwrap_or_default();
            state.cursor.set_char_range(Some(CCursorRange::two(CCursor::new(0), CCursor::new(length))));
            state.store(ui.ctx(), field.id);
            ui.close();
        }
    });
}
