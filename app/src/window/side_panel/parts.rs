//! What the parts of the panel share.

use egui::Ui;
use sluice_engine::request::RequestError;

use crate::window::{
    action::Action,
    state::{Draft, State},
    tokens::space,
};

/// What the parts of the panel are drawn from, and what they change.
pub struct Parts<'a> {
    /// What the window knows.
    pub state: &'a State,
    /// What is wrong with the settings.
    pub mistake: Option<&'a RequestError>,
    /// The settings as they will be after this frame.
    pub draft: &'a mut Draft,
    /// What is asked for.
    pub actions: &'a mut Vec<Action>,
}

/// The distance between groups.
pub fn gap(ui: &mut Ui) {
    ui.add_space(space::XS + 2.0);
}

/// An error as a sentence of its own.
pub fn sentence(error: &RequestError) -> String {
    let text = error.to_string();
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), characters.as_str()),
        None => text,
    }
}
