//! Which language a system wants.

use unic_langid::LanguageIdentifier;

use super::{LANGUAGES, Language};

/// The language for a system that prefers these locales, such as `de_AT.UTF-8` or `zh-Hans-CN`, in this order. Where it has
/// none of them, `None`.
pub fn of_system(locales: &[String]) -> Option<&'static Language> {
    locales.iter().find_map(|locale| {
        let wanted = parse(locale)?;
        LANGUAGES.iter().find(|language| parse(language.tag).is_some_and(|tag| suits(&tag, &wanted)))
    })
}

fn parse(locale: &str) -> Option<LanguageIdentifier> {
    locale.split(['.', '@']).next()?.parse().ok()
}

/// A language is the same in all regions, but Chinese is written in two ways.
fn suits(tag: &LanguageIdentifier, wanted: &LanguageIdentifier) -> bool {
    tag.language == wanted.language
        && (tag.language.as_str() != "zh" || is_traditional(tag) == is_traditional(wanted))
}

fn is_traditional(tag: &LanguageIdentifier) -> bool {
    match tag.script {
        Some(script) => script.as_str() == "Hant",
        None => tag.region.is_some_and(|region| matches!(region.as_str(), "TW" | "HK" | "MO")),
    }
}
