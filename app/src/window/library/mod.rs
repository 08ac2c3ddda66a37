//! The place of models: what is on disk, and how it fits.

mod copies;
mod details;
mod folders;
mod lines;
mod menu;
mod previews;
mod row;
mod worker;

use std::{collections::HashSet, path::PathBuf};

use egui::{
    Align, CentralPanel, Context, Event, Frame, Id, Key, Label, Layout, Margin, Panel, Rect, RichText,
    ScrollArea, TextEdit, Ui, pos2, vec2,
};
use sluice_engine::{models::Kind, request::ModelSource};

use super::{
    action::{Action, GetAction, LibraryAction},
    get::{self, GetPlace},
    icons,
    settings::LibrarySettings,
    side_panel,
    state::{EntryId, Search, State},
    tokens::{Palette, font, size, space},
    widgets::{self, Weight},
};
use crate::language::tr;
pub use copies::CopyFinder;
use lines::{Filter, Heading, Line, Tab, counts, elsewhere, lines};
use previews::Previews;
use row::{HEADING, ROW, Row};
pub use worker::{LibraryEvent, LibraryOptions, LibraryTask, LibraryWorker};

/// Width of the panel with details.
const DETAILS: f32 = 340.0;
/// Width of the search field.
const SEARCH: f32 = 240.0;
/// The same in a window narrower than this.
const NARROW_SEARCH: f32 = 170.0;
const NARROW: f32 = 1000.0;

/// View state of the place; not saved.
#[derive(Default)]
pub struct LibraryPlace {
    filter: Filter,
    selected: Option<EntryId>,
    previews: Previews,
    get: GetPlace,
    lines: Vec<Line>,
    /// Rows of the list that words leave out, perhaps because it is not known how these models run.
    left_out: Vec<EntryId>,
    /// Rows of the other lists that the filter leaves, where it leaves none of this one.
    elsewhere: Vec<(Tab, usize)>,
    /// What the lines were made for.
    made_for: Option<([u64; 2], Filter, Option<String>, LibrarySettings)>,
    /// The rows without a search, and what they are of.
    unsearched: Option<((u64, Tab, LibrarySettings), Vec<EntryId>)>,
    /// The rows that are drawn.
    visible: Vec<EntryId>,
    is_new: bool,
    scrolls_to_selected: bool,
    typed: Option<Typed>,
    /// Whether Escape closes the place, as of the last frame.
    escape_closes: bool,
}

/// What is typed about the selected row.
#[derive(Debug)]
struct Typed {
    about: EntryId,
    note: String,
    tag: String,
}

impl LibraryPlace {
    /// Selects the opened model and puts the cursor into the search field.
    pub fn open(&mut self, state: &State) {
        self.is_new = true;
        self.get.is_open = false;
        self.scrolls_to_selected = true;
        self.filter.words.clear();
        self.typed = None;
        let opened = EntryId::Source(state.chosen_model().clone());
        self.selected = Some(opened).filter(|_| self.filter.tab == Tab::Models);
    }

    /// Whether Escape closes the place, and does not leave a field or empty the search.
    pub fn escape_closes(&self) -> bool {
        self.escape_closes && !self.get.is_open
    }

    /// Whether downloads are shown instead of the list.
    pub fn is_getting(&self) -> bool {
        self.get.is_open
    }

    /// The place for downloads, which may be shown instead of the list.
    pub fn get(&mut self) -> &mut GetPlace {
        &mut self.get
    }

    /// The preview images.
    pub fn previews(&mut self) -> &mut Previews {
        &mut self.previews
    }

    /// The models whose fits are wanted: the selected one, those that are drawn, then all others of the list, and those that a
    /// search leaves out of it.
    pub fn wanted(&self, state: &State) -> Vec<EntryId> {
        if self.get.is_open {
            return state.versions_to_fit();
        }
        let rows = rows(&self.lines).chain(&self.left_out);
        let all_are_here = !state.library.has_lists_of_engines();
        let is_here = |id: &&EntryId| all_are_here || state.library.lanes_of(id).is_empty();
        match self.filter.tab {
            Tab::Models => {
                self.selected.iter().chain(&self.visible).chain(rows).filter(is_here).cloned().collect()
            }
            Tab::Loras | Tab::Others => Vec::new(),
        }
    }

