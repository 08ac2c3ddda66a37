//! Global keyboard shortcuts.

use egui::{Event, Key, KeyboardShortcut, Modifiers, Ui};

use super::{
    action::Action,
    state::{Shown, State},
};

/// Queues a job.
pub const GENERATE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter);

/// Collects the actions of this frame's keys. `popup_was_open` is whether Escape has a popup to close first.
pub fn pressed(ui: &Ui, state: &State, popup_was_open: bool, actions: &mut Vec<Action>) {
    let ctx = ui.ctx();
    // A key that is held down must not fill the queue, and no text field may see it.
    ctx.input_mut(|input| {
        input.events.retain(|event| match event {
            Event::Key { key, pressed: true, repeat, modifiers, .. }
                if *key == GENERATE.logical_key && modifiers.matches_logically(GENERATE.modifiers) =>
            {
                if !repeat {
                    actions.push(Action::Generate);
                }
                false
            }
            _ => true,
        });
    });
    // Escape closes popups before it cancels jobs.
    if !popup_was_open && ctx.input(|input| input.key_pressed(Key::Escape)) {
        actions.push(Action::CancelRunning);
    }
    if ctx.memory(|memory| memory.focused().is_none())
        && let Shown::Recent(id) = state.images.shown
    {
        for (key, step) in [(Key::ArrowLeft, -1), (Key::ArrowRight, 1)] {
            if ctx.input(|input| input.key_pressed(key))
                && let Some(next) = state.images.recents.neighbour(id, step)
            {
                actions.push(Action::Show(Shown::Recent(next)));
            }
        }
    }
}
