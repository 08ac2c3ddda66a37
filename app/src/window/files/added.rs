//! Finds what other programs have put into the folder of results.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use super::{
    FileEvent,
    read::{all_images, length_of, newest, read_thumbnail, settings_inside},
    reporter::Gone,
};

/// Lists the images and clips of a folder and of its subfolders. Those that are not known are added, the oldest first, as many
/// as the list of results has room for. If none is known yet, none is added.
pub(super) fn look(
    folder: &Path,
    known: Option<&HashSet<PathBuf>>,
    mut say: impl FnMut(FileEvent) -> Result<(), Gone>,
) -> Result<(), Gone> {
    let mut images = all_images(folder);
    let mut files: HashSet<PathBuf> = images.iter().cloned().collect();
    let mut are_whole = true;
    if let Some(known) = known {
        images.retain(|path| !known.contains(path));
        for path in newest(folder, images).into_iter().rev() {
            match read_thumbnail(&path) {
                Ok((thumbnail, length)) => {
                    let settings = settings_inside(&path);
                    // Subfolders may have images that were not generated.
                    if settings.is_some() || path.parent() == Some(folder) {
                        let length = length.or_else(|| length_of(settings.as_deref()));
                        say(FileEvent::Added { path, thumbnail, length, settings })?;
                    }
                }
                Err(failure) => {
                    tracing::debug!(path = %path.display(), failure.message, "it may not be whole yet");
                    are_whole = false;
                    files.remove(&path);
                }
            }
        }
    }
    say(FileEvent::FolderListed { folder: folder.to_owned(), files, are_whole })
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        output::{Image, Media, Settings, write_png},
        request::Request,
    };

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

    #[test]
    fn what_was_generated_is_found_in_subfolders_too() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let generated = |name: &str| {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            let media = Media::Image(Image::opaque(4, 4, vec![0; 48]));
            write_png(&at(name), &media, &Settings::new(&Request::default(), "Starter", "", 0)).unwrap();
        };
        let photo = |name: &str| image::RgbImage::new(4, 4).save(at(name)).unwrap();
        // More than are looked into for the newest results.
        for number in 0..20 {
            generated(&format!("{number}/old.png"));
        }
        let [FileEvent::FolderListed { files, .. }] = &looked(folder.path(), None)[..] else {
            panic!("nothing is new at first")
        };
        assert_eq!(files.len(), 20);
        generated("0/new.png");
        generated("1/deeper/new.png");
        generated("masks/new.png");
        generated("exported/new.png");
        photo("1/photo.png");
        photo("photo.png");
        let found = looked(folder.path(), Some(files));
        let Some((FileEvent::FolderListed { files: now, are_whole: true, .. }, added)) = found.split_last()
        else {
            panic!("{found:?}")
        };
        assert_eq!(now.len(), 24, "a photo in a subfolder is known from now on");
        let added: HashSet<_> = added
            .iter()
            .map(|event| match event {
                FileEvent::Added { path, .. } => path.clone(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(added, HashSet::from([at("0/new.png"), at("1/deeper/new.png"), at("photo.png")]));
    }
}
