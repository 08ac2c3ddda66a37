//! Shared code of the panel's sections.

use egui::Ui;
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

/// The space between groups.
pub fn gap(ui: &mut Ui) {
    ui.add_space(space::XS + 2.0);
}

/// An error as a full sentence.
pub fn sentence(error: &RequestError) -> String {
    sentences::sentence(&error.to_string())
}
