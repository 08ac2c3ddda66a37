//! Shared code of the panel's sections.

use egui::{Rect, Ui};
use sluice_engine::request::RequestError;

use crate::window::{
    action::Action,
    sentences,
    state::{Draft, State},
    tokens::space,
};

/// The data that the sections of the panel read and change.
pub struct Parts<'a> {
    /// The state of the window.
    pub state: &'a State,
    /// The error in the settings, if any.
    pub mistake: Option<&'a RequestError>,
    /// The settings as they will be after this frame.
    pub draft: &'a mut Draft,
    /// The collected actions.
    pub actions: &'a mut Vec<Action>,
}

/// Something in the panel that was just added and is scrolled to. That takes some frames, in which what is around it finds its
/// size.
#[derive(Debug, Clone, Copy, Default)]
pub struct Added(u8);

impl Added {
    const FRAMES: u8 = 5;

    /// It was added.
    pub fn set(&mut self) {
        self.0 = Self::FRAMES;
    }

    /// Scrolls to it, if it was just added. It is drawn where that leads in the frame after the next one: asked in each frame,
    /// the panel would go twice as far.
    pub fn see(&mut self, ui: &Ui, drawn: Rect) {
        if self.0 == 0 {
            return;
        }
        if self.0 % 2 == 1 {
            ui.scroll_to_rect(drawn, None);
        }
        self.0 -= 1;
        ui.ctx().request_repaint();
    }
}

/// The space between groups.
pub fn gap(ui: &mut Ui) {
    ui.add_space(space::XS + 2.0);
}

/// A mistake in the settings as a full sentence; that a file cannot be used at all comes before what it lacks.
pub fn lack(state: &State, mistake: &RequestError) -> String {
    state.refusal_before_image(mistake).map_or_else(|| sentence(mistake), sentences::sentence)
}

/// An error as a full sentence.
pub fn sentence(error: &RequestError) -> String {
    sentences::sentence(&error.to_string())
}