    /// The selected model, if its parts are not known yet.
    pub fn wants_parts(&self, state: &State) -> Option<ModelSource> {
        let is_here = |id: &&EntryId| state.library.lanes_of(id).is_empty();
        let Some(EntryId::Source(source)) = self.selected.as_ref().filter(is_here) else { return None };
        let is_model = match state.library.item(&EntryId::Source(source.clone())) {
            Some(item) => item.content().is_some_and(|content| content.kind == Kind::Model),
            None => !matches!(source, ModelSource::Path(_)),
        };
        (is_model && !state.library.described.contains_key(source)).then(|| source.clone())
    }

    /// The LoRA whose header may have trigger words that are not known yet.
    pub fn wants_words(&self, state: &State) -> Option<PathBuf> {
        let item = state.library.item(self.selected.as_ref()?)?;
        let is_adapter = item.content().is_some_and(|content| content.kind == Kind::Adapter);
        let is_known =
            !item.about.trigger_words.is_empty() || state.library.trigger_words.contains_key(&item.path);
        (is_adapter && !is_known).then(|| item.path.clone())
    }

    /// Makes the lines anew if something that they depend on has changed.
    fn update(&mut self, state: &State) {
        let family = state.summary().map(|summary| summary.family_name.clone());
        // Fits decide what is suggested, as long as there are no models, and a search finds them.
        let depends_on_fits = state.library.inventory.items.is_empty() || !self.filter.words.is_empty();
        let fits = if depends_on_fits { state.library.fits.version() } else { 0 };
        let versions = [state.library.version, fits];
        let is_current = self.made_for.as_ref().is_some_and(|(made, filter, own, settings)| {
            (*made, filter, own) == (versions, &self.filter, &family) && *settings == state.settings.library
        });
        if !is_current {
            let is_other =
                self.made_for.as_ref().is_some_and(|(_, filter, ..)| filter.tab != self.filter.tab);
            self.lines = lines(state, &self.filter);
            self.left_out =
                if self.filter.words.is_empty() { Vec::new() } else { self.left_out_by_words(state) };
            if is_other {
                self.select_in_list();
            }
            self.elsewhere = match self.lines.is_empty() {
                true => elsewhere(state, &self.filter),
                false => Vec::new(),
            };
            self.made_for = Some((versions, self.filter.clone(), family, state.settings.library.clone()));
        }
    }

    /// Rows of the list that the words leave out. A letter more changes the words alone.
    fn left_out_by_words(&mut self, state: &State) -> Vec<EntryId> {
        let of = (state.library.version, self.filter.tab, state.settings.library.clone());
        if self.unsearched.as_ref().is_none_or(|(made_of, _)| *made_of != of) {
            let all = lines(state, &Filter { tab: self.filter.tab, ..Filter::default() });
            self.unsearched = Some((of, rows(&all).cloned().collect()));
        }
        let left: HashSet<&EntryId> = rows(&self.lines).collect();
        let all = self.unsearched.iter().flat_map(|(_, rows)| rows);
        all.filter(|id| !left.contains(id)).cloned().collect()
    }

    /// Selects a row of the list that is shown, if it has one: the details are not about another list.
    fn select_in_list(&mut self) {
        match self.lines.iter().any(|line| matches!(line, Line::Row(_))) {
            true => self.step(0),
            false => self.selected = None,
        }
    }

    /// Moves the selection by some rows.
    fn step(&mut self, by: isize) {
        let rows: Vec<&EntryId> = rows(&self.lines).collect();
        let Some(last) = rows.len().checked_sub(1) else { return };
        let place = self.selected.as_ref().and_then(|selected| rows.iter().position(|id| *id == selected));
        let next = place.map_or(0, |place| place.saturating_add_signed(by).min(last));
        self.selected = Some(rows[next].clone());
        self.scrolls_to_selected = true;
    }
}

fn rows(lines: &[Line]) -> impl Iterator<Item = &EntryId> {
    lines.iter().filter_map(|line| match line {
        Line::Row(id) => Some(id),
        Line::Heading(..) => None,
    })
}

