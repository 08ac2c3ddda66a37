//! Quotations in prompts, which LongCat-Image reads letter by letter (Meituan LongCat Team 2025, arXiv:2512.07584).

/// Pairs of marks around a quotation.
const MARKS: [(char, char); 4] = [('\'', '\''), ('"', '"'), ('‘', '’'), ('“', '”')];

/// A prompt as quotations and what is between them.
///
/// A quotation begins with an opening mark, ends with the next closing one, and has no mark of its pair inside. An apostrophe
/// between Latin letters is no mark. diffusers does the same for one such word; where there are several, it puts another
/// word in their place.
pub fn split(prompt: &str) -> Vec<&str> {
    let apostrophes = apostrophes(prompt);
    let is_mark = |place: usize| apostrophes.binary_search(&place).is_err();
    let (mut parts, mut begin, mut from) = (Vec::new(), 0, 0);
    while let Some((start, end)) = first(prompt, from, is_mark) {
        parts.extend([&prompt[begin..start], &prompt[start..end]]);
        (begin, from) = (end, end);
    }
    parts.push(&prompt[begin..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether a part of a prompt is spelled. As in the authors' code, every mark at its beginning counts, with the next one that
/// fits it, even inside a word.
pub fn is_spelled(part: &str) -> bool {
    first(part, 0, |_| true).is_some_and(|(start, _)| start == 0)
}

/// The first quotation of `text` from `from` on, in bytes, with marks where `is_mark` is true.
fn first(text: &str, from: usize, is_mark: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
    let places = text[from..].char_indices().map(|(place, mark)| (from + place, mark));
    let mut opened = places.filter(|(place, _)| is_mark(*place));
    opened.find_map(|(start, mark)| {
        let (open, close) = *MARKS.iter().find(|(open, _)| *open == mark)?;
        let inside = start + open.len_utf8();
        let (place, found) = text[inside..]
            .char_indices()
            .map(|(place, mark)| (inside + place, mark))
            .find(|(place, mark)| [open, close].contains(mark) && is_mark(*place))?;
        (found == close).then_some((start, place + close.len_utf8()))
    })
}

/// The places of the apostrophes between Latin letters, ascending; the letters after one belong to it.
fn apostrophes(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let is_letter = |place: usize| bytes.get(place).is_some_and(u8::is_ascii_alphabetic);
    let (mut found, mut free) = (Vec::new(), 0);
    for (place, _) in text.match_indices('\'') {
        if place > free && is_letter(place - 1) && is_letter(place + 1) {
            found.push(place);
            let letters = bytes[place + 1..].iter().take_while(|byte| byte.is_ascii_alphabetic());
            free = place + 1 + letters.count();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values of diffusers' `split_quotation`.
    #[test]
    fn quotations_are_those_of_diffusers() {
        for (prompt, expected) in [
            ("", &[][..]),
            ("a fox", &[("a fox", false)]),
            (
                "Please write 'Hello' on the blackboard for me.",
                &[("Please write ", false), ("'Hello'", true), (" on the blackboard for me.", false)],
            ),
            (
                "a sign “开\n放”‘é’\"x\"",
                &[("a sign ", false), ("“开\n放”", true), ("‘é’", true), ("\"x\"", true)],
            ),
            ("it's \"it's\" here", &[("it's ", false), ("\"it's\"", true), (" here", false)]),
            ("'I don't know' he said", &[("'I don't know'", true), (" he said", false)]),
            ("no end: 'abc", &[("no end: 'abc", false)]),
            ("“a “b” c”", &[("“a ", false), ("“b”", true), (" c”", false)]),
            ("'' and \"\"", &[("''", true), (" and ", false), ("\"\"", true)]),
            ("'tis what I don't like", &[("'tis what I don't like", true)]),
            ("rock'n'roll 'n more", &[("rock'n", false), ("'roll '", true), ("n more", false)]),
        ] {
            let found: Vec<(&str, bool)> =
                split(prompt).into_iter().map(|part| (part, is_spelled(part))).collect();
            assert_eq!(found, expected, "{prompt}");
        }
    }

    /// diffusers gives `can't and can'tcan't`, or the same of the other word.
    #[test]
    fn words_with_apostrophes_stay_as_they_are() {
        assert_eq!(split("I can't and don't say \"x\""), ["I can't and don't say ", "\"x\""]);
    }
}
