//! Choices among names, and what somebody may have meant.

use clap::builder::{PossibleValuesParser, TypedValueParser};

pub(super) use sluice_engine::adapters::nearest;

/// A choice among names.
pub(super) fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|&value| name(value))).try_map(move |text| {
        all.iter().copied().find(|&value| name(value) == text).ok_or("this name is unknown")
    })
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
