//! The sheet of keys, opened with F1.

use egui::{Context, Frame, Grid, Id, Margin, Modal, RichText, ScrollArea, Ui};

use super::{
    action::Action,
    commands::COMMANDS,
    tokens::{Palette, font, space},
    widgets::{self, Weight},
};

/// Keys that are no commands by themselves, as in `docs/shortcuts.md`.
const KEYS: [(&str, &str); 15] = [
    ("Esc", "Leave a field, close what is open, or cancel the running image"),
    ("← →", "Previous or next image; of a clip, frame"),
    ("↑ ↓", "Previous or next image or clip in the list"),
    ("Space", "Play or pause the clip"),
    ("Home, End", "First or last frame that is played"),
    ("I, O", "Play from this frame on, or up to it"),
    ("S, Del, Ctrl+E", "In the gallery: star, move to the trash, export"),
    ("Ctrl+↑, Ctrl+↓", "In the prompt: more or less weight for the words at the cursor"),
    ("Ctrl+Z", "Take back an edit of a text, or a stroke of a mask"),
    ("Ctrl+V", "Use the image on the clipboard"),
    ("[ ]", "Smaller or larger brush"),
    ("Ctrl+Plus, Ctrl+Minus", "Larger or smaller window contents"),
    ("Tab, Shift+Tab", "Next or previous control"),
    ("Wheel, drag, double-click", "On the image: zoom, move, switch between fit and 100%"),
    ("Right click", "On an image or a waiting job: what can be done with it"),
];

/// What the window keeps above and below the list.
const ROOM: f32 = 180.0;

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
    let of_commands = COMMANDS.iter().filter_map(|command| {
        let keys = match &command.shortcut {
            Some(shortcut) => ui.ctx().format_shortcut(shortcut),
            None => command.key.to_owned(),
        };
        (!keys.is_empty() && keys != "Esc").then_some((keys, command.name))
    });
    let keys: Vec<_> = of_commands.chain(KEYS.map(|(keys, words)| (keys.to_owned(), words))).collect();
    let height = ui.ctx().content_rect().height() - ROOM;
    ScrollArea::vertical().max_height(height).show(ui, |ui| {
        Grid::new("keys").num_columns(2).spacing([space::XL, space::XS]).show(ui, |ui| {
            for (keys, words) in keys {
                ui.label(RichText::new(keys).font(font::medium(font::BODY)).color(palette.text));
                ui.label(RichText::new(words).color(palette.text_muted));
                ui.end_row();
            }
        });
    });
    ui.add_space(space::M);
    if widgets::button(ui, None, "Close", Weight::Plain).clicked() {
        actions.push(Action::ShowHelp(false));
    }
}
