//! Writes copies of images and clips for other programs.

use crate::language::tr;
use std::{
    borrow::Cow,
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

/// The subfolder of the output folder into which copies are written, unless another folder is chosen.
pub const EXPORTED: &str = "exported";

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
    /// The extension that an item gets. That of a clip stays.
    pub fn extension<'a>(&self, item: &'a Item) -> Cow<'a, str> {
        match item.clip {
            Some(_) => item.path.extension().unwrap_or_default().to_string_lossy(),
            None => self.format.extension().into(),
        }
    }

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
    /// The images and clips. Clips are copied as they are.
    pub items: Vec<Arc<Item>>,
    /// How.
    pub options: ExportOptions,
}

/// How far an export is.
#[derive(Debug, Clone)]
pub struct Progress {
    /// Files that were written.
    pub written: usize,
    /// All files.
    pub count: usize,
    /// Files that could not be written.
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
        let waiting = VecDeque::from(items);
        let progress = Progress {
            written: 0,
            count: waiting.len(),
            failed: 0,
            failure: None,
            folder: options.folder.clone(),
            is_done: false,
        };
        Self { options, waiting, progress }
    }

    /// Writes the next file.
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
    let path = free_name(folder, &name, &options.extension(item))
        .map_err(|error| failed(format!("{}: {error}", folder.display()), &advice))?;
    if item.clip.is_some() {
        return copy(&item.path, &path)
            .map_err(|error| failed(format!("{}: {error}", item.path.display()), &advice));
    }
    write_copy(&item.path, &path, options.format, options.quality, options.with_settings)
}

/// Writes a copy of an image into a file that is not there yet.
pub fn write_copy(
    original: &Path,
    path: &Path,
    format: StillFormat,
    quality: u8,
    with_settings: bool,
) -> Result<(), Failure> {
    let failed = |message: String, advice: &str| Failure { message, advice: Some(advice.to_owned()) };
    let image = source::read(original).map_err(|error| failed(error.to_string(), error.advice()))?;
    let settings = match with_settings {
        true => read_settings(original).ok().map(|restored| restored.settings),
        false => None,
    };
    export_image(path, &image, format, quality, settings.as_ref()).map_err(|error| {
        let advice = tr!("gallery-export-advice");
        failed(error.to_string(), error.advice().unwrap_or(&advice))
    })
}

/// Copies a file as it is. Until all of it is there, it has another name.
fn copy(original: &Path, path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let whole = tempfile::NamedTempFile::new_in(folder)?.into_temp_path();
    fs::copy(original, &whole)?;
    whole.persist(path).map_err(|error| error.error)
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

    fn options(folder: &Path) -> ExportOptions {
        ExportOptions {
            folder: folder.join("new"),
            format: StillFormat::Jpeg,
            quality: 90,
            with_settings: false,
            template: "{name}".to_owned(),
        }
    }

    #[test]
    fn what_cannot_be_exported_is_counted() {
        let folder = tempfile::tempdir().unwrap();
        let whole = item(folder.path(), "a.png", 1);
        let broken = Arc::new(Item { path: folder.path().join("none.png"), ..(*whole).clone() });
        let gone =
            Arc::new(Item { path: folder.path().join("none.mp4"), clip: Some((9, 8.0)), ..(*whole).clone() });
        let options = options(folder.path());
        let mut running = Running::new(Export { items: vec![broken, gone, whole], options });
        for name in ["none.png", "none.mp4"] {
            let failure = running.next().failure.unwrap();
            assert!(failure.message.contains(name), "{failure:?}");
        }
        let end = running.next();
        assert_eq!((end.written, end.failed, end.count, end.is_done), (1, 2, 3, true));
        let written = fs::read_dir(folder.path().join("new")).unwrap().count();
        assert_eq!(written, 1, "nothing is left half-written");
    }

    #[test]
    fn clips_are_copied_as_they_are_under_names_of_the_template() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("waves.MP4");
        fs::write(&path, b"frames and settings").unwrap();
        let image = item(folder.path(), "a.png", 1);
        let clip = Arc::new(Item { path, clip: Some((9, 8.0)), ..(*image).clone() });
        let options = ExportOptions { template: "{number} {name}".to_owned(), ..options(folder.path()) };
        let items = vec![Arc::clone(&clip), image, clip];
        let mut running = Running::new(Export { items, options: options.clone() });
        while !running.next().is_done {}
        for name in ["1 waves.MP4", "3 waves.MP4"] {
            assert_eq!(fs::read(options.folder.join(name)).unwrap(), b"frames and settings");
        }
        assert!(options.folder.join("2 a.jpg").exists());
    }
}
