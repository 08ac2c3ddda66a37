//! The prompts that images were generated from: a list to search, and ↑ and ↓ in the field.

use egui::{
    Align, Id, Key, Layout, Margin, Modifiers, Popup, PopupCloseBehavior, ScrollArea, TextEdit, Ui,
    text::{CCursor, CCursorRange},
    text_edit::TextEditState,
};

use crate::{
    language::tr,
    window::{
        action::Action,
        icons,
        tokens::{size, space},
        widgets,
    },
};

/// Height of the list.
const HEIGHT: f32 = 320.0;
/// Rows that are drawn; a search finds the others.
const MOST: usize = 50;

/// A prompt that ↑ brought into the field: its place in the list, and the text, which ends the walk when it is changed.
type Recalled = (usize, String);

/// Draws the button with the list, newest first.
pub fn menu(ui: &mut Ui, prompts: &[String], actions: &mut Vec<Action>) {
    if prompts.is_empty() {
        return;
    }
    let name = tr!("side-panel-history");
    let button = widgets::opener(ui, icons::RESTORE, &name, &tr!("side-panel-history-tip"));
    Popup::menu(&button)
        .accessible_name(name)
        .width(size::POPUP)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .layout(Layout::top_down(Align::Min))
        .show(|ui| list(ui, prompts, actions));
}

fn list(ui: &mut Ui, prompts: &[String], actions: &mut Vec<Action>) {
    let id = Id::unique("sluice prompt search");
    let mut search = ui.data_mut(|data| data.get_temp::<String>(id)).unwrap_or_default();
    let field = TextEdit::singleline(&mut search)
        .id(id)
        .hint_text(tr!("side-panel-history-search"))
        .margin(Margin::symmetric(10, 6))
        .desired_width(f32::INFINITY);
    let field = ui.add(field);
    field.widget_info(|| {
        egui::WidgetInfo::labeled(egui::Role::TextInput, true, tr!("side-panel-history-search"))
    });
    field.on_hover_text(tr!("side-panel-history-search-tip"));
    ui.add_space(space::XS);
    let wanted = search.to_lowercase();
    let mut found = prompts.iter().filter(|prompt| prompt.to_lowercase().contains(&wanted)).peekable();
    if found.peek().is_none() {
        widgets::hint(ui, tr!("side-panel-history-nothing"));
    }
    ScrollArea::vertical().max_height(HEIGHT).show(ui, |ui| {
        for prompt in found.take(MOST) {
            if widgets::row_button(ui, icons::RESTORE, prompt, "", false).on_hover_text(prompt).clicked() {
                actions.push(Action::UsePrompt(prompt.clone()));
                search.clear();
                ui.close();
            }
        }
    });
    ui.data_mut(|data| data.insert_temp(id, search));
}

/// In a field that has the focus and is empty, ↑ brings back the last prompt, then the one before it, and ↓ goes the other
/// way.
pub fn keys(ui: &Ui, id: Id, text: &mut String, prompts: &[String]) {
    if !ui.memory(|memory| memory.has_focus(id)) {
        return;
    }
    let place = ui.data(|data| data.get_temp::<Recalled>(id)).filter(|(_, recalled)| recalled == text);
    if place.is_none() && !text.is_empty() {
        return;
    }
    let next = place.as_ref().map_or(0, |(place, _)| place + 1);
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let place = if next < prompts.len() && pressed(Key::ArrowUp) {
        text.clone_from(&prompts[next]);
        next
    } else if let Some((place, _)) = place
        && pressed(Key::ArrowDown)
    {
        match place.checked_sub(1) {
            Some(newer) => text.clone_from(&prompts[newer]),
            None => text.clear(),
        }
        place.saturating_sub(1)
    } else {
        return;
    };
    ui.data_mut(|data| data.insert_temp::<Recalled>(id, (place, text.clone())));
    if let Some(mut state) = TextEditState::load(ui.ctx(), id) {
        let end = CCursor::new(text.chars().count());
        state.cursor.set_char_range(Some(CCursorRange::one(end)));
        state.store(ui.ctx(), id);
    }
}