/// Draws the place.
pub fn show(ui: &mut Ui, state: &State, place: &mut LibraryPlace, actions: &mut Vec<Action>) {
    place.update(state);
    if !place.get.is_open {
        keys(ui, place, actions);
    }
    let bar = Frame::new().inner_margin(Margin::symmetric(space::L as i8, 0));
    Panel::top("library bar").exact_size(size::TOP_BAR).resizable(false).frame(bar).show(ui, |ui| {
        ui.horizontal_centered(|ui| head(ui, state, place, actions));
    });
    // The side panel, where it is said otherwise, is covered.
    if state.messages.notice.is_some() {
        let frame = Frame::new().inner_margin(Margin {
            left: space::L as i8,
            right: space::L as i8,
            top: space::S as i8,
            bottom: 0,
        });
        Panel::bottom("library notice")
            .resizable(false)
            .frame(frame)
            .show(ui, |ui| side_panel::show_notice(ui, state, actions));
    }
    if place.get.is_open {
        get::show(ui, state, &mut place.get, actions);
        return;
    }
    Panel::right("library details")
        .exact_size(DETAILS)
        .resizable(false)
        .frame(Frame::new())
        .show(ui, |ui| details::show(ui, state, place, actions));
    CentralPanel::default().frame(Frame::new()).show(ui, |ui| {
        place.visible.clear();
        if place.lines.is_empty() {
            nothing(ui, place);
        } else {
            list(ui, state, place, actions);
        }
    });
    place.is_new = false;
}

fn search_id() -> Id {
    Id::unique("library search")
}

/// Arrows move the selection, and Enter opens it, unless another control than the search has the focus.
fn keys(ui: &Ui, place: &mut LibraryPlace, actions: &mut Vec<Action>) {
    let ctx = ui.ctx();
    let focused = ctx.memory(|memory| memory.focused());
    if ctx.any_popup_open() || focused.is_some_and(|id| id != search_id()) {
        return;
    }
    let page = (ui.available_height() / ROW).floor().max(2.0) as isize - 1;
    let pressed: Vec<Key> = ctx.input(|input| {
        let keys = input.events.iter().filter_map(|event| match event {
            Event::Key { key, pressed: true, modifiers, .. } if modifiers.is_none() => Some(*key),
            _ => None,
        });
        keys.collect()
    });
    for key in pressed {
        match key {
            Key::ArrowDown => place.step(1),
            Key::ArrowUp => place.step(-1),
            Key::PageDown => place.step(page),
            Key::PageUp => place.step(-page),
            Key::Enter => {
                if let Some(id) = &place.selected {
                    actions.push(Action::Library(LibraryAction::Open(id.clone())));
                }
            }
            _ => {}
        }
    }
}

fn head(ui: &mut Ui, state: &State, place: &mut LibraryPlace, actions: &mut Vec<Action>) {
    if place.get.is_open {
        return get_head(ui, actions);
    }
    search(ui, place);
    let counts = counts(&state.library);
    for tab in Tab::ALL {
        let (name, tip) = tab.words();
        let count = counts[tab as usize];
        let words = if count == 0 { name } else { format!("{name} {count}") };
        if widgets::toggle_button(ui, &words, place.filter.tab == tab).on_hover_text(tip).clicked() {
            place.filter.tab = tab;
        }
    }
    let only = place.filter.only_favourites;
    let words = (tr!("library-favourites"), tr!("library-favourites-tip"));
    if widgets::explained_toggle(ui, icons::star(only), (&words.0, &words.1), only).clicked() {
        place.filter.only_favourites = !only;
    }
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if widgets::icon_button(ui, icons::X, &tr!("library-close")).clicked() {
            actions.push(Action::Library(LibraryAction::Show(false)));
        }
        if state.downloads.is_there {
            let words = match state.downloads.at_a_glance() {
                Some((_, share)) => {
                    tr!("library-get-models-share", percent = format!("{:.0}", share * 100.0))
                }
                None => tr!("library-get-models-ask"),
            };
            if widgets::button(ui, Some(icons::DOWNLOAD), &words, Weight::Plain)
                .on_hover_text(tr!("library-get-models-tip"))
                .clicked()
            {
                actions.push(GetAction::Show(true).into());
            }
        }
        folders::show(ui, state, actions);
        let found = state.library.inventory.items.len();
        let words = match state.library.search {
            Search::Running(Some((read, of))) => tr!("library-reading", read = read, count = of),
            Search::Never | Search::Running(None) if found == 0 => tr!("library-looking"),
            Search::Never | Search::Running(None) | Search::Ended(_) => tr!("library-files", count = found),
        };
        let label = RichText::new(words).small().color(Palette::of(ui).text_faint);
        ui.add(Label::new(label).truncate());
    });
}

