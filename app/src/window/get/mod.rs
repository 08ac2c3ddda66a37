//! The place where models are found and downloaded.

mod catalogue;
mod connection;
mod found;
mod running;
mod worker;

use std::path::PathBuf;

use egui::{CentralPanel, Frame, Key, Margin, Panel, RichText, ScrollArea, TextEdit, Ui, vec2};

use super::{
    action::{Action, GetAction},
    icons,
    state::{Asked, State},
    tokens::{Palette, font, size, space},
    widgets::{self, Weight},
};
use crate::{downloads::Network, language::tr};
pub use catalogue::{fit_badge, fit_line, start_button};
pub use connection::{Connection, show as connection};
pub use worker::{GetEvent, GetTask, GetWorker};

/// Width of the panel with downloads.
const DOWNLOADS: f32 = 340.0;

/// Room for the button that searches, before it was drawn.
const FIND: f32 = 120.0;

/// What the window needs to download models.
#[derive(Debug, Clone)]
pub struct DownloadOptions {
    /// How servers are reached, apart from what is set in the window.
    pub network: Network,
    /// Where unfinished downloads are kept for the next start.
    pub kept: Option<PathBuf>,
    /// Where models go unless another folder is set in the window.
    pub folder: PathBuf,
    /// The page that tells the latest release.
    pub releases: Option<String>,
}

/// What is listed of the catalogue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    All,
    Images,
    Clips,
}

/// View state of the place; not saved.
#[derive(Default)]
pub struct GetPlace {
    /// Whether it is shown in place of the list of models.
    pub is_open: bool,
    is_new: bool,
    text: String,
    kind: Kind,
    /// The formats that were chosen, by model.
    formats: std::collections::HashMap<String, String>,
    connection: Connection,
    /// Width of the button that searches, as it was drawn last.
    find_width: f32,
    /// Width of the widest button of a model that was drawn, and the language of its words.
    start_width: f32,
    start_language: &'static str,
}

impl GetPlace {
    /// Shows it, with the cursor in the field.
    pub fn open(&mut self) {
        self.is_open = true;
        self.is_new = true;
    }
}

/// Draws the place below the bar of the library.
pub fn show(ui: &mut Ui, state: &State, place: &mut GetPlace, actions: &mut Vec<Action>) {
    if !ui.ctx().text_edit_focused()
        && !ui.ctx().any_popup_open()
        && ui.input(|input| input.key_pressed(Key::Escape))
    {
        actions.push(GetAction::Show(false).into());
    }
    Panel::right("downloads").exact_size(DOWNLOADS).resizable(false).frame(Frame::new()).show(ui, |ui| {
        let inner = Frame::new().inner_margin(Margin::same(space::L as i8));
        ScrollArea::vertical().id_salt("running downloads").auto_shrink(false).show(ui, |ui| {
            inner.show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = space::S;
                running::show(ui, state, actions);
                ui.add_space(space::M);
                connection(ui, state, &mut place.connection, actions);
            });
        });
    });
    CentralPanel::default().frame(Frame::new()).show(ui, |ui| {
        let inner = Frame::new().inner_margin(Margin::symmetric(space::L as i8, space::M as i8));
        ScrollArea::vertical().id_salt("get models").auto_shrink(false).show(ui, |ui| {
            inner.show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = space::S;
                ask_field(ui, state, place, actions);
                if state.downloads.asked == Asked::Nothing {
                    catalogue::show(ui, state, place, actions);
                } else {
                    found::show(ui, state, actions);
                }
            });
        });
    });
    place.is_new = false;
}

/// The field for links and words.
fn ask_field(ui: &mut Ui, state: &State, place: &mut GetPlace, actions: &mut Vec<Action>) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        let words = tr!("get-search");
        let button = if place.find_width > 0.0 { place.find_width } else { FIND };
        let width = (ui.available_width() - button - space::S).max(160.0);
        let field = TextEdit::singleline(&mut place.text)
            .hint_text(&words)
            .margin(Margin::symmetric(10, 6))
            .desired_width(width);
        let response = ui.add_sized(vec2(width, size::CONTROL), field).accessible_name(words);
        let response = response.on_hover_text(tr!("get-search-tip"));
        if place.is_new {
            response.request_focus();
        }
        let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let is_empty = place.text.trim().is_empty();
        let find = ui.add_enabled_ui(!is_empty, |ui| {
            widgets::button(ui, Some(icons::SEARCH), &tr!("get-find"), Weight::Plain)
        });
        let drawn = find.inner.rect.width();
        if std::mem::replace(&mut place.find_width, drawn) != drawn {
            ui.ctx().request_repaint();
        }
        if (find.inner.on_hover_text(tr!("get-find-tip")).clicked() || entered) && !is_empty {
            actions.push(GetAction::Ask(place.text.trim().to_owned()).into());
        }
    });
    if state.downloads.asked == Asked::Nothing {
        ui.label(RichText::new(tr!("get-links-hint")).small().color(palette.text_faint));
    } else if widgets::button(ui, Some(icons::X), &tr!("get-back"), Weight::Ghost)
        .on_hover_text(tr!("get-back-tip"))
        .clicked()
    {
        place.text.clear();
        actions.push(GetAction::Forget.into());
    }
}

fn heading(ui: &mut Ui, text: &str) {
    let ink = Palette::of(ui).text;
    ui.label(RichText::new(text).font(font::semibold(font::HEADING)).color(ink));
}

/// A text that may have several lines.
fn paragraph(ui: &mut Ui, text: &str) {
    let ink = Palette::of(ui).text_muted;
    ui.add(egui::Label::new(RichText::new(text).small().color(ink)).wrap().selectable(true));
}
