//! The command palette: a search over commands, models, presets, styles and prompts.

use egui::{
    Align, Align2, Area, Color32, Context, Event, FontId, Frame, Id, Key, Margin, Order, Role, ScrollArea,
    TextEdit, Ui, WidgetInfo, text_edit::TextEditState, vec2,
};
use nucleo_matcher::{
    Config, Matcher, Utf32Str,
    pattern::{CaseMatching, Normalization, Pattern},
};
use sluice_engine::{models::Kind, request::ModelSource};

use super::{
    action::{Action, Keeping, LibraryAction},
    commands::{COMMANDS, Now, PALETTE},
    icons, job_names, side_panel,
    state::{EntryId, State, file_name},
    tokens::{Palette as Colors, font, size, space},
    widgets,
};
use crate::language::{self, tr};

/// Height of the list.
const HEIGHT: f32 = 380.0;
/// Rows that are drawn; a longer search finds the others.
const MOST: usize = 50;
/// What stands around the title of a row and its kind: an icon, and distances.
const AROUND: f32 = font::ICON + 5.0 * space::S + 4.0;
/// The most letters of a title that may have room.
const LETTERS: usize = 160;
/// Prompts of the history that are searched.
const PROMPTS: usize = 200;

/// View state; what was typed is not kept.
#[derive(Default)]
pub struct CommandPalette {
    /// Whether it is shown.
    pub is_open: bool,
    query: String,
    selected: usize,
    /// Whether it was open in the last frame.
    was_open: bool,
    /// What was typed before there was a field.
    ahead: String,
    matcher: Matcher,
}

/// Something that is found.
struct Found {
    icon: &'static str,
    name: String,
    /// Other words that find it.
    words: String,
    /// What kind of thing it is, or its key.
    kind: String,
    tip: String,
    action: Action,
}

impl CommandPalette {
    /// Takes what is typed after the key that opens it and before there is a field: nothing else gets it, and no key has
    /// another meaning meanwhile.
    pub fn take_typed_ahead(&mut self, ctx: &Context) {
        if self.is_open && self.was_open {
            return;
        }
        let is_opening = self.is_open;
        ctx.input_mut(|input| {
            let opens = |event: &Event| match event {
                Event::Key { key, pressed: true, modifiers, .. } => {
                    *key == PALETTE.logical_key && modifiers.matches_logically(PALETTE.modifiers)
                }
                _ => false,
            };
            let opener = || input.events.iter().position(opens).map(|place| place + 1);
            let from = if is_opening { Some(0) } else { opener() };
            let Some(from) = from else { return };
            for event in input.events.split_off(from) {
                match event {
                    Event::Text(text) => self.ahead.push_str(&text),
                    Event::Key { pressed: true, .. } => {}
                    event => input.events.push(event),
                }
            }
        });
    }

    /// Draws it over the window, if it is open.
    pub fn show(&mut self, ctx: &Context, now: &Now<'_>, actions: &mut Vec<Action>) {
        let is_new = self.is_open && !self.was_open;
        self.was_open = self.is_open;
        if !self.is_open {
            return;
        }
        if is_new {
            (self.query, self.selected) = (std::mem::take(&mut self.ahead), 0);
            // The cursor goes behind it.
            TextEdit::store_state(ctx, search_id(), TextEditState::default());
        }
        let found = self.found(ctx, now);
        let shown = Area::new(Id::unique("sluice palette"))
            .order(Order::Foreground)
            .anchor(Align2::CENTER_TOP, vec2(0.0, size::TOP_BAR))
            .show(ctx, |ui| {
                let frame = Frame::popup(ui.style()).inner_margin(Margin::same(space::S as i8));
                frame.show(ui, |ui| self.contents(ui, &found, is_new)).inner
            });
        let chosen = shown.inner;
        let pressed = |key| ctx.input(|input| input.key_pressed(key));
        let is_left =
            !is_new && ctx.input(|input| input.pointer.any_pressed()) && !shown.response.contains_pointer();
        if let Some(found) = chosen.and_then(|place| found.into_iter().nth(place)) {
            actions.push(Action::ShowPalette(false));
            actions.push(found.action);
        } else if pressed(Key::Escape) || is_left {
            actions.push(Action::ShowPalette(false));
        }
    }

