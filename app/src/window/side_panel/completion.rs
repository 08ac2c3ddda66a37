//! Completes names of LoRAs and tags while a prompt is typed.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use egui::{
    Area, Frame, Id, Key, Margin, Modifiers, Order, Response, Ui,
    text::{CCursor, CCursorRange},
    text_edit::TextEditState,
};
use sluice_engine::models::{Item, Kind, adapter_fits};

use crate::{
    language::tr,
    tags::completions,
    window::{
        icons,
        state::{Draft, State},
        tokens::{size, space},
        widgets,
    },
};

/// The most offers at once.
const MOST: usize = 8;
/// Letters of a tag before it is completed.
const LETTERS: usize = 2;
const LORA: &str = "<lora:";

/// What is offered for the words before the cursor.
#[derive(Clone)]
pub struct Offers {
    /// The characters that an offer replaces.
    place: Range<usize>,
    typed: String,
    list: Vec<Offer>,
    selected: usize,
}

#[derive(Clone)]
struct Offer {
    name: String,
    text: String,
    detail: String,
    /// The file of a LoRA that is not where its name is looked for.
    file: Option<PathBuf>,
}

/// What is kept between frames: the text for which Escape closed the list, and the row.
#[derive(Clone, Default)]
struct Kept {
    closed: String,
    typed: String,
    selected: usize,
}

/// A prompt in the settings.
pub type Prompt = fn(&mut Draft) -> &mut String;

/// Finds offers for a field that has the focus, and lets its keys choose one: arrows, Enter or Tab, Escape. Is called before the
/// field is drawn.
pub fn keys(ui: &Ui, id: Id, draft: &mut Draft, prompt: Prompt, state: &State) -> Option<Offers> {
    if !ui.memory(|memory| memory.has_focus(id)) {
        return None;
    }
    let edit = TextEditState::load(ui.ctx(), id)?;
    let range = edit.cursor.char_range().filter(CCursorRange::is_empty)?;
    let mut kept: Kept = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let mut offers = offers(prompt(draft), range.primary.index.0, state)?;
    if kept.closed == *prompt(draft) {
        return None;
    }
    if kept.typed != offers.typed {
        (kept.typed, kept.selected) = (offers.typed.clone(), 0);
    }
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    let last = offers.list.len() - 1;
    if pressed(Key::ArrowDown) {
        kept.selected = if kept.selected >= last { 0 } else { kept.selected + 1 };
    }
    if pressed(Key::ArrowUp) {
        kept.selected = kept.selected.checked_sub(1).unwrap_or(last);
    }
    offers.selected = kept.selected.min(last);
    if pressed(Key::Escape) {
        kept.closed.clone_from(prompt(draft));
        ui.data_mut(|data| data.insert_temp(id, kept));
        return None;
    }
    if pressed(Key::Enter) || pressed(Key::Tab) {
        accept(ui, id, draft, prompt, &offers, offers.selected);
        kept.closed.clone_from(prompt(draft));
        ui.data_mut(|data| data.insert_temp(id, kept));
        return None;
    }
    ui.data_mut(|data| data.insert_temp(id, kept));
    Some(offers)
}

/// Draws the offers below their field. A click takes one.
pub fn show(
    ui: &mut Ui,
    id: Id,
    draft: &mut Draft,
    prompt: Prompt,
    offers: Option<Offers>,
    field: &Response,
) {
    let Some(offers) = offers else { return };
    // Tab chooses, and does not leave the field.
    ui.memory_mut(|memory| {
        let filter =
            egui::EventFilter { tab: true, escape: true, horizontal_arrows: true, vertical_arrows: true };
        memory.set_focus_lock_filter(id, filter);
    });
    let corner = field.rect.left_bottom() + egui::vec2(0.0, space::XS);
    let chosen =
        Area::new(id.with("completion")).order(Order::Foreground).fixed_pos(corner).show(ui.ctx(), |ui| {
            let frame = Frame::popup(ui.style()).inner_margin(Margin::same(space::XS as i8));
            frame
                .show(ui, |ui| {
                    ui.set_width(size::MENU);
                    ui.spacing_mut().item_spacing.y = 0.0;
                    let rows = offers.list.iter().enumerate().filter(|(place, offer)| {
                        let row =
                            widgets::row_button(ui, icons::TAG, &offer.name, "", *place == offers.selected);
                        row.on_hover_text(&offer.detail).clicked()
                    });
                    rows.map(|(place, _)| place).next()
                })
                .inner
        });
    if let Some(place) = chosen.inner {
        accept(ui, id, draft, prompt, &offers, place);
        ui.memory_mut(|memory| memory.request_focus(id));
    }
}

