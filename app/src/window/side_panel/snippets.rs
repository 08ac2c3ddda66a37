//! Snippets: words that are kept to be put into prompts. Those for negative prompts have a list of their own.

use egui::{
    Align, Id, Layout, Popup, PopupCloseBehavior, ScrollArea, Ui,
    text::{CCursor, CCursorRange},
    text_edit::TextEditState,
};

use crate::{
    language::tr,
    window::{
        action::{Action, Keeping},
        icons,
        settings::PromptKind,
        tokens::{size, space},
        widgets,
    },
};

/// Height of the list.
const HEIGHT: f32 = 320.0;

/// Draws the button with the list for a prompt. Snippets go to the cursor of the field `id`, which shows `text`.
pub fn menu(
    ui: &mut Ui,
    (id, text): (Id, &mut String),
    (prompt, snippets): (PromptKind, &[String]),
    actions: &mut Vec<Action>,
) {
    let (name, tip) = match prompt {
        PromptKind::Positive => (tr!("side-panel-snippets"), tr!("side-panel-snippets-tip")),
        PromptKind::Negative => {
            (tr!("side-panel-negative-snippets"), tr!("side-panel-negative-snippets-tip"))
        }
    };
    let button = widgets::opener(ui, icons::SCISSORS, &name, &tip);
    Popup::menu(&button)
        .accessible_name(name)
        .width(size::POPUP)
        .close_behavior(PopupCloseBehavior::CloseOnClickOutside)
        .layout(Layout::top_down(Align::Min))
        .show(|ui| list(ui, (id, text), (prompt, snippets), actions));
}

fn list(
    ui: &mut Ui,
    (id, text): (Id, &mut String),
    (prompt, snippets): (PromptKind, &[String]),
    actions: &mut Vec<Action>,
) {
    ui.spacing_mut().item_spacing.y = space::XS;
    if snippets.is_empty() {
        let words = match prompt {
            PromptKind::Positive => tr!("side-panel-snippets-nothing"),
            PromptKind::Negative => tr!("side-panel-negative-snippets-nothing"),
        };
        widgets::hint(ui, words);
    }
    ScrollArea::vertical().max_height(HEIGHT).show(ui, |ui| {
        for snippet in snippets {
            ui.horizontal(|ui| {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let words = snippet.as_str();
                    let delete = match prompt {
                        PromptKind::Positive => tr!("side-panel-snippet-delete", words = words),
                        PromptKind::Negative => tr!("side-panel-negative-snippet-delete", words = words),
                    };
                    if widgets::icon_button(ui, icons::TRASH, &delete).clicked() {
                        actions.push(Keeping::DeleteSnippet(prompt, snippet.clone()).into());
                    }
                    if widgets::row_button(ui, icons::COPY, words, "", false)
                        .on_hover_text(tr!("side-panel-snippet-use", words = words))
                        .clicked()
                    {
                        put(ui, id, text, snippet);
                        ui.close();
                    }
                });
            });
        }
    });
    ui.separator();
    keep(ui, (id, text.as_str()), (prompt, snippets), actions);
}

/// The row that keeps the selected words, or the prompt.
fn keep(
    ui: &mut Ui,
    (id, text): (Id, &str),
    (prompt, snippets): (PromptKind, &[String]),
    actions: &mut Vec<Action>,
) {
    let (whole, tip) = match prompt {
        PromptKind::Positive => (tr!("side-panel-snippet-keep-prompt"), tr!("side-panel-snippet-keep-tip")),
        PromptKind::Negative => {
            (tr!("side-panel-negative-snippet-keep-prompt"), tr!("side-panel-negative-snippet-keep-tip"))
        }
    };
    let (words, name) = match selected(ui, id, text) {
        Some(words) => (words, tr!("side-panel-snippet-keep-selected")),
        None => (text.trim().to_owned(), whole),
    };
    let can = !words.is_empty() && !snippets.contains(&words);
    ui.add_enabled_ui(can, |ui| {
        if widgets::row_button(ui, icons::DOWNLOAD, &name, "", false).on_hover_text(tip).clicked() {
            actions.push(Keeping::Snippet(prompt, words).into());
        }
    });
}

/// The selected words of a field.
fn selected(ui: &Ui, id: Id, text: &str) -> Option<String> {
    let range = TextEditState::load(ui.ctx(), id)?.cursor.char_range()?;
    let [start, end] = range.sorted_cursors().map(|cursor| cursor.index.0);
    let words: String = text.chars().skip(start).take(end.saturating_sub(start)).collect();
    let words = words.trim();
    (!words.is_empty()).then(|| words.to_owned())
}

/// Puts a snippet to the cursor of a field, or to its end, with commas where it meets other words.
fn put(ui: &Ui, id: Id, text: &mut String, snippet: &str) {
    let state = TextEditState::load(ui.ctx(), id);
    let length = text.chars().count();
    let range = state.as_ref().and_then(|state| state.cursor.char_range());
    let [start, end] =
        range.map_or([length; 2], |range| range.sorted_cursors().map(|cursor| cursor.index.0.min(length)));
    let (changed, cursor) = joined(text, start, end, snippet);
    *text = changed;
    if let Some(mut state) = state {
        state.cursor.set_char_range(Some(CCursorRange::one(CCursor::new(cursor))));
        state.store(ui.ctx(), id);
    }
    ui.memory_mut(|memory| memory.request_focus(id));
}

/// A text with a snippet in place of the characters from `start` to `end`, and the position behind the snippet.
fn joined(text: &str, start: usize, end: usize, snippet: &str) -> (String, usize) {
    let mut changed: String = text.chars().take(start).collect();
    let after: String = text.chars().skip(end).collect();
    let before = changed.trim_end();
    if !before.is_empty() && !before.ends_with([',', '(', '.', ':', ';', '|', '{']) {
        changed.truncate(before.len());
        changed += ", ";
    } else if changed.ends_with([',', '.', ':', ';']) {
        changed.push(' ');
    }
    changed += snippet;
    let cursor = changed.chars().count();
    if after.trim_start().starts_with(|letter: char| letter.is_alphanumeric() || letter == '(') {
        changed += ", ";
        changed += after.trim_start();
    } else {
        changed += &after;
    }
    (changed, cursor)
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn snippets_are_separated_from_other_words() {
        let cases = [
            ("", 0, 0, "soft light"),
            ("a cat", 5, 5, "a cat, soft light"),
            ("a cat,", 6, 6, "a cat, soft light"),
            ("a cat, ", 7, 7, "a cat, soft light"),
            ("a cat, oil", 7, 7, "a cat, soft light, oil"),
            ("a cat, oil", 7, 10, "a cat, soft light"),
            ("a (cat)", 3, 3, "a (soft light, cat)"),
            ("ein Kätzchen, öl", 14, 14, "ein Kätzchen, soft light, öl"),
        ];
        for (text, start, end, wanted) in cases {
            let (changed, cursor) = joined(text, start, end, "soft light");
            assert_eq!(changed, wanted, "{text}");
            assert!(changed.chars().take(cursor).collect::<String>().ends_with("soft light"), "{text}");
        }
    }
}