    /// Returns the row that was chosen.
    fn contents(&mut self, ui: &mut Ui, found: &[Found], is_new: bool) -> Option<usize> {
        ui.set_width(size::CARD + 60.0);
        ui.spacing_mut().item_spacing.y = space::XS;
        let mut moved = 0;
        ui.input_mut(|input| {
            moved += i32::from(input.consume_key(egui::Modifiers::NONE, Key::ArrowDown));
            moved -= i32::from(input.consume_key(egui::Modifiers::NONE, Key::ArrowUp));
        });
        let before = self.query.clone();
        let field = TextEdit::singleline(&mut self.query)
            .id(search_id())
            .hint_text(tr!("palette-hint"))
            .margin(Margin::symmetric(10, 8))
            .desired_width(f32::INFINITY);
        let response = ui.add(field);
        response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, tr!("palette-search")));
        let response = response.on_hover_text(tr!("palette-search-tip"));
        let is_entered = ui.input(|input| input.key_pressed(Key::Enter) && input.modifiers.is_none());
        if is_new || is_entered {
            response.request_focus();
        }
        if before != self.query {
            self.selected = 0;
        }
        let last = found.len().saturating_sub(1);
        self.selected = self.selected.min(last).saturating_add_signed(moved as isize).min(last);
        let mut chosen =
            is_entered.then_some(self.selected).filter(|_| before == self.query && !found.is_empty());
        if found.is_empty() {
            widgets::hint(ui, tr!("palette-nothing-found"));
        }
        ScrollArea::vertical().max_height(HEIGHT).show(ui, |ui| {
            for (place, found) in found.iter().enumerate() {
                let (is_selected, color) = (place == self.selected, Colors::of(ui).text_faint);
                let kind = FontId::proportional(font::SMALL);
                let kind = ui.painter().layout_no_wrap(found.kind.clone(), kind, color);
                let room = ui.available_width() - kind.size().x - AROUND;
                let row =
                    widgets::row_button(ui, found.icon, &shortened(ui, &found.name, room), "", is_selected);
                row.widget_info(|| WidgetInfo::selected(Role::Button, true, is_selected, &found.name));
                let end = row.rect.right_center() - vec2(space::S, 0.0);
                let corner = Align2::RIGHT_CENTER.anchor_size(end, kind.size()).min;
                ui.painter().galley(corner, kind, color);
                if place == self.selected && moved != 0 {
                    row.scroll_to_me(Some(Align::Center));
                }
                let tip = if found.tip.is_empty() { &found.name } else { &found.tip };
                if row.on_hover_text(tip).clicked() {
                    chosen = Some(place);
                }
            }
        });
        chosen
    }

    /// What the query finds, the best first. Without one, all commands.
    fn found(&mut self, ctx: &Context, now: &Now<'_>) -> Vec<Found> {
        let commands = commands(ctx, now);
        let query = self.query.trim().to_owned();
        if query.is_empty() {
            return commands;
        }
        self.matcher.config = Config::DEFAULT;
        let pattern = Pattern::parse(&query, CaseMatching::Ignore, Normalization::Smart);
        let mut letters = Vec::new();
        let all = commands.into_iter().chain(others(now.state));
        let mut scored: Vec<(u32, Found)> = all
            .filter_map(|found| {
                let mut score =
                    |words: &str| pattern.score(Utf32Str::new(words, &mut letters), &mut self.matcher);
                // Names come before other words.
                let score = score(&found.name).or_else(|| score(&found.words).map(|score| score / 2))?;
                Some((score, found))
            })
            .collect();
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        scored.truncate(MOST);
        scored.into_iter().map(|(_, found)| found).collect()
    }
}

fn search_id() -> Id {
    Id::unique("sluice palette search")
}

