//! Each language is complete, and says what English says.

use sluice::language::{LANGUAGES, english, find, of_system};

use super::catalog::texts;

#[test]
fn no_text_is_missing_in_any_language() {
    let all = texts(english());
    for language in &LANGUAGES {
        let own = texts(language);
        let missing: Vec<_> = all.keys().filter(|key| !own.contains_key(*key)).collect();
        assert!(missing.is_empty(), "{} lacks {missing:?}", language.tag);
        let unknown: Vec<_> = own.keys().filter(|key| !all.contains_key(*key)).collect();
        assert!(unknown.is_empty(), "{} has what English has not: {unknown:?}", language.tag);
        for (key, variables) in &own {
            assert_eq!(Some(variables), all.get(key), "{key} in {}", language.tag);
        }
    }
}

#[test]
fn languages_have_the_files_that_are_there() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/languages");
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let language =
            find(&name).unwrap_or_else(|| panic!("assets/languages/{name} is not in the table of languages"));
        let mut files: Vec<String> = std::fs::read_dir(folder.join(&name))
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let known: Vec<String> = language.files().iter().map(|(file, _)| format!("{file}.ftl")).collect();
        assert_eq!(known, files, "{name}: what is compiled in, in the order of their names");
        folders.push(name);
    }
    assert_eq!(folders.len(), LANGUAGES.len());
}

#[test]
fn a_system_has_the_first_of_its_languages_that_is_there() {
    let tag = |locales: &[&str]| {
        let locales: Vec<String> = locales.iter().map(|locale| (*locale).to_owned()).collect();
        of_system(&locales).map(|language| language.tag)
    };
    assert_eq!(tag(&["en_GB.UTF-8"]), Some("en"));
    assert_eq!(tag(&["tlh", "C", "", "en-US"]), Some("en"));
    assert_eq!(tag(&["fr_CA.UTF-8", "en"]), Some("fr"));
    assert_eq!(tag(&["es-419"]), Some("es"));
    assert_eq!(tag(&["tlh"]), None);
    assert_eq!(tag(&[]), None);
}

/// French has a space before these marks. Without a break there, no line begins with a mark.
#[test]
fn french_marks_stay_with_their_words() {
    for (file, source) in find("fr").unwrap().files() {
        for mark in [" :", " ;", " !", " ?", " %", " »", "« "] {
            assert!(!source.contains(mark), "fr/{file}.ftl: {mark:?} has a plain space");
        }
    }
}
