//! Finds what other programs have put into the folder of results.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    FileEvent,
    extensions::{SAVED_EXTENSIONS, has_extension},
    read::{length_of, read_thumbnail, settings_inside},
};

/// The images and clips of a folder that are newer than this and not known, the oldest first.
pub(super) fn added_to(folder: &Path, known: &[PathBuf], since: SystemTime) -> Vec<FileEvent> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let mut new: Vec<(SystemTime, PathBuf)> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| has_extension(path, &SAVED_EXTENSIONS) && !known.contains(path))
        .filter_map(|path| Some((path.metadata().and_then(|metadata| metadata.modified()).ok()?, path)))
        .filter(|(time, _)| *time >= since)
        .collect();
    new.sort();
    new.into_iter().filter_map(|(_, path)| added(path)).collect()
}

fn added(path: PathBuf) -> Option<FileEvent> {
    let settings = settings_inside(&path);
    match read_thumbnail(&path) {
        Ok((thumbnail, length)) => {
            let length = length.or_else(|| length_of(settings.as_deref()));
            Some(FileEvent::Added { path, thumbnail, length, settings })
        }
        Err(failure) => {
            tracing::debug!(path = %path.display(), failure.message, "it may not be whole yet");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_what_is_new_and_whole_is_added() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["old.png", "known.png", "new.png"] {
            image::RgbImage::new(4, 4).save(at(name)).unwrap();
        }
        std::fs::write(at("half.png"), b"\x89PNG\r\n\x1a\n and no more").unwrap();
        std::fs::write(at("notes.txt"), b"no image").unwrap();
        let since = SystemTime::now() - Duration::from_secs(60);
        let old = std::fs::File::options().write(true).open(at("old.png")).unwrap();
        old.set_modified(since - Duration::from_secs(60)).unwrap();
        let found = added_to(folder.path(), &[at("known.png")], since);
        let [FileEvent::Added { path, settings: None, .. }] = &found[..] else { panic!("{found:?}") };
        assert_eq!(*path, at("new.png"));
    }
}
