//! Tags that prompts of some models are made of, from the files of a1111-tagcomplete.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The most bytes of a file.
const LARGEST: u64 = 64 << 20;

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// As it is written in prompts, with spaces.
    pub name: String,
    /// Other names that find it.
    aliases: Vec<String>,
    /// How many images have it.
    pub count: u64,
}

/// The tags of the CSV files in a folder, and of other files: name, category, count and other names, without a line of titles.
/// The most used come first. A missing folder has none.
pub fn tags_in(folder: Option<&Path>, others: &[PathBuf]) -> Vec<Tag> {
    let entries = folder.and_then(|folder| fs::read_dir(folder).ok());
    let entries = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let is_csv =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let is_small = |path: &PathBuf| path.metadata().is_ok_and(|file| file.len() <= LARGEST);
    let mut files: Vec<_> = entries.filter(is_csv).chain(others.iter().cloned()).filter(is_small).collect();
    files.sort();
    files.dedup();
    let mut tags: Vec<Tag> = files
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .flat_map(|text| text.lines().filter_map(tag).collect::<Vec<_>>())
        .collect();
    tags.sort_by_key(|tag| std::cmp::Reverse(tag.count));
    tags
}

/// A line: `name,category,count,"alias,alias"`.
fn tag(line: &str) -> Option<Tag> {
    let mut parts = line.splitn(4, ',');
    let name = plain(parts.next()?);
    let count = parts.nth(1).and_then(|count| count.trim().parse().ok()).unwrap_or(0);
    let aliases = parts.next().unwrap_or_default().trim().trim_matches('"');
    let aliases = aliases.split(',').map(plain).filter(|alias| !alias.is_empty()).collect();
    (!name.is_empty()).then_some(Tag { name, aliases, count })
}

fn plain(text: &str) -> String {
    text.trim().trim_matches('"').replace('_', " ").to_lowercase()
}

impl Tag {
    /// How well a beginning finds it: 0 is best.
    fn rank(&self, typed: &str) -> Option<u8> {
        if self.name.starts_with(typed) {
            return Some(0);
        }
        if self.aliases.iter().any(|alias| alias.starts_with(typed)) {
            return Some(1);
        }
        self.name.split(' ').any(|word| word.starts_with(typed)).then_some(2)
    }
}

/// The places of the tags that a beginning finds, the best first.
pub fn completions(tags: &[Tag], typed: &str, most: usize) -> Vec<usize> {
    let typed = plain(typed);
    let mut found: Vec<(u8, usize)> =
        tags.iter().enumerate().filter_map(|(place, tag)| Some((tag.rank(&typed)?, place))).collect();
    found.sort_unstable();
    found.truncate(most);
    found.into_iter().map(|(_, place)| place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a1111_tagcomplete_are_read_and_searched() {
        let folder = tempfile::tempdir().unwrap();
        let table = "1girl,0,500,\"1girls,sole_female\"\nlong_hair,0,400,\"/lh,longhair\"\nhair_ornament,0,90,\n\
                     holding_hands,0,80\nhair,0,10,\n\n";
        fs::write(folder.path().join("danbooru.csv"), table).unwrap();
        let tags = tags_in(Some(folder.path()), &[]);
        assert_eq!(tags.len(), 5);
        let file = folder.path().join("danbooru.csv");
        assert_eq!(tags_in(None, std::slice::from_ref(&file)), tags);
        assert_eq!(tags_in(Some(folder.path()), &[file, "gone.csv".into()]), tags, "nothing twice");
        let found = |typed: &str| -> Vec<&str> {
            completions(&tags, typed, 3).into_iter().map(|place| tags[place].name.as_str()).collect()
        };
        assert_eq!(found("hair"), ["hair ornament", "hair", "long hair"]);
        assert_eq!(found("sole"), ["1girl"]);
        assert_eq!(found("long_h"), ["long hair"]);
        assert_eq!(found("x"), [""; 0]);
        assert_eq!(tags_in(Some(&folder.path().join("missing")), &[]), []);
    }
}
