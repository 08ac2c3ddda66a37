//! The sheet of keys, opened with F1.

use egui::{Context, Frame, Grid, Id, Margin, RichText, ScrollArea, Ui};

use super::{
    action::Action,
    commands::COMMANDS,
    tokens::{Palette, font, space},
    widgets::{self, Weight},
};
use crate::language::{self, text, tr};

/// Keys that are no commands by themselves, as in `docs/shortcuts.md`, and the keys of what they do.
const KEYS: [(&str, &str); 16] = [
    ("Esc", "help-escape"),
    ("← →", "help-left-right"),
    ("↑ ↓", "help-up-down"),
    ("Space", "help-space"),
    ("Home, End", "help-home-end"),
    ("I, O", "help-range"),
    ("Del", "help-delete"),
    ("S, Del, Ctrl+E", "help-gallery"),
    ("Ctrl+↑, Ctrl+↓", "help-weights"),
    ("Ctrl+Z", "help-undo"),
    ("Ctrl+V", "help-paste"),
    ("[ ]", "help-brush"),
    ("Ctrl+Plus, Ctrl+Minus", "help-zoom"),
    ("Tab, Shift+Tab", "help-tab"),
    ("help-canvas-keys", "help-canvas"),
    ("help-menu-keys", "help-menu"),
];

/// What the window keeps above and below the list.
const ROOM: f32 = 180.0;

/// Draws it over the window.
pub fn show(ctx: &Context, actions: &mut Vec<Action>) {
    let modal = widgets::dialog(ctx, "sluice help").show(ctx, |ui| {
        Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| sheet(ui, actions))
    });
    if widgets::is_clicked_beside(&modal) {
        actions.push(Action::ShowHelp(false));
    }
}

fn sheet(ui: &mut Ui, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    ui.label(
        RichText::new(tr!("commands-shortcuts")).font(font::semibold(font::HEADING)).color(palette.text),
    );
    ui.add_space(space::S);
    let of_commands = COMMANDS.iter().filter_map(|command| {
        let keys = match &command.shortcut {
            Some(shortcut) => ui.ctx().format_shortcut(shortcut),
            None => command.key.to_owned(),
        };
        (!keys.is_empty() && keys != "Esc").then(|| (language::keys(&keys), command.name))
    });
    let keys: Vec<_> = of_commands.chain(KEYS.map(|(keys, words)| (named(keys), words))).collect();
    let height = ui.ctx().content_rect().height() - ROOM;
    let mut list = ScrollArea::vertical().id_salt("list of keys").max_height(height);
    if is_new(ui.ctx()) {
        list = list.vertical_scroll_offset(0.0);
    }
    ui.spacing_mut().scroll.dormant_handle_opacity = widgets::BAR;
    list.show(ui, |ui| {
        // Beside the scroll bar.
        Frame::new().inner_margin(Margin { right: space::M as i8, ..Margin::ZERO }).show(ui, |ui| {
            Grid::new("keys").num_columns(2).spacing([space::XL, space::XS]).show(ui, |ui| {
                for (keys, words) in keys {
                    ui.label(RichText::new(keys).font(font::medium(font::BODY)).color(palette.text));
                    ui.label(RichText::new(text(words)).color(palette.text_muted));
                    ui.end_row();
                }
            });
        });
    });
    ui.add_space(space::M);
    if widgets::button(ui, None, &tr!("common-close"), Weight::Plain)
        .on_hover_text(tr!("common-close-tip"))
        .clicked()
    {
        actions.push(Action::ShowHelp(false));
    }
}

/// Whether the sheet was not drawn in the last frame.
fn is_new(ctx: &Context) -> bool {
    let (id, frame) = (Id::unique("sluice help drawn"), ctx.cumulative_frame_nr());
    let before = ctx.data_mut(|data| data.get_temp::<u64>(id));
    ctx.data_mut(|data| data.insert_temp(id, frame));
    before.is_none_or(|before| before + 1 < frame)
}

/// What is done with the mouse has words.
fn named(keys: &str) -> String {
    if keys.starts_with("help-") { text(keys) } else { language::keys(keys) }
}
