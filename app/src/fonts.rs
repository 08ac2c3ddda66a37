//! Fonts of the system, for characters that the program's own fonts lack.

#[cfg(feature = "window")]
use std::{
    cell::LazyCell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicBool, Ordering},
};

#[cfg(feature = "window")]
use egui::epaint::text::{FallbackRequest, FontFamily, FontInsert, FontProvider};
#[cfg(feature = "window")]
use egui_system_font_provider::SystemFontProvider;
use sluice_engine::output::FontFile;

#[cfg(feature = "window")]
use crate::language::{self, Language};

/// Fonts of the system. The library that lists them panics where there are none; it is not asked again then.
#[cfg(feature = "window")]
pub struct SystemFonts {
    listed: SystemFontProvider,
    are_none: AtomicBool,
}

#[cfg(feature = "window")]
impl SystemFonts {
    /// Those for a language: the same Chinese character is drawn in another way in Japan, and by another font.
    pub fn of(language: &Language) -> Self {
        let fonts = SystemFontProvider::new();
        let listed = match language.sample.is_empty() {
            true => fonts,
            false => fonts.with_locale(Some(language.tag)),
        };
        Self { listed, are_none: AtomicBool::new(false) }
    }
}

#[cfg(feature = "window")]
impl FontProvider for SystemFonts {
    fn font_for(&self, request: &FallbackRequest<'_>) -> Option<FontInsert> {
        if self.are_none.load(Ordering::Relaxed) {
            return None;
        }
        catch_unwind(AssertUnwindSafe(|| self.listed.font_for(request))).unwrap_or_else(|_| {
            tracing::warn!("the fonts of this system cannot be listed; there may be none");
            self.are_none.store(true, Ordering::Relaxed);
            None
        })
    }
}

/// Finds fonts for characters. The fonts of the system are listed when the first one is sought, which takes a while.
#[cfg(feature = "window")]
pub fn finder() -> impl Fn(char) -> Option<FontFile> {
    let fonts = LazyCell::new(|| SystemFonts::of(language::current()));
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
