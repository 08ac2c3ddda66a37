//! Looks for the results of files that are there already.

use std::{
    iter,
    path::{Path, PathBuf},
};

use sluice_engine::output::{InputFile, read_settings};

use crate::window::state::{FileChange, Makers, ResultOf};

/// The networks that made results of these files; `None` once that is of no use.
pub(super) fn makers_of(
    change: FileChange,
    results: Vec<ResultOf>,
    is_of_use: impl Fn() -> bool,
) -> Option<Makers> {
    let with_makers = |of: ResultOf| {
        let makers = is_of_use().then(|| makers_of_one(change, &of))?;
        Some((of.input, makers))
    };
    results.into_iter().map(with_makers).collect()
}

fn makers_of_one(change: FileChange, ResultOf { input, result }: &ResultOf) -> Vec<Option<String>> {
    let file = InputFile::new(input);
    let there = named_after(result).take_while(|path| path.exists());
    there.filter(|path| file.made(path)).map(|path| maker(change, &path)).collect()
}

/// The names that results get one after the other, as long as files have them.
fn named_after(result: &Path) -> impl Iterator<Item = PathBuf> {
    let [stem, extension] = [result.file_stem(), result.extension()]
        .map(|part| part.unwrap_or_default().to_string_lossy().into_owned());
    let numbered = move |number: u32| result.with_file_name(format!("{stem}-{number}.{extension}"));
    iter::once(result.to_owned()).chain((2..).map(numbered))
}

/// The network that made a result, if that says so.
fn maker(change: FileChange, result: &Path) -> Option<String> {
    let settings = read_settings(result).ok()?.settings;
    match change {
        FileChange::Enlarge => settings.enlarged.last().map(|last| last.upscaler.clone()),
        FileChange::Interpolate => settings.interpolated.last().map(|last| last.model.clone()),
        FileChange::Detail => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_numbered_after_the_first() {
        let names: Vec<PathBuf> = named_after(Path::new("out/photo.of.me-1.5x.png")).take(3).collect();
        let expected =
            ["out/photo.of.me-1.5x.png", "out/photo.of.me-1.5x-2.png", "out/photo.of.me-1.5x-3.png"];
        assert_eq!(names, expected.map(PathBuf::from));
    }

    #[test]
    fn a_pass_ends_once_it_is_of_no_use() {
        let names = ["a.png", "b.png", "c.png"];
        let of = |name: &str| ResultOf { input: name.into(), result: Path::new("/nowhere").join(name) };
        let results = || Vec::from(names.map(of));
        assert_eq!(makers_of(FileChange::Enlarge, results(), || true).map(|makers| makers.len()), Some(3));
        let asked = std::cell::Cell::new(0);
        let is_of_use = || {
            asked.set(asked.get() + 1);
            asked.get() < 2
        };
        assert_eq!(makers_of(FileChange::Enlarge, results(), is_of_use), None);
        assert_eq!(asked.get(), 2, "the third file is not looked at");
    }
}
