//! Fonts of the system, for characters that the program's own fonts lack.

#[cfg(feature = "window")]
use std::cell::LazyCell;

#[cfg(feature = "window")]
use egui::epaint::text::{FallbackRequest, FontFamily, FontProvider as _};
#[cfg(feature = "window")]
use egui_system_font_provider::SystemFontProvider;
use sluice_engine::output::FontFile;

#[cfg(feature = "window")]
use crate::language::{self, Language};

/// Fonts of the system for a language: the same Chinese character is drawn in another way in Japan, and by another font.
#[cfg(feature = "window")]
pub fn of_system(language: &Language) -> SystemFontProvider {
    let fonts = SystemFontProvider::new();
    match language.sample.is_empty() {
        true => fonts,
        false => fonts.with_locale(Some(language.tag)),
    }
}

/// Finds fonts for characters. The fonts of the system are listed when the first one is sought, which takes a while.
#[cfg(feature = "window")]
pub fn finder() -> impl Fn(char) -> Option<FontFile> {
    let fonts = LazyCell::new(|| of_system(language::current()));
    move |letter| {
        let cluster = letter.to_string();
        let request = FallbackRequest { cluster: &cluster, family: &FontFamily::Proportional };
        let found = fonts.font_for(&request)?;
        Some(FontFile { bytes: (*found.data.font).as_ref().to_vec(), face: found.data.index })
    }
}

/// Finds no fonts: a program without a window has only its own.
#[cfg(not(feature = "window"))]
pub fn finder() -> impl Fn(char) -> Option<FontFile> {
    |_| None
}

#[cfg(all(test, feature = "window"))]
mod tests {
    use std::collections::BTreeSet;

    use sluice_engine::{
        output::{Image, Sheet},
        request::grid::GridLabels,
    };

    use super::*;

    fn drawn(text: &str, find: impl Fn(char) -> Option<FontFile>) -> Image {
        let labels = GridLabels { columns: vec![text.to_owned()], ..GridLabels::plain(1) };
        Sheet::new(labels, [128, 128]).compose(|_| None, find)
    }

    /// As far as the system has fonts for them.
    #[test]
    fn labels_of_grids_are_drawn_in_every_language_of_the_window() {
        let find = finder();
        assert!(find('\u{10ffff}').is_none(), "there is no such character");
        for language in &language::LANGUAGES {
            let letters: BTreeSet<char> = language.sample.chars().collect();
            let mut pictures: Vec<Image> = Vec::new();
            for letter in letters.into_iter().filter(|letter| find(*letter).is_some()) {
                let picture = drawn(&letter.to_string(), &find);
                assert_ne!(picture, drawn(&letter.to_string(), |_| None), "{letter} is a box");
                assert!(!pictures.contains(&picture), "{letter} looks like another character");
                pictures.push(picture);
            }
        }
    }
}
