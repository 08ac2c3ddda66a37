//! Messages of the engine as sentences.

use crate::language::said;

/// A text with a capital letter at the start.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A message as a sentence of its own, in the current language. Names at its start stay as they are.
pub fn sentence(text: &str) -> String {
    let text = &said(text);
    let first = text.split(' ').next().unwrap_or_default();
    let is_word = first.chars().all(|letter| letter.is_ascii_lowercase());
    let text = if is_word { capitalised(text) } else { text.to_owned() };
    if text.ends_with(['.', '!', '?', '。', '！', '？']) { text } else { format!("{text}.") }
}
