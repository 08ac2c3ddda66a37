//! The key of a main button.

use egui::{Event, InputState, Key, Ui};

/// Whether Enter means the main button of a dialog: nothing in it has the focus, and no list is open.
pub fn is_entered(ui: &Ui) -> bool {
    !ui.ctx().any_popup_open() && ui.memory(|memory| memory.focused().is_none()) && ui.input(is_pressed)
}

/// Whether Enter was pressed, and not only held since it did something else.
fn is_pressed(input: &InputState) -> bool {
    let is_enter = |event: &Event| {
        matches!(
            event,
            Event::Key { key: Key::Enter, pressed: true, repeat: false, modifiers, .. } if modifiers.is_none()
        )
    };
    input.events.iter().any(is_enter)
}
