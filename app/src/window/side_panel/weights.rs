//! Ctrl+↑ and Ctrl+↓ change the weight of the words at the cursor: `(words:1.1)`.

use std::ops::Range;

use egui::{
    Id, Key, Modifiers, Ui,
    text::{CCursor, CCursorRange},
    text_edit::TextEditState,
};

/// What one press changes.
const STEP: f32 = 0.1;

/// Changes the text of a field that has the focus.
pub fn keys(ui: &Ui, id: Id, text: &mut String) {
    if !ui.memory(|memory| memory.has_focus(id)) {
        return;
    }
    for (key, by) in [(Key::ArrowUp, STEP), (Key::ArrowDown, -STEP)] {
        if !ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, key)) {
            continue;
        }
        let Some(mut state) = TextEditState::load(ui.ctx(), id) else { continue };
        let Some(range) = state.cursor.char_range() else { continue };
        let [a, b] = [range.primary.index.0, range.secondary.index.0];
        if let Some((changed, selected)) = reweighted(text, a.min(b)..a.max(b), by) {
            *text = changed;
            let [start, end] = [selected.start, selected.end].map(CCursor::new);
            state.cursor.set_char_range(Some(CCursorRange::two(start, end)));
            state.store(ui.ctx(), id);
        }
    }
}

/// The text with another weight for a selection, or for the group or word at the cursor, and what is selected then.
/// Positions count characters.
fn reweighted(text: &str, selected: Range<usize>, by: f32) -> Option<(String, Range<usize>)> {
    let letters: Vec<char> = text.chars().collect();
    let (place, words, weight) = match group(&letters, &selected) {
        Some((place, words, weight)) => (place, words, weight + by),
        None => {
            let place = if selected.is_empty() { word(&letters, selected.start) } else { selected };
            let words: String = letters.get(place.clone())?.iter().collect();
            if words.trim().is_empty() {
                return None;
            }
            (place, words, 1.0 + by)
        }
    };
    let weight = (weight * 100.0).round() / 100.0;
    let new = if weight == 1.0 { words } else { format!("({words}:{weight})") };
    let end = place.start + new.chars().count();
    let (before, after) = (&letters[..place.start], &letters[place.end..]);
    let changed = before.iter().copied().chain(new.chars()).chain(after.iter().copied()).collect();
    Some((changed, place.start..end))
}

/// The group with a weight around a selection: where it is, its words, its weight.
fn group(letters: &[char], selected: &Range<usize>) -> Option<(Range<usize>, String, f32)> {
    let mut depth = 0;
    let from = if letters.get(selected.start) == Some(&'(') { selected.start + 1 } else { selected.start };
    let start = (0..from).rev().find(|&place| match letters[place] {
        ')' => {
            depth += 1;
            false
        }
        '(' if depth > 0 => {
            depth -= 1;
            false
        }
        letter => letter == '(',
    })?;
    let mut depth = 0;
    let end = (start + 1..letters.len()).find(|&place| match letters[place] {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth > 0 => {
            depth -= 1;
            false
        }
        letter => letter == ')',
    })?;
    if selected.end > end + 1 {
        return None;
    }
    let inside: String = letters[start + 1..end].iter().collect();
    let (words, weight) = inside.rsplit_once(':')?;
    Some((start..end + 1, words.to_owned(), weight.trim().parse().ok()?))
}

/// The word at a place.
fn word(letters: &[char], place: usize) -> Range<usize> {
    let is_inside = |letter: &&char| !letter.is_whitespace() && !",.;()[]".contains(**letter);
    let place = place.min(letters.len());
    let start = place - letters[..place].iter().rev().take_while(is_inside).count();
    start..place + letters[place..].iter().take_while(is_inside).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_get_weights_and_lose_them_again() {
        let up = |text: &str, selected| reweighted(text, selected, STEP);
        let down = |text: &str, selected| reweighted(text, selected, -STEP);
        assert_eq!(up("a red fox", 3..3), Some(("a (red:1.1) fox".to_owned(), 2..11)));
        assert_eq!(up("a (red:1.1) fox", 2..11), Some(("a (red:1.2) fox".to_owned(), 2..11)));
        assert_eq!(up("a (red:1.1) fox", 4..4), Some(("a (red:1.2) fox".to_owned(), 2..11)));
        assert_eq!(down("a (red:1.1) fox", 2..11), Some(("a red fox".to_owned(), 2..5)));
        assert_eq!(down("a red fox", 2..9), Some(("a (red fox:0.9)".to_owned(), 2..15)));
        assert_eq!(up("füchse, snow", 2..2), Some(("(füchse:1.1), snow".to_owned(), 0..12)));
        assert_eq!(up("((a:1.2) b:0.5)", 9..9), Some(("((a:1.2) b:0.6)".to_owned(), 0..15)));
        assert_eq!((up("", 0..0), up("a  b", 2..2)), (None, None));
    }
}
