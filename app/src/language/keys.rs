//! Names of keys, as they are labelled on the keyboards of a language.

use super::text;

/// Keys with names, and the keys of the texts that name them. Others are labelled alike everywhere.
const NAMES: [(&str, &str); 11] = [
    ("Ctrl", "common-key-ctrl"),
    ("Shift", "common-key-shift"),
    ("Enter", "common-key-enter"),
    ("Esc", "common-key-esc"),
    ("Space", "common-key-space"),
    ("Del", "common-key-del"),
    ("Home", "common-key-home"),
    ("End", "common-key-end"),
    ("Comma", "common-key-comma"),
    ("Plus", "common-key-plus"),
    ("Minus", "common-key-minus"),
];

/// English names of keys in the current language: `Ctrl+Enter` is `Strg+Eingabe` in German, and `S, Del` is `S, Entf`.
pub fn keys(english: &str) -> String {
    let named = |key: &str| {
        let known = NAMES.iter().find(|(name, _)| *name == key);
        known.map_or_else(|| key.to_owned(), |(_, name)| text(name))
    };
    let shortcut = |keys: &str| keys.split('+').map(named).collect::<Vec<_>>().join("+");
    english.split(", ").map(shortcut).collect::<Vec<_>>().join(", ")
}
