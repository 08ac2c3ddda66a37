//! Reads what the place of models shows, on a thread of its own.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use egui::ColorImage;
use sluice_engine::{
    checkpoint::{CheckpointError, read_notes},
    models::{Inventory, OpenedModels, Remembered, Surroundings, known_models, scan, well_known_places},
    request::ModelSource,
    session::{Failure, Hello, ModelSummary, model_summary},
};

use crate::window::{
    files::Wake,
    state::{KnownEntry, SearchedFolder, shrink},
};

/// Maximum number of waiting tasks, and of waiting results.
const TASKS: usize = 64;
const RESULTS: usize = 64;
/// The progress of a search is told after this many files.
const TOLD: usize = 16;
/// What the header of a LoRA calls its trigger words.
const TRIGGER: &str = "modelspec.trigger_phrase";

/// Where models are searched for, apart from folders that are added in the window.
#[derive(Debug, Clone, Default)]
pub struct LibraryOptions {
    /// Folders that were named outside of the window.
    pub folders: Vec<PathBuf>,
    /// Whether the folders of other programs are searched.
    pub finds_programs: bool,
    /// Where results are kept for the next start.
    pub cache: Option<PathBuf>,
}

/// A task for the worker.
#[derive(Debug, Clone, PartialEq)]
pub enum LibraryTask {
    /// Searches the folders, and those that were added in the window.
    Search(Vec<PathBuf>),
    /// Opens the well-known models.
    Known,
    /// Finds the parts of a model. Missing ones are also searched in these folders.
    Describe(ModelSource, Vec<PathBuf>),
    /// Reads the trigger words in the header of a LoRA.
    TriggerWords(PathBuf),
    /// Reads an image, with a longer side of at most this.
    Preview(PathBuf, usize),
}

/// A result of the worker.
#[derive(Debug)]
pub enum LibraryEvent {
    /// The folders that are searched.
    Folders(Vec<SearchedFolder>),
    /// Files that were read, and files that have to be.
    Progress(usize, usize),
    /// What is in the folders; `None` if nothing has changed since the last time.
    Listed(Option<Inventory>),
    /// Well-known models.
    Known(Vec<KnownEntry>),
    /// What a model consists of, or why it cannot be opened.
    Described(ModelSource, Result<Box<ModelSummary>, Failure>),
    /// Trigger words.
    TriggerWords(PathBuf, Vec<String>),
    /// An image, if it can be read.
    Preview(PathBuf, usize, Option<ColorImage>),
}

/// The worker and its results.
pub struct LibraryWorker {
    tasks: Sender<LibraryTask>,
    results: Receiver<LibraryEvent>,
}

impl LibraryWorker {
    /// Starts the worker. It ends when this is dropped. Without a thread it takes no tasks.
    pub fn start(options: LibraryOptions, wake: Wake) -> Self {
        let (tasks, queue) = bounded(TASKS);
        let (report, results) = bounded(RESULTS);
        let reader = Reader { options, remembered: None, last: None, report: Reporter { report, wake } };
        let thread = thread::Builder::new().name("window library".to_owned());
        if let Err(error) = thread.spawn(move || reader.run(&queue)) {
            tracing::error!(%error, "the thread that reads models cannot be started");
        }
        Self { tasks, results }
    }

    /// Queues a task. Returns `false` if too many are waiting.
    pub fn request(&self, task: LibraryTask) -> bool {
        match self.tasks.try_send(task) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => false,
            Err(TrySendError::Disconnected(task)) => {
                tracing::warn!(?task, "the reader of models has ended");
                false
            }
        }
    }

    /// The next result, if there is one.
    pub fn try_recv(&self) -> Option<LibraryEvent> {
        self.results.try_recv().ok()
    }
}

/// The window is closed.
struct Gone;

struct Reporter {
    report: Sender<LibraryEvent>,
    wake: Wake,
}

impl Reporter {
    fn say(&self, event: LibraryEvent) -> Result<(), Gone> {
        self.report.send(event).map_err(|_| Gone)?;
        (self.wake)();
        Ok(())
    }

    /// Says it unless there is no room for it.
    fn offer(&self, event: LibraryEvent) {
        if self.report.try_send(event).is_ok() {
            (self.wake)();
        }
    }
}

struct Reader {
    options: LibraryOptions,
    /// Read when it is first needed.
    remembered: Option<Remembered>,
    last: Option<Arc<Inventory>>,
    report: Reporter,
}

impl Reader {
    fn run(mut self, tasks: &Receiver<LibraryTask>) {
        for task in tasks {
            if self.perform(task).is_err() {
                break;
            }
        }
    }

    fn perform(&mut self, task: LibraryTask) -> Result<(), Gone> {
        match task {
            LibraryTask::Search(added) => self.search(&added),
            LibraryTask::Known => self.report.say(LibraryEvent::Known(known())),
            LibraryTask::Describe(source, folders) => {
                let described = describe(&source, folders);
                self.report.say(LibraryEvent::Described(source, described))
            }
            LibraryTask::TriggerWords(path) => {
                let words = trigger_words(&path);
                self.report.say(LibraryEvent::TriggerWords(path, words))
            }
            LibraryTask::Preview(path, side) => {
                let image = preview(&path, side);
                self.report.say(LibraryEvent::Preview(path, side, image))
            }
        }
    }