/// The bar while models are downloaded.
fn get_head(ui: &mut Ui, actions: &mut Vec<Action>) {
    if widgets::button(ui, Some(icons::LAYERS), &tr!("library-all-models"), Weight::Ghost)
        .on_hover_text(tr!("library-all-models-tip"))
        .clicked()
    {
        actions.push(GetAction::Show(false).into());
    }
    let ink = Palette::of(ui).text;
    ui.label(RichText::new(tr!("library-get-models")).font(font::semibold(font::HEADING)).color(ink));
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        if widgets::icon_button(ui, icons::X, &tr!("library-close")).clicked() {
            actions.push(Action::Library(LibraryAction::Show(false)));
        }
    });
}

fn search(ui: &mut Ui, place: &mut LibraryPlace) {
    let width = if ui.available_width() < NARROW { NARROW_SEARCH } else { SEARCH };
    let field = TextEdit::singleline(&mut place.filter.words)
        .id(search_id())
        .hint_text(tr!("library-search"))
        .margin(Margin::symmetric(10, 6))
        .desired_width(width);
    // Escape has taken the focus at the start of this frame.
    let had_focus = ui.memory(|memory| memory.had_focus_last_frame(search_id()));
    let response = ui.add_sized(vec2(width, size::CONTROL), field).accessible_name(tr!("library-search"));
    let response = response.on_hover_text(tr!("library-search-tip"));
    if place.is_new {
        response.request_focus();
    }
    if had_focus && !place.filter.words.is_empty() && ui.input(|input| input.key_pressed(Key::Escape)) {
        place.filter.words.clear();
        response.request_focus();
    }
    if response.changed() {
        place.scrolls_to_selected = true;
    }
    let in_field = ui.ctx().text_edit_focused();
    place.escape_closes = !in_field || (response.has_focus() && place.filter.words.is_empty());
}

fn nothing(ui: &mut Ui, place: &mut LibraryPlace) {
    let palette = Palette::of(ui);
    ui.vertical_centered(|ui| {
        ui.add_space(ui.available_height() * 0.3);
        let words = match (place.filter.words.trim(), place.filter.tab) {
            ("", _) if place.filter.only_favourites => tr!("library-nothing-starred"),
            ("", Tab::Models) => tr!("library-nothing-starred"),
            ("", Tab::Loras) => tr!("library-nothing-loras"),
            ("", Tab::Others) => tr!("library-nothing-others"),
            (words, _) => tr!("library-nothing-found", words = words),
        };
        ui.label(RichText::new(words).color(palette.text_muted));
        ui.add_space(space::S);
        for (tab, count) in place.elsewhere.clone() {
            let (name, tip) = tab.words();
            let words = tr!("library-found-in", name = name, count = count);
            if widgets::button(ui, None, &words, Weight::Plain).on_hover_text(tip).clicked() {
                place.filter.tab = tab;
            }
        }
        let is_filtered = !place.filter.words.is_empty() || place.filter.only_favourites;
        if is_filtered
            && widgets::button(ui, None, &tr!("library-show-everything"), Weight::Plain)
                .on_hover_text(tr!("gallery-clear-search-tip"))
                .clicked()
        {
            place.filter.words.clear();
            place.filter.only_favourites = false;
        }
    });
}

