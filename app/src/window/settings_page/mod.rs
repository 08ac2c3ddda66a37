//! All settings in one place, with a search, opened with Ctrl+Comma.

mod about;
mod engines;
mod language;
mod licences;
mod rows;
mod updates;

use egui::{Context, Frame, Margin, RichText, ScrollArea, TextEdit, Ui, vec2};

use super::{
    action::Action,
    get::Connection,
    state::State,
    tokens::{Palette, font, size, space},
    widgets::{self, Weight},
};
use crate::language::{text, tr};
use licences::Licences;
use rows::{ROWS, Row};
pub use rows::{field_meaning, format_meaning};

/// Width and height, as far as the window has the room.
const SIZE: [f32; 2] = [620.0, 620.0];

/// View state of the page; not saved.
#[derive(Debug, Default)]
pub struct SettingsPage {
    search: String,
    /// Whether a report names paths and prompts.
    tells_all: bool,
    licences: Licences,
    /// What is typed as the template of names, while it is no template.
    names: Option<String>,
    /// The engines.
    engines: engines::EnginesView,
    /// How servers are reached.
    connection: Connection,
    /// Whether the search has had the focus.
    was_shown: bool,
}

/// Draws it over the window.
pub fn show(ctx: &Context, state: &State, page: &mut SettingsPage, actions: &mut Vec<Action>) {
    let modal = widgets::dialog(ctx, "sluice settings").show(ctx, |ui| {
        let room = ui.ctx().content_rect().size() - vec2(4.0 * space::XL, 4.0 * space::XL);
        ui.set_width(SIZE[0].min(room.x));
        let height = SIZE[1].min(room.y - 80.0);
        let is_new = !page.was_shown;
        Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| {
            head(ui, page, actions);
            ui.scope(|ui| {
                // With fewer results the field above them stays where it is.
                ui.set_min_height(height);
                let mut all = ScrollArea::vertical()
                    .max_height(height)
                    .min_scrolled_height(height)
                    .auto_shrink([false, true]);
                if is_new {
                    all = all.vertical_scroll_offset(0.0);
                }
                all.show(ui, |ui| {
                    ui.spacing_mut().item_spacing.y = space::S;
                    // Beside the scroll bar.
                    let margin = Margin { right: space::M as i8, ..Margin::ZERO };
                    Frame::new().inner_margin(margin).show(ui, |ui| list(ui, state, page, actions));
                });
            });
        })
    });
    if widgets::is_clicked_beside(&modal) {
        actions.push(Action::ShowSettings(false));
    }
}

fn head(ui: &mut Ui, page: &mut SettingsPage, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.label(
            RichText::new(tr!("settings-title")).font(font::semibold(font::HEADING)).color(palette.text),
        );
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if widgets::button(ui, None, &tr!("common-close"), Weight::Plain)
                .on_hover_text(tr!("common-close-tip"))
                .clicked()
            {
                actions.push(Action::ShowSettings(false));
            }
            let search = tr!("settings-search");
            let field =
                TextEdit::singleline(&mut page.search).hint_text(&search).margin(Margin::symmetric(10, 6));
            let field = ui
                .add_sized(vec2(220.0, size::CONTROL), field)
                .accessible_name(search)
                .on_hover_text(tr!("settings-search-tip"));
            if !std::mem::replace(&mut page.was_shown, true) {
                field.request_focus();
            }
        });
    });
    ui.add_space(space::S);
}

fn list(ui: &mut Ui, state: &State, page: &mut SettingsPage, actions: &mut Vec<Action>) {
    let found: Vec<&Row> = ROWS.iter().filter(|row| row.matches(&page.search)).collect();
    if found.is_empty() {
        widgets::hint(ui, tr!("settings-nothing-found", search = page.search.trim()));
        return;
    }
    let mut section = "";
    for row in found {
        if row.section != section {
            section = row.section;
            ui.add_space(space::S);
            ui.label(
                RichText::new(text(section)).font(font::semibold(font::BODY)).color(Palette::of(ui).text),
            );
            ui.separator();
        }
        (row.show)(ui, state, page, actions);
        ui.add_space(space::XS);
    }
}