/// A text in one line, with `…` at its end if it is wider than the room.
fn shortened(ui: &Ui, text: &str, room: f32) -> String {
    let line: String =
        text.chars().take(LETTERS).map(|letter| if letter == '\n' { ' ' } else { letter }).collect();
    let width = |text: &str| {
        let font = font::medium(font::BODY);
        ui.painter().layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER).size().x
    };
    if line.len() == text.len() && width(&line) <= room {
        return line;
    }
    let ends: Vec<usize> = line.char_indices().map(|(place, _)| place).collect();
    let cut = |end: usize| format!("{}…", line[..end].trim_end());
    let fitting = ends.partition_point(|end| width(&cut(*end)) <= room);
    cut(ends.get(fitting.saturating_sub(1)).copied().unwrap_or_default())
}

fn commands(ctx: &Context, now: &Now<'_>) -> Vec<Found> {
    let found =
        COMMANDS.iter().filter(|command| command.name != "commands-command-palette").filter_map(|command| {
            let keys = match &command.shortcut {
                Some(shortcut) => ctx.format_shortcut(shortcut),
                None => command.key.to_owned(),
            };
            let kind = language::keys(&keys);
            let (name, action) = (command.title(), command.action(now)?);
            let of_job = || job_names::resumed(now.state.messages.resumable());
            let tip = matches!(action, Action::ResumeCancelled).then(of_job).flatten();
            let tip = tip.unwrap_or_else(|| command.sentence());
            Some(Found { icon: command.icon, name, words: command.words(), kind, tip, action })
        });
    found.collect()
}

/// Models, LoRAs, sections of the panel, presets, styles and prompts.
fn others(state: &State) -> Vec<Found> {
    let mut all = Vec::new();
    let mut add = |icon, name: String, kind: String, tip: String, action| {
        all.push(Found { icon, name, words: String::new(), kind, tip, action });
    };
    for (model, name) in [
        (ModelSource::Starter, tr!("top-bar-starter")),
        (ModelSource::StarterClip, tr!("top-bar-starter-clip")),
    ] {
        add(icons::PACKAGE, name, tr!("palette-model"), tr!("palette-built-in"), Action::ChooseModel(model));
    }
    for path in &state.settings.recent_models {
        if state.library.item(&EntryId::path(path)).is_none() {
            let action = Action::ChooseModel(ModelSource::Path(path.clone()));
            add(icons::LAYERS, file_name(path), tr!("palette-model"), path.display().to_string(), action);
        }
    }
    for item in &state.library.inventory.items {
        let (icon, kind) = match item.content().map(|content| content.kind) {
            Some(Kind::Model) => (icons::LAYERS, tr!("palette-model")),
            Some(Kind::Adapter) => (icons::SPARKLES, tr!("palette-lora")),
            _ => continue,
        };
        let action = LibraryAction::Open(EntryId::path(&item.path)).into();
        add(icon, item.name.clone(), kind, item.path.display().to_string(), action);
    }
    for (item, lanes) in state.library.of_further_engines() {
        let tip = tr!("library-on-engine", name = state.names_of(&lanes));
        let action = LibraryAction::Open(EntryId::path(&item.path)).into();
        add(icons::LAYERS, item.name.clone(), tr!("palette-model"), tip, action);
    }
    for (section, name) in side_panel::sections(state) {
        let tip = tr!("palette-section-tip", name = name.as_str());
        add(icons::SETTINGS, name, tr!("palette-section"), tip, Action::ShowSection(section));
    }
    for preset in &state.presets {
        if let Ok(settings) = &preset.preset {
            let action = Keeping::Apply(preset.name.clone()).into();
            add(icons::SETTINGS, preset.name.clone(), tr!("palette-preset"), settings.summary(), action);
        }
    }
    for style in &state.styles {
        let is_used = state.draft().request.styles.iter().any(|used| used.name == style.name);
        let kind = if is_used { tr!("palette-style-in-use") } else { tr!("palette-style") };
        let action = Keeping::ToggleStyle(style.name.clone()).into();
        add(icons::TAG, style.name.clone(), kind, style.prompt.clone(), action);
    }
    for prompt in state.settings.prompts.iter().take(PROMPTS) {
        add(
            icons::RESTORE,
            prompt.clone(),
            tr!("palette-prompt"),
            prompt.clone(),
            Action::UsePrompt(prompt.clone()),
        );
    }
    all
}
