//! Choices among names, and what somebody may have meant.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// A choice among names.
pub(super) fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&value| name(value))).try_map(move |text| {
        all.iter().copied().find(|&value| name(value) == text).ok_or("this name is unknown")
    })
}

/// The name that `text` most resembles, if it resembles one.
pub(super) fn nearest<'n>(text: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let text = plain(text);
    let distances = names.into_iter().map(|name| {
        let name_in_plain = plain(name);
        let begins_alike = !text.is_empty() && name_in_plain.starts_with(&text);
        let distance = if begins_alike { 0 } else { edits(&text, &name_in_plain) };
        (distance, name_in_plain.len(), name)
    });
    let (distance, length, name) = distances.min_by_key(|&(distance, length, _)| (distance, length))?;
    (2 * distance <= length).then_some(name)
}

/// Letters and digits only, small.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Levenshtein's distance: insertions, deletions and replacements from one text to the other.
fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        row[0] = left;
        for (cell, b) in row[1..].iter_mut().zip(to.chars()) {
            let replaced = diagonal + usize::from(a != b);
            diagonal = *cell;
            left = replaced.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_by_its_letters() {
        let names = ["flux.1-dev", "flux.1-schnell", "z-image-turbo", "sdxl", "wan-2.2-5b"];
        for (text, expected) in [
            ("flux1dev", Some("flux.1-dev")),
            ("FLUX", Some("flux.1-dev")),
            ("flux.1-snell", Some("flux.1-schnell")),
            ("z-image", Some("z-image-turbo")),
            ("sdlx", Some("sdxl")),
            ("sdxk", Some("sdxl")),
            ("a/folder/of/mine", None),
            ("", None),
        ] {
            assert_eq!(nearest(text, names), expected, "{text}");
        }
    }

    #[test]
    fn edits_are_counted() {
        for (from, to, expected) in
            [("", "", 0), ("", "abc", 3), ("abc", "", 3), ("kitten", "sitting", 3), ("ab", "ba", 2)]
        {
            assert_eq!(edits(from, to), expected, "{from} {to}");
        }
    }
}
