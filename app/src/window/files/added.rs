//! Finds what other programs have put into the folder of results.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use super::{
    FileEvent,
    extensions::{SAVED_EXTENSIONS, has_extension},
    read::{length_of, read_thumbnail, settings_inside},
    reporter::Gone,
};
use crate::window::state::Recents;

/// Lists the images and clips of a folder. Those that are not known are added, the oldest first, as many as the list of results
/// has room for. If none is known yet, none is added.
pub(super) fn look(
    folder: &Path,
    known: Option<&HashSet<PathBuf>>,
    mut say: impl FnMut(FileEvent) -> Result<(), Gone>,
) -> Result<(), Gone> {
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: HashSet<PathBuf> = entries.filter(|path| has_extension(path, &SAVED_EXTENSIONS)).collect();
    let mut are_whole = true;
    if let Some(known) = known {
        let changed_at = |path: &PathBuf| path.metadata().and_then(|metadata| metadata.modified()).ok();
        let mut new: Vec<_> = files.difference(known).map(|path| (changed_at(path), path.clone())).collect();
        new.sort();
        let over = new.len().saturating_sub(Recents::LIMIT);
        for (_, path) in new.split_off(over) {
            match added(&path) {
                Some(event) => say(event)?,
                None => {
                    are_whole = false;
                    files.remove(&path);
                }
            }
        }
    }
    say(FileEvent::FolderListed { folder: folder.to_owned(), files, are_whole })
}

fn added(path: &Path) -> Option<FileEvent> {
    let settings = settings_inside(path);
    match read_thumbnail(path) {
        Ok((thumbnail, length)) => {
            let length = length.or_else(|| length_of(settings.as_deref()));
            Some(FileEvent::Added { path: path.to_owned(), thumbnail, length, settings })
        }
        Err(failure) => {
            tracing::debug!(path = %path.display(), failure.message, "it may not be whole yet");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(folder: &Path, known: Option<&HashSet<PathBuf>>) -> Vec<FileEvent> {
        let mut said = Vec::new();
        look(folder, known, |event| {
            said.push(event);
            Ok(())
        })
        .unwrap_or_else(|_| unreachable!());
        said
    }

    #[test]
    fn only_what_is_new_and_whole_is_added() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let save = |name: &str| image::RgbImage::new(4, 4).save(at(name)).unwrap();
        save("old.png");
        let [FileEvent::FolderListed { files, are_whole: true, .. }] = &looked(folder.path(), None)[..]
        else {
            panic!("nothing is new at first")
        };
        assert_eq!(*files, HashSet::from([at("old.png")]));
        save("new.png");
        std::fs::write(at("half.png"), b"\x89PNG\r\n\x1a\n and no more").unwrap();
        std::fs::write(at("notes.txt"), b"no image").unwrap();
        // A file that is moved keeps its time.
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(1 << 20);
        let moved = std::fs::File::options().write(true).open(at("new.png")).unwrap();
        moved.set_modified(long_ago).unwrap();
        let found = looked(folder.path(), Some(files));
        let [
            FileEvent::Added { path, settings: None, .. },
            FileEvent::FolderListed { files, are_whole: false, .. },
        ] = &found[..]
        else {
            panic!("{found:?}")
        };
        assert_eq!(*path, at("new.png"));
        assert_eq!(*files, HashSet::from([at("old.png"), at("new.png")]), "the half one is looked at again");
        save("half.png");
        let found = looked(folder.path(), Some(files));
        let [FileEvent::Added { path, .. }, FileEvent::FolderListed { are_whole: true, .. }] = &found[..]
        else {
            panic!("{found:?}")
        };
        assert_eq!(*path, at("half.png"));
    }
}