fn list(ui: &mut Ui, state: &State, place: &mut LibraryPlace, actions: &mut Vec<Action>) {
    let height = |line: &Line| match line {
        Line::Heading(..) => HEADING,
        Line::Row(_) => ROW,
    };
    let mut tops = Vec::with_capacity(place.lines.len() + 1);
    let mut total = space::S;
    for line in &place.lines {
        tops.push(total);
        total += height(line);
    }
    total += space::L;
    let selected = place.selected.clone();
    let at = |line: &Line| matches!((line, &selected), (Line::Row(id), Some(selected)) if id == selected);
    let sought = place.scrolls_to_selected.then(|| place.lines.iter().position(at)).flatten();
    ScrollArea::vertical().id_salt("library list").auto_shrink(false).show_viewport(ui, |ui, viewport| {
        ui.set_height(total);
        let whole = ui.max_rect();
        let place_of = |index: usize| {
            let top = whole.top() + tops[index];
            let bottom = top + height(&place.lines[index]);
            Rect::from_min_max(pos2(whole.left() + space::M, top), pos2(whole.right() - space::M, bottom))
        };
        if let Some(index) = sought {
            // With the heading above the first row of a group.
            let above =
                if matches!(index.checked_sub(1).map(|above| &place.lines[above]), Some(Line::Heading(..))) {
                    HEADING
                } else {
                    0.0
                };
            let rect = place_of(index);
            ui.scroll_to_rect(rect.with_min_y(rect.top() - above), None);
        }
        // Tab goes to the next row, which may be out of sight.
        let beyond = HEADING + ROW;
        let first = tops.partition_point(|top| *top < viewport.top() - beyond).saturating_sub(1);
        for (index, line) in place.lines.iter().enumerate().skip(first) {
            if tops[index] > viewport.bottom() + beyond {
                break;
            }
            let rect = place_of(index);
            match line {
                Line::Heading(title, count) => heading(ui, rect, title, *count, index == 0),
                Line::Row(id) => {
                    if tops[index] <= viewport.bottom() && tops[index] + ROW >= viewport.top() {
                        place.visible.push(id.clone());
                    }
                    let Some(row) = Row::of(state, id) else { continue };
                    let is_selected = selected.as_ref() == Some(id);
                    let rect = rect.shrink2(vec2(0.0, 1.0));
                    let events = row::show(ui, rect, &row, is_selected, &mut place.previews);
                    let is_by_key = ui.input(|input| input.key_pressed(Key::Enter));
                    if events.response.double_clicked() || (events.response.clicked() && is_by_key) {
                        actions.push(Action::Library(LibraryAction::Open(id.clone())));
                    } else if events.response.clicked() {
                        place.selected = Some(id.clone());
                    }
                    if events.response.secondary_clicked() {
                        place.selected = Some(id.clone());
                    }
                    events.response.context_menu(|ui| menu::show(ui, state, &row, actions));
                    if events.starred {
                        let favourite = LibraryAction::Favourite(id.clone(), !row.is_favourite);
                        actions.push(Action::Library(favourite));
                    }
                    if events.toggled {
                        actions.push(Action::Library(LibraryAction::Open(id.clone())));
                    }
                }
            }
        }
    });
    place.scrolls_to_selected = false;
}

fn heading(ui: &mut Ui, rect: Rect, heading: &Heading, count: usize, is_first: bool) {
    let palette = Palette::of(ui);
    let title = heading.words();
    if !is_first {
        let line = egui::Stroke::new(1.0, palette.line);
        ui.painter().hline(rect.x_range(), rect.top() + 5.0, line);
    }
    let place = rect.left_bottom() + vec2(space::S, -space::S);
    let title_galley = ui.painter().layout_no_wrap(title.clone(), font::semibold(font::BODY), palette.text);
    let width = title_galley.size().x;
    ui.painter().galley(place - vec2(0.0, title_galley.size().y), title_galley, palette.text);
    let font = egui::FontId::proportional(font::SMALL);
    let place = place + vec2(width + space::S, -1.0);
    ui.painter().text(place, egui::Align2::LEFT_BOTTOM, count.to_string(), font, palette.text_faint);
    let response = ui.interact(rect, Id::unique(("library heading", heading)), egui::Sense::hover());
    response.widget_info(|| {
        egui::WidgetInfo::labeled(
            egui::Role::Label,
            true,
            tr!("library-heading-spoken", title = title.as_str(), count = count),
        )
    });
}

/// Whether the place should search its folders again.
pub fn is_due(ctx: &Context, search: Search, now: f64) -> bool {
    const EVERY: f64 = 5.0;
    match search {
        Search::Never => true,
        Search::Running(_) => false,
        Search::Ended(at) => now - at >= EVERY && ctx.input(|input| input.focused),
    }
}