fn accept(ui: &Ui, id: Id, draft: &mut Draft, prompt: Prompt, offers: &Offers, place: usize) {
    let Some(offer) = offers.list.get(place) else { return };
    if let Some(file) = &offer.file {
        draft.add_adapter(file.clone());
    }
    let text = prompt(draft);
    let letters: Vec<char> = text.chars().collect();
    let before = letters[..offers.place.start].iter().copied();
    let after = letters[offers.place.end..].iter().copied();
    *text = before.chain(offer.text.chars()).chain(after).collect();
    if let Some(mut edit) = TextEditState::load(ui.ctx(), id) {
        let end = CCursor::new(offers.place.start + offer.text.chars().count());
        edit.cursor.set_char_range(Some(CCursorRange::one(end)));
        edit.store(ui.ctx(), id);
    }
}

/// What is offered at a cursor, which counts characters.
fn offers(text: &str, cursor: usize, state: &State) -> Option<Offers> {
    let before: String = text.chars().take(cursor).collect();
    let count = |text: &str| text.chars().count();
    if let Some(start) = before.rfind(LORA).filter(|start| !before[*start..].contains('>')) {
        let typed = &before[start + LORA.len()..];
        let list = loras(state, typed);
        let place = count(&before[..start])..cursor;
        return (!list.is_empty()).then(|| Offers {
            place,
            typed: before[start..].to_owned(),
            list,
            selected: 0,
        });
    }
    let start = before.rfind([',', '\n', '(', '|', '{', '.']).map_or(0, |at| at + 1);
    let typed = before[start..].trim_start();
    if state.tags.is_empty() || count(typed) < LETTERS {
        return None;
    }
    let found = completions(&state.tags, typed, MOST).into_iter().map(|place| {
        let tag = &state.tags[place];
        // Brackets in tags are no weights.
        let escaped = tag.name.replace('(', "\\(").replace(')', "\\)");
        Offer {
            name: tag.name.clone(),
            text: format!("{escaped}, "),
            detail: tr!("side-panel-tag-images", count = tag.count),
            file: None,
        }
    });
    let list: Vec<Offer> = found.collect();
    let place = cursor - count(typed)..cursor;
    (!list.is_empty()).then(|| Offers { place, typed: typed.to_owned(), list, selected: 0 })
}

/// The LoRAs next to the model and in the library whose names contain some letters; those that begin with them first.
/// Those that are known to be for models of another family are left out.
fn loras(state: &State, typed: &str) -> Vec<Offer> {
    let wanted = typed.to_lowercase();
    let own = state.summary().map(|summary| summary.family_name.as_str());
    let fits = |item: &Item| {
        let family = item.content().and_then(|content| content.family.as_deref());
        own.and_then(|own| adapter_fits(family, own)) != Some(false)
    };
    let all = || state.library.inventory.items.iter();
    let items = all().filter(|item| item.content().is_some_and(|content| content.kind == Kind::Adapter));
    let near = state.adapters.known.iter();
    let near = near.filter(|path| all().find(|item| item.path == **path).is_none_or(fits));
    let paths = near
        .map(|path| path.as_path())
        .chain(items.filter(|item| fits(item)).map(|item| item.path.as_path()));
    let mut found: Vec<(bool, String, &Path)> = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let plain = name.to_lowercase();
        if plain.contains(&wanted) && found.iter().all(|(_, known, _)| *known != name) {
            found.push((!plain.starts_with(&wanted), name, path));
        }
    }
    found.sort();
    found.truncate(MOST);
    let offer = |(_, name, path): (bool, String, &Path)| Offer {
        text: format!("{LORA}{name}:1>"),
        detail: path.display().to_string(),
        file: state.adapters.known.iter().all(|known| known != path).then(|| path.to_owned()),
        name,
    };
    found.into_iter().map(offer).collect()
}
