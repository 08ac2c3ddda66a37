//! Writes copies of images for other programs.

use crate::language::tr;
use std::{
    collections::VecDeque,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use sluice_engine::{
    output::{Date, NameError, NameFacts, StillFormat, export_image, file_name_of, read_settings},
    session::Failure,
    source,
};

use super::item::Item;

/// How images are exported.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportOptions {
    /// Where they are written.
    pub folder: PathBuf,
    /// The kind of file.
    pub format: StillFormat,
    /// The quality of lossy formats, 1…100.
    pub quality: u8,
    /// Whether the files contain their settings.
    pub with_settings: bool,
    /// The template of their names.
    pub template: String,
}

impl ExportOptions {
    /// The name that an item gets without its extension. `number` counts from 1.
    pub fn name(&self, item: &Item, number: usize, count: usize) -> Result<String, NameError> {
        let stem = item.path.file_stem().unwrap_or_default().to_string_lossy();
        let facts = item.facts.as_ref();
        let facts = NameFacts {
            name: &stem,
            number,
            count,
            date: Some(Date::of(item.stamp.time())),
            seed: facts.map(|facts| facts.seed),
            model: facts.map_or("", |facts| &facts.model),
            prompt: facts.map_or("", |facts| &facts.prompt),
            size: item.size,
        };
        file_name_of(&self.template, &facts)
    }
}

/// What is exported.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// The images. Clips among them are left out.
    pub items: Vec<Arc<Item>>,
    /// How.
    pub options: ExportOptions,
}

/// How far an export is.
#[derive(Debug, Clone)]
pub struct Progress {
    /// Images that were written.
    pub written: usize,
    /// All images.
    pub count: usize,
    /// Clips, which are left out.
    pub clips: usize,
    /// Images that could not be written.
    pub failed: usize,
    /// Why the last one of these could not be.
    pub failure: Option<Failure>,
    /// Where they are written.
    pub folder: PathBuf,
    /// Whether it has ended.
    pub is_done: bool,
}

/// An export that goes on.
pub(super) struct Running {
    options: ExportOptions,
    waiting: VecDeque<Arc<Item>>,
    progress: Progress,
}

impl Running {
    pub(super) fn new(Export { items, options }: Export) -> Self {
        let all = items.len();
        let waiting: VecDeque<_> = items.into_iter().filter(|item| item.clip.is_none()).collect();
        let progress = Progress {
            written: 0,
            count: waiting.len(),
            clips: all - waiting.len(),
            failed: 0,
            failure: None,
            folder: options.folder.clone(),
            is_done: false,
        };
        Self { options, waiting, progress }
    }

    /// Writes the next image.
    pub(super) fn next(&mut self) -> Progress {
        if let Some(item) = self.waiting.pop_front() {
            let number = self.progress.count - self.waiting.len();
            match write(&self.options, &item, number, self.progress.count) {
                Ok(()) => self.progress.written += 1,
                Err(failure) => {
                    self.progress.failed += 1;
                    self.progress.failure = Some(failure);
                }
            }
        }
        self.progress.is_done = self.waiting.is_empty();
        self.progress.clone()
    }
}

fn write(options: &ExportOptions, item: &Item, number: usize, count: usize) -> Result<(), Failure> {
    let advice = tr!("gallery-export-advice");
    let failed = |message: String, advice: &str| Failure { message, advice: Some(advice.to_owned()) };
    let folder = &options.folder;
    let named = |error: NameError| failed(error.to_string(), &tr!("gallery-export-name-advice"));
    let name = options.name(item, number, count).map_err(named)?;
    fs::create_dir_all(folder).map_err(|error| failed(format!("{}: {error}", folder.display()), &advice))?;
    let image = source::read(&item.path).map_err(|error| failed(error.to_string(), error.advice()))?;
    let settings = match options.with_settings {
        true => read_settings(&item.path).ok().map(|restored| restored.settings),
        false => None,
    };
    let path = free_name(folder, &name, options.format.extension())
        .map_err(|error| failed(format!("{}: {error}", folder.display()), &advice))?;
    export_image(&path, &image, options.format, options.quality, settings.as_ref())
        .map_err(|error| failed(error.to_string(), error.advice().unwrap_or(&advice)))
}

/// A path that does not exist yet.
fn free_name(folder: &Path, name: &str, extension: &str) -> io::Result<PathBuf> {
    let named = |number: u32| match number {
        1 => folder.join(format!("{name}.{extension}")),
        _ => folder.join(format!("{name} {number}.{extension}")),
    };
    for number in 1..u32::MAX {
        let path = named(number);
        if !path.try_exists()? {
            return Ok(path);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use sluice_engine::{
        output::{Image, Media, Settings, write_png},
        request::Request,
    };

    use super::{super::item::Stamp, *};

    fn item(folder: &Path, name: &str, seed: u64) -> Arc<Item> {
        let path = folder.join(name);
        let request = Request { prompt: "a boat".to_owned(), seed, ..Request::default() };
        let image = Image::opaque(40, 24, (0..40 * 24 * 3).map(|n| n as u8).collect());
        write_png(&path, &Media::Image(image), &Settings::new(&request, "Starter", "", 0)).unwrap();
        Arc::new(Item::read(path.clone(), Stamp::of(&path.metadata().unwrap())))
    }

    #[test]
    fn images_are_written_in_each_format_with_settings_or_without() {
        let folder = tempfile::tempdir().unwrap();
        let items = vec![item(folder.path(), "a.png", 1), item(folder.path(), "b.png", 2)];
        for format in StillFormat::ALL {
            for with_settings in [true, false] {
                let options = ExportOptions {
                    folder: folder.path().join(format!("{} {with_settings}", format.title())),
                    format,
                    quality: 90,
                    with_settings,
                    template: "{model}".to_owned(),
                };
                let mut running = Running::new(Export { items: items.clone(), options: options.clone() });
                assert!(!running.next().is_done);
                let end = running.next();
                assert!(end.is_done && end.failure.is_none(), "{end:?}");
                assert_eq!((end.written, end.failed), (2, 0));
                for (name, seed) in [("Starter", 1), ("Starter 2", 2)] {
                    let path = options.folder.join(format!("{name}.{}", format.extension()));
                    let read = source::read(&path).unwrap();
                    assert_eq!((read.width, read.height), (40, 24));
                    match read_settings(&path) {
                        Ok(restored) => {
                            assert!(with_settings, "{}", path.display());
                            assert_eq!(restored.settings.seed, seed);
                        }
                        Err(error) => assert!(!with_settings, "{error}"),
                    }
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_exported_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let whole = item(folder.path(), "a.png", 1);
        let broken = Arc::new(Item { path: folder.path().join("none.png"), ..(*whole).clone() });
        let clip = Arc::new(Item { clip: Some((9, 8.0)), ..(*whole).clone() });
        let options = ExportOptions {
            folder: folder.path().join("new"),
            format: StillFormat::Png,
            quality: 90,
            with_settings: true,
            template: "{name}".to_owned(),
        };
        let mut running = Running::new(Export { items: vec![broken, clip, whole], options });
        let first = running.next();
        assert!(first.failure.is_some_and(|failure| failure.message.contains("none.png")));
        let end = running.next();
        assert_eq!((end.written, end.failed, end.clips, end.count, end.is_done), (1, 1, 1, 2, true));
    }
}
