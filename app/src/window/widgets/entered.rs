//! The key of a main button.

use egui::{Key, Ui};

/// Whether Enter means the main button of a dialog: nothing in it has the focus, and no list is open.
pub fn is_entered(ui: &Ui) -> bool {
    !ui.ctx().any_popup_open()
        && ui.memory(|memory| memory.focused().is_none())
        && ui.input(|input| input.key_pressed(Key::Enter) && input.modifiers.is_none())
}
