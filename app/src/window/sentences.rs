//! Messages of the engine as sentences.

use crate::language::{IDEOGRAPHIC_STOP, said};

/// A text with a capital letter at the start.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A message as a sentence of its own, in the current language. Names at its start stay as they are.
pub fn sentence(text: &str) -> String {
    let text = &said(text);
    let first = text.split(' ').next().unwrap_or_default();
    let is_word = first.chars().all(|letter| letter.is_lowercase() || letter == '’');
    let text = if is_word { capitalised(text) } else { text.to_owned() };
    match text.chars().next_back() {
        Some('.' | '!' | '?' | IDEOGRAPHIC_STOP) => text,
        Some('\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}') => format!("{text}{IDEOGRAPHIC_STOP}"),
        _ => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn messages_become_sentences() {
        for (message, wanted) in [
            ("the clip ended", "The clip ended."),
            ("l’image est vide", "L’image est vide."),
            ("für zwei", "Für zwei."),
            ("starter.gguf is missing", "starter.gguf is missing."),
            ("It is done.", "It is done."),
            ("読み取れません", "読み取れません。"),
            ("无法读取。", "无法读取。"),
        ] {
            assert_eq!(sentence(message), wanted);
        }
    }
}
