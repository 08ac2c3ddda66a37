//! Sharded weights: `NAME-00001-of-00003.safetensors` and so on.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use super::{CheckpointError, TensorTable, header::read_headers};

/// The number of a shard within its set.
struct Numbered {
    before: String,
    count: usize,
    extension: String,
}

impl Numbered {
    fn parse(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (stem, extension) = name.rsplit_once('.')?;
        let (rest, count) = stem.rsplit_once("-of-")?;
        let (before, number) = rest.rsplit_once('-')?;
        let digits = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(number) || !digits(count) {
            return None;
        }
        let (number, count): (usize, usize) = (number.parse().ok()?, count.parse().ok()?);
        let numbered = Self { before: before.to_owned(), count, extension: extension.to_owned() };
        (1..=count).contains(&number).then_some(numbered)
    }

    fn name(&self, number: usize) -> String {
        let Self { before, count, extension, .. } = self;
        format!("{before}-{number:05}-of-{count:05}.{extension}")
    }
}

/// All shards of the set that a file belongs to, in order; only the file itself if its name has no number.
///
/// # Errors
/// Fails if a shard is missing.
pub fn files_of(path: &Path) -> Result<Vec<PathBuf>, CheckpointError> {
    let Some(own) = Numbered::parse(path) else { return Ok(vec![path.to_owned()]) };
    let mut files = Vec::new();
    for number in 1..=own.count {
        let file = path.with_file_name(own.name(number));
        if !file.is_file() {
            return Err(CheckpointError::MissingShard { index: path.to_owned(), shard: file });
        }
        files.push(file);
    }
    Ok(files)
}

/// Reads the headers of a file and of the other shards of its set.
///
/// # Errors
/// As [`read_header`](super::read_header), and if a shard is missing.
pub fn read_weights(path: &Path) -> Result<TensorTable, CheckpointError> {
    read_headers(&files_of(path)?)
}

/// Keeps only the first shard of each set. `files` must be sorted by name.
pub fn without_continuations(files: &mut Vec<PathBuf>) {
    let mut seen = HashSet::new();
    files.retain(|file| match Numbered::parse(file) {
        Some(own) => seen.insert(file.with_file_name(own.name(0))),
        None => true,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_files_are_one() {
        let mut files: Vec<PathBuf> = [
            "a-00001-of-00002.gguf",
            "a-00002-of-00002.safetensors",
            "a-00002-of-00002.gguf",
            "a.safetensors",
            "b-00002-of-00003.gguf",
            "b-00003-of-00003.gguf",
            "b-0001-of-0002.gguf",
            "b-00007-of-00003.gguf",
        ]
        .map(PathBuf::from)
        .to_vec();
        without_continuations(&mut files);
        let left: Vec<&str> = files.iter().filter_map(|file| file.to_str()).collect();
        let expected = [
            "a-00001-of-00002.gguf",
            "a-00002-of-00002.safetensors",
            "a.safetensors",
            "b-00002-of-00003.gguf",
            "b-0001-of-0002.gguf",
            "b-00007-of-00003.gguf",
        ];
        assert_eq!(left, expected);
    }
}
