//! Questions over the window, one at a time.

mod folder;
mod mask;
mod preview;

use egui::{Context, Frame, Margin};

use super::{
    action::Action,
    state::State,
    tokens::{size, space},
    widgets,
};
pub use folder::{FolderQuestion, REASONS};
pub use preview::PreviewQuestion;

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// Which model gets an image as its preview.
    Preview(PreviewQuestion),
    /// Which images of a folder are used.
    Folder(Box<FolderQuestion>),
    /// What becomes of the painted mask.
    Mask,
}

impl Question {
    /// Draws it over the window.
    pub fn show(&mut self, ctx: &Context, state: &State, actions: &mut Vec<Action>) {
        let modal = widgets::dialog(ctx, "sluice question").show(ctx, |ui| {
            Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| {
                ui.set_width(size::CARD);
                ui.spacing_mut().item_spacing.y = space::S;
                match self {
                    Self::Preview(question) => question.contents(ui, actions),
                    Self::Folder(question) => question.contents(ui, state, actions),
                    Self::Mask => mask::contents(ui, actions),
                }
            });
        });
        if widgets::is_clicked_beside(&modal) {
            actions.push(Action::CloseQuestion);
        }
    }
}
