//! Numbers for people, with the decimal mark of the current language. The engine's [`units`](crate::units), which this room has
//! under the same names, are those of the command line.

use super::{Language, current};
use crate::units;
pub use crate::units::MemoryUnit;

/// Units of amounts in what the engine says.
const UNITS: [&str; 11] = ["%", "×", "ms", "s", "MB", "GB", "MB/s", "GB/s", "KiB", "MiB", "GiB"];

/// An amount of memory: `7.4 GB`.
pub fn memory(bytes: u64) -> String {
    figure(&units::memory(bytes))
}

/// The same, rounded up, so that the number shown is enough.
pub fn memory_needed(bytes: u64) -> String {
    figure(&units::memory_needed(bytes))
}

/// An amount without its unit, which others have, too.
pub fn in_unit(unit: MemoryUnit, bytes: u64) -> String {
    figure(&unit.number(bytes))
}

/// The speed of a link: `11.8 GB/s`.
pub fn speed(bytes_per_second: f64) -> String {
    figure(&units::speed(bytes_per_second))
}

/// A number of weights: `6.15 B` is six billion.
pub fn count(count: u64) -> String {
    figure(&units::count(count))
}

/// A time: `4.2 ms`, `38 s`, `1 h 3 min`.
pub fn seconds(seconds: f64) -> String {
    figure(&units::seconds(seconds))
}

/// A time in microseconds, in the same format.
pub fn micros(micros: u64) -> String {
    figure(&units::micros(micros))
}

/// A share from 0 to 1 as a percentage: `2.3%`.
pub fn percent(share: f64) -> String {
    figure(&units::percent(share))
}

/// A setting with at most two decimals: `3.25`.
pub fn number(value: f32) -> String {
    figure(&units::number(value))
}

/// A number with so many decimals.
pub fn decimals(value: f64, count: usize) -> String {
    figure(&format!("{value:.count$}"))
}

/// A text of numbers and units only, which were written with a point.
pub fn figure(text: &str) -> String {
    current().figure(text)
}

/// What was typed into a field for a number, with a point or the decimal mark of the language.
pub fn typed(text: &str) -> Option<f64> {
    let letters = text.chars().filter(|letter| !letter.is_whitespace());
    let text: String = letters.map(|letter| if letter == '−' { '-' } else { letter }).collect();
    with_point(&text).parse().ok()
}

/// A text with points in its numbers.
pub fn with_point(text: &str) -> String {
    let mark = current().decimal;
    let mut parts = text.split(mark);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let is_in_number = part.starts_with(|letter: char| letter.is_ascii_digit());
        let between = if is_in_number { "." } else { mark };
        text + between + part
    })
}

impl Language {
    pub(super) fn figure(&self, text: &str) -> String {
        text.replace('.', self.decimal)
    }
}

/// Whether a text is one amount: a decimal with a unit.
pub(super) fn is_amount(text: &str) -> bool {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    is_decimal(number) && UNITS.contains(&unit.trim_start())
}

/// Whether a text is one number with decimals.
pub(super) fn is_decimal(text: &str) -> bool {
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|letter| letter.is_ascii_digit());
    text.split_once('.').is_some_and(|(whole, decimals)| are_digits(whole) && are_digits(decimals))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::{english, find};

    #[test]
    fn figures_have_the_mark_of_their_language() {
        let figure = |tag: &str| find(tag).unwrap().figure("7.4 GB");
        assert_eq!(["en", "ja", "zh-CN"].map(figure), ["7.4 GB"; 3]);
        assert_eq!(["de", "es", "fr"].map(figure), ["7,4 GB"; 3]);
        assert_eq!(english().decimal, ".");
    }

    #[test]
    fn names_and_versions_are_no_amounts() {
        for text in ["7.4 GB", "0.52%", "1.5×", "3.2 s", "11.8 GB/s"] {
            assert!(is_amount(text), "{text}");
        }
        for text in ["", "3.5", "12 GB", "0.42.1", "SD 3.5", "FLUX.1", "1.5 large", "1.5.png", ". s"] {
            assert!(!is_amount(text), "{text}");
        }
        assert!(is_decimal("7.0") && !is_decimal("0.42.1") && !is_decimal("7") && !is_decimal("7."));
    }
}