    fn search(&mut self, added: &[PathBuf]) -> Result<(), Gone> {
        let folders = self.folders(added);
        let paths: Vec<PathBuf> = folders.iter().map(|folder| folder.path().clone()).collect();
        self.report.say(LibraryEvent::Folders(folders))?;
        let version = Hello::own().source;
        let cache = self.options.cache.clone();
        let load = || cache.as_ref().map(|path| Remembered::load(path, &version)).unwrap_or_default();
        let remembered = self.remembered.get_or_insert_with(load);
        let report = &self.report;
        let inventory = scan(&paths, remembered, |read, of| {
            if read % TOLD == 0 {
                report.offer(LibraryEvent::Progress(read, of));
            }
        });
        if self.last.as_deref() == Some(&inventory) {
            return self.report.say(LibraryEvent::Listed(None));
        }
        if let Some(path) = &cache
            && let Err(error) = remembered.save(path, &version)
        {
            tracing::warn!(path = %path.display(), %error, "the list of models cannot be kept");
        }
        self.last = Some(Arc::new(inventory.clone()));
        self.report.say(LibraryEvent::Listed(Some(inventory)))
    }

    fn folders(&self, added: &[PathBuf]) -> Vec<SearchedFolder> {
        let LibraryOptions { folders, finds_programs, .. } = &self.options;
        let mut all: Vec<SearchedFolder> = added.iter().cloned().map(SearchedFolder::Added).collect();
        all.extend(folders.iter().filter(|folder| folder.exists()).cloned().map(SearchedFolder::Named));
        if *finds_programs {
            all.extend(programs().into_iter().map(SearchedFolder::Found));
        }
        let mut seen: Vec<PathBuf> = Vec::new();
        all.retain(|folder| {
            let real = fs::canonicalize(folder.path()).unwrap_or_else(|_| folder.path().clone());
            let is_new = !seen.contains(&real);
            seen.push(real);
            is_new
        });
        all
    }
}

fn programs() -> Vec<sluice_engine::models::Place> {
    let user = directories::UserDirs::new();
    let mut bases: Vec<PathBuf> = Vec::new();
    if let Some(user) = &user {
        let known = [user.document_dir(), user.desktop_dir(), user.download_dir()];
        bases.extend(known.into_iter().flatten().map(Path::to_owned));
        let usual = ["AI", "ai", "apps", "Apps", "git", "src", "projects"];
        bases.extend(usual.map(|name| user.home_dir().join(name)));
    }
    let roots: &[&str] = if cfg!(windows) { &["C:\\", "D:\\", "E:\\", "F:\\"] } else { &["/opt"] };
    bases.extend(roots.iter().map(PathBuf::from));
    let home = user.map(|user| user.home_dir().to_owned());
    well_known_places(&Surroundings { home, bases, variable: &|name| env::var_os(name) })
}

/// The well-known models that families open.
fn known() -> Vec<KnownEntry> {
    let entry = |model: &'static sluice_engine::models::KnownModel| {
        Ok::<_, CheckpointError>(KnownEntry {
            id: model.id.clone(),
            aliases: model.aliases.clone(),
            name: model.name.clone(),
            family: model.open()?.family.name().to_owned(),
            hub: model.hub.clone(),
            licence: model.licence.clone(),
            bytes: model.bytes()?,
            defaults: model.defaults()?,
        })
    };
    let entries = known_models().iter().filter_map(|model| {
        let warn = |error: &CheckpointError| tracing::warn!(model = model.id, %error, "a model is left out");
        entry(model).inspect_err(warn).ok()
    });
    entries.collect()
}

fn describe(source: &ModelSource, folders: Vec<PathBuf>) -> Result<Box<ModelSummary>, Failure> {
    match model_summary(source, &OpenedModels::new(folders)) {
        Ok(mut summary) => {
            for component in &mut summary.components {
                component.blocks = Vec::new();
            }
            Ok(Box::new(summary))
        }
        Err(error) => Err(Failure { message: error.to_string(), advice: Some(error.advice()) }),
    }
}

/// The trigger words in a header; none if it has none or cannot be read, which the list says already.
fn trigger_words(path: &Path) -> Vec<String> {
    let notes = read_notes(path).unwrap_or_default();
    let words = notes.get(TRIGGER).map(String::as_str).unwrap_or_default();
    words.split(',').map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn preview(path: &Path, side: usize) -> Option<ColorImage> {
    let read = || image::ImageReader::open(path)?.with_guessed_format()?.decode().map_err(io::Error::other);
    let image = match read() {
        Ok(image) => image.into_rgb8(),
        Err(error) => {
            tracing::debug!(path = %path.display(), %error, "a preview is left out");
            return None;
        }
    };
    let whole = ColorImage::from_rgb([image.width() as usize, image.height() as usize], image.as_raw());
    Some(match whole.size.iter().any(|own| *own > side) {
        true => shrink(&whole, side),
        false => whole,
    })
}
