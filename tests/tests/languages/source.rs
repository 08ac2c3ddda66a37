//! What the source of the window takes from the files.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use sluice::language::english;

use super::catalog::{Texts, texts};

/// Areas whose keys no source names: they are found by what the engine says.
const OF_ENGINE: [&str; 4] = ["advice-", "error-", "note-", "reason-"];

/// The Rust files in a folder and those below it.
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found
}

fn sources() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../app/src");
    let read = |path: PathBuf| (path.clone(), fs::read_to_string(path).unwrap());
    rust_files(&folder).into_iter().map(read).collect()
}

/// What follows on each `tr!(`.
fn calls(source: &str) -> impl Iterator<Item = &str> {
    const CALL: &str = "tr!(";
    let of_word =
        |place: usize| source[..place].ends_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let places = source.match_indices(CALL).map(|(place, _)| place);
    places.filter(move |place| !of_word(*place)).map(|place| &source[place + CALL.len()..])
}

/// The arguments of a macro, whose text begins behind its bracket, divided at their commas.
fn arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut in_text, mut escaped, mut from) = (0_usize, false, false, 0);
    let mut all = Vec::new();
    for (place, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            _ if in_text => {}
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            ',' if depth == 0 => {
                all.push(text[from..place].trim());
                from = place + 1;
            }
            ')' => {
                all.push(text[from..place].trim());
                break;
            }
            _ => {}
        }
    }
    all.retain(|argument| !argument.is_empty());
    all
}

/// Whole texts in quotes that look like keys.
fn keys_in(source: &str, areas: &[String]) -> Vec<String> {
    let is_key = |text: &&str| {
        areas.iter().any(|area| text.starts_with(area) && text != area)
            && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
    };
    source.split('"').filter(is_key).map(str::to_owned).collect()
}

#[test]
fn what_the_source_names_is_there_and_nothing_else() {
    let all: Texts = texts(english());
    let areas: Vec<String> = english().files().iter().map(|(file, _)| format!("{file}-")).collect();
    let mut used = BTreeSet::new();
    for (path, source) in sources() {
        for call in calls(&source) {
            let arguments = arguments(call);
            let Some(key) = arguments.first().and_then(|key| key.strip_prefix('"')?.strip_suffix('"')) else {
                continue;
            };
            let known = all.get(key).unwrap_or_else(|| panic!("{}: there is no {key}", path.display()));
            let given: BTreeSet<String> = arguments[1..]
                .iter()
                .map(|argument| argument.split('=').next().unwrap_or_default().trim().to_owned())
                .collect();
            assert_eq!(&given, known, "{}: the variables of {key}", path.display());
        }
        for key in keys_in(&source, &areas) {
            assert!(all.contains_key(&key), "{}: there is no {key}", path.display());
            used.insert(key);
        }
    }
    let is_of_engine = |key: &str| OF_ENGINE.iter().any(|area| key.starts_with(area));
    let unused: Vec<_> = all.keys().filter(|key| !used.contains(*key) && !is_of_engine(key)).collect();
    assert!(unused.is_empty(), "nothing draws {unused:?}");
}

#[test]
fn arguments_are_divided_at_their_own_commas() {
    let text = r#""a-b", count = f(1, 2), name = "x, )", ) and more"#;
    assert_eq!(arguments(text), [r#""a-b""#, "count = f(1, 2)", r#"name = "x, )""#]);
    assert_eq!(calls("include_str!(a) tr!(b)").collect::<Vec<_>>(), ["b)"]);
    assert_eq!(keys_in(r#"f("a-b", "a b", "c-d", text("a-c"))"#, &["a-".to_owned()]), ["a-b", "a-c"]);
}
