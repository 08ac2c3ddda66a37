//! Where adapters are searched for by name.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::AdapterError;

/// Usual names of adapter folders.
const FOLDERS: [&str; 5] = ["loras", "lora", "Lora", "models/Lora", "models/loras"];
/// Maximum depth of subfolders.
const DEPTH: usize = 4;
/// Number of similar names to suggest.
const REMINDED: usize = 3;

/// The adapter folders for a model: the `chosen` ones, then those next to the model and in up to two parent
/// folders.
pub fn folders_of(model: &Path, chosen: &[PathBuf]) -> Vec<PathBuf> {
    let beside = model.ancestors().take(3).flat_map(|base| FOLDERS.iter().map(move |name| base.join(name)));
    let mut found: Vec<PathBuf> = Vec::new();
    let mut known: Vec<PathBuf> = Vec::new();
    for folder in chosen.iter().cloned().chain(beside).filter(|folder| folder.is_dir()) {
        // On case-insensitive file systems one folder appears under two names.
        let place = fs::canonicalize(&folder).unwrap_or_else(|_| folder.clone());
        if !known.contains(&place) {
            known.push(place);
            found.push(folder);
        }
    }
    found
}

/// The adapters in some folders, by name; the first folder wins if a name occurs several times.
pub fn listed(folders: &[PathBuf]) -> BTreeMap<String, PathBuf> {
    let mut all = BTreeMap::new();
    for folder in folders {
        collect(folder, DEPTH, &mut all);
    }
    all
}

fn collect(folder: &Path, depth: usize, all: &mut BTreeMap<String, PathBuf>) {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => {
            tracing::warn!(%error, folder = %folder.display(), "a LoRA folder cannot be read");
            return;
        }
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            if depth > 1 {
                collect(&path, depth - 1, all);
            }
        } else if path.extension().is_some_and(|extension| extension == "safetensors")
            && let Some(name) = path.file_stem()
        {
            all.entry(name.to_string_lossy().into_owned()).or_insert(path);
        }
    }
}

/// Finds the adapter of this name.
///
/// # Errors
/// Fails if there is none; the error suggests similar names.
pub fn find(name: &str, folders: &[PathBuf]) -> Result<PathBuf, AdapterError> {
    let mut all = listed(folders);
    if let Some(path) = all.remove(name) {
        return Ok(path);
    }
    if let Some((_, path)) = all.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Ok(path.clone());
    }
    let mut near = Vec::new();
    let mut left: Vec<&str> = all.keys().map(String::as_str).collect();
    while let Some(next) = nearest(name, left.iter().copied()).filter(|_| near.len() < REMINDED) {
        left.retain(|other| *other != next);
        near.push(next.to_owned());
    }
    Err(AdapterError::Unknown { name: name.to_owned(), near, looked: folders.to_vec() })
}

/// The name most similar to `text`, if any is similar.
pub fn nearest<'n>(text: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
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

/// Only its letters and digits, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Levenshtein distance: insertions, deletions and replacements to get from one text to the other.
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
    fn adapters_are_found_by_name_in_the_folders_beside_a_model() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, b"x").unwrap();
            path
        };
        let ink = write("loras/style/Ink wash.safetensors");
        let (second, film) = (write("models/Lora/film.safetensors"), write("chosen/film.safetensors"));
        write("loras/notes.txt");
        let model = write("models/checkpoints/a.safetensors");
        let folders = folders_of(&model, &[root.path().join("chosen")]);
        assert_eq!(folders.len(), 2, "{folders:?}");
        assert_eq!(find("film", &folders).unwrap(), film);
        assert_eq!(find("film", &folders[1..]).unwrap(), second);

        let folders = folders_of(&root.path().join("z-image"), &[]);
        assert_eq!(find("Ink wash", &folders).unwrap(), ink);
        assert_eq!(find("ink WASH", &folders).unwrap(), ink);
        let error = find("ink was", &folders).unwrap_err();
        assert_eq!(error.to_string(), "there is no LoRA named ink was; similar names: Ink wash");
        assert!(error.advice().contains("loras"), "{}", error.advice());
        assert_eq!(find("zebra", &[]).unwrap_err().to_string(), "there is no LoRA named zebra");
    }

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
