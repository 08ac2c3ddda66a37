//! The sheet of keys, opened with F1.

use egui::{Context, Frame, Grid, Id, Margin, Modal, RichText, Ui};

use super::{
    action::Action,
    tokens::{Palette, font, space},
    widgets::{self, Weight},
};

/// Keys and what they do, as in `docs/shortcuts.md`.
const KEYS: [(&str, &str); 22] = [
    ("Ctrl+Enter", "Generate"),
    ("Ctrl+M", "Models"),
    ("Ctrl+Comma", "Settings"),
    ("Esc", "Leave a field, close what is open, or cancel the running image"),
    ("← →", "Previous or next image; of a clip, frame"),
    ("↑ ↓", "Previous or next image or clip in the list"),
    ("Space", "Play or pause the clip"),
    ("Home, End", "First or last frame that is played"),
    ("I, O", "Play from this frame on, or up to it"),
    ("M", "Mute the clip"),
    ("C", "Compare with another image or clip"),
    ("G", "Open or close the gallery"),
    ("S, Del, Ctrl+E", "In the gallery: star, move to the trash, export"),
    ("Ctrl+↑, Ctrl+↓", "In the prompt: more or less weight for the words at the cursor"),
    ("Ctrl+Z", "Take back an edit of a text, or a stroke of a mask"),
    ("Ctrl+V", "Use the image on the clipboard"),
    ("[ ]", "Smaller or larger brush"),
    ("Ctrl+Plus, Ctrl+Minus", "Larger or smaller window contents"),
    ("Tab, Shift+Tab", "Next or previous control"),
    ("Wheel, drag, double-click", "On the image: zoom, move, switch between fit and 100%"),
    ("F11", "Full screen"),
    ("F1", "This list"),
];

/// Draws it over the window.
pub fn show(ctx: &Context, actions: &mut Vec<Action>) {
    let modal = Modal::new(Id::unique("sluice help")).show(ctx, |ui| {
        Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| sheet(ui, actions))
    });
    if modal.backdrop_response.clicked() {
        actions.push(Action::ShowHelp(false));
    }
}

fn sheet(ui: &mut Ui, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    ui.label(RichText::new("Shortcuts").font(font::semibold(font::HEADING)).color(palette.text));
    ui.add_space(space::S);
    Grid::new("keys").num_columns(2).spacing([space::XL, space::XS]).show(ui, |ui| {
        for (keys, words) in KEYS {
            ui.label(RichText::new(keys).font(font::medium(font::BODY)).color(palette.text));
            ui.label(RichText::new(words).color(palette.text_muted));
            ui.end_row();
        }
    });
    ui.add_space(space::M);
    if widgets::button(ui, None, "Close", Weight::Plain).clicked() {
        actions.push(Action::ShowHelp(false));
    }
}
