//! Two threads: one lists folders, reads files, keeps marks and exports; the other makes thumbnails.

use std::{
    collections::VecDeque,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use egui::ColorImage;
use sluice_engine::{output::read_settings, session::Failure};

use super::{
    export::{self, Export},
    folders,
    gathered::{CollectionStep, Deleted},
    index::{self, Index},
    item::{Item, Stamp},
    marks::{Change, Marks},
    thumbnails,
    trash::{self, Trashed},
};
use crate::{
    language::tr,
    window::{files::Wake, image_settings::ImageSettings},
};

/// Most waiting tasks, thumbnails and reports. Further tasks are rejected; further reports wait.
const TASKS: usize = 64;
const THUMBNAILS: usize = 24;
const REPORTS: usize = 32;
/// Most files that are read before they are reported, and the time after which that happens anyway.
const BATCH: usize = 256;
const SOON: Duration = Duration::from_millis(60);

/// Where the gallery keeps what it knows. Without a folder it is forgotten.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// Stars, tags and collections.
    pub data: Option<PathBuf>,
    /// The index and thumbnails, which may be deleted.
    pub cache: Option<PathBuf>,
}

impl Places {
    fn marks(&self) -> Option<PathBuf> {
        self.data.as_ref().map(|folder| folder.join("gallery.json"))
    }

    fn index(&self) -> Option<PathBuf> {
        self.cache.as_ref().map(|folder| folder.join("gallery").join("index.json"))
    }

    fn thumbnails(&self) -> Option<PathBuf> {
        self.cache.as_ref().map(|folder| folder.join("gallery").join("thumbnails"))
    }
}

/// A task for the first thread.
#[derive(Debug, Clone)]
pub enum Task {
    /// List folders and read what is new.
    Scan(Vec<PathBuf>),
    /// Read all settings of a file.
    Details(PathBuf),
    /// Say which marks there are.
    ReadMarks,
    /// Change marks.
    Mark(Vec<(PathBuf, Stamp)>, Change),
    /// Change the mark of a file, which need not be listed.
    MarkOne(PathBuf, Change),
    /// Change the list of collections.
    Gather(CollectionStep),
    /// Move files to the trash.
    Trash(Vec<PathBuf>),
    /// Take files back from the trash.
    TakeBack(Vec<Trashed>),
    /// Write images into a folder.
    Export(Box<Export>),
}

/// All settings of a file.
#[derive(Debug, Clone)]
pub struct Details {
    /// The settings, or why there are none.
    pub settings: Result<Box<ImageSettings>, String>,
    /// The program that wrote them.
    pub program: &'static str,
    /// Names and values of the settings beside the prompts.
    pub pairs: Vec<(&'static str, String)>,
}

/// What the threads say.
#[derive(Debug)]
pub enum Report {
    /// Items of the folders.
    Items {
        /// Whether they replace all others.
        is_first: bool,
        /// The items.
        items: Vec<Arc<Item>>,
        /// How many files are not read yet.
        unread: usize,
    },
    /// All marks.
    Marks(Arc<Marks>),
    /// A collection was deleted.
    CollectionDeleted(Deleted),
    /// All settings of a file.
    Details(PathBuf, Box<Details>),
    /// Files were moved to the trash.
    Trashed(Vec<Trashed>, Option<Failure>),
    /// Files are back from the trash.
    Back(Vec<PathBuf>, Option<Failure>),
    /// An export goes on, or has ended.
    Exported(export::Progress),
    /// Something failed.
    Failed(String, Failure),
    /// A file that is listed is gone.
    Lost(PathBuf),
    /// A thumbnail, or why there is none.
    Thumbnail(PathBuf, Stamp, Result<ColorImage, String>),
}

/// The threads. They end when this is dropped.
pub struct Worker {
    tasks: Sender<Task>,
    thumbnails: Sender<(PathBuf, Stamp)>,
    reports: Receiver<Report>,
}

impl Worker {
    /// Starts the threads.
    pub fn start(places: Places, wake: &Wake) -> io::Result<Self> {
        let (tasks, task_queue) = bounded(TASKS);
        let (wanted, thumbnail_queue) = bounded::<(PathBuf, Stamp)>(THUMBNAILS);
        let (report, reports) = bounded(REPORTS);
        let folder = places.thumbnails();
        let reporter = Reporter { report: report.clone(), wake: Arc::clone(wake) };
        thread::Builder::new().name("sluice-thumbnails".to_owned()).spawn(move || {
            for (path, stamp) in thumbnail_queue {
                let report = match is_gone(&path) {
                    true => Report::Lost(path),
                    false => {
                        let image = thumbnails::load(folder.as_deref(), &path, stamp);
                        Report::Thumbnail(path, stamp, image)
                    }
                };
                if reporter.say(report).is_err() {
                    break;
                }
            }
        })?;
        let reporter = Reporter { report, wake: Arc::clone(wake) };
        let mut keeper = Keeper {
            places,
            reporter,
            index: None,
            marks: None,
            unread: VecDeque::new(),
            exports: VecDeque::new(),
            is_changed: false,
        };
        thread::Builder::new().name("sluice-gallery".to_owned()).spawn(move || keeper.serve(&task_queue))?;
        Ok(Self { tasks, thumbnails: wanted, reports })
    }

    /// Queues a task. Returns `false` if too many are waiting.
    pub fn request(&self, task: Task) -> bool {
        self.tasks.try_send(task).is_ok()
    }

    /// Asks for a thumbnail. Returns `false` if too many are waiting.
    pub fn request_thumbnail(&self, path: PathBuf, stamp: Stamp) -> bool {
        self.thumbnails.try_send((path, stamp)).is_ok()
    }

    /// The next report, if there is one.
    pub fn try_recv(&self) -> Option<Report> {
        self.reports.try_recv().ok()
    }
}

/// The window is closed.
struct Gone;

struct Reporter {
    report: Sender<Report>,
    wake: Wake,
}

impl Reporter {
    fn say(&self, report: Report) -> Result<(), Gone> {
        self.report.send(report).map_err(|_| Gone)?;
        (self.wake)();
        Ok(())
    }
}

/// The state of the first thread.
struct Keeper {
    places: Places,
    reporter: Reporter,
    /// What is known, once it is read from the disk.
    index: Option<Index>,
    /// The marks, once they are read from the disk.
    marks: Option<Marks>,
    unread: VecDeque<(PathBuf, Stamp)>,
    exports: VecDeque<export::Running>,
    /// Whether the index has something that is not on the disk.
    is_changed: bool,
}

impl Keeper {
    fn serve(&mut self, tasks: &Receiver<Task>) {
        loop {
            let is_idle = self.unread.is_empty() && self.exports.is_empty();
            let task = match is_idle {
                true => tasks.recv().map_err(|_| TryRecvError::Disconnected),
                false => tasks.try_recv(),
            };
            let done = match task {
                Ok(task) => self.run(task),
                Err(TryRecvError::Empty) => self.go_on(),
                Err(TryRecvError::Disconnected) => break,
            };
            if done.is_err() {
                break;
            }
        }
        self.save_index();
    }

    fn run(&mut self, task: Task) -> Result<(), Gone> {
        match task {
            Task::Scan(folders) => self.scan(&folders),
            Task::Details(path) => {
                let details = Box::new(read_details(&path));
                self.reporter.say(Report::Details(path.clone(), details))?;
                if !is_gone(&path) {
                    return Ok(());
                }
                self.forget(&path);
                self.reporter.say(Report::Lost(path))
            }
            Task::ReadMarks => self.read_marks(),
            Task::MarkOne(path, change) => self.mark_one(&path, &change),
            Task::Mark(files, change) => {
                let change = |marks: &mut Marks| {
                    files.iter().for_each(|(path, stamp)| marks.change(path, *stamp, &change))
                };
                self.change_marks(change).map(drop)
            }
            Task::Gather(step) => match self.change_marks(|marks| marks.gather(step))?.flatten() {
                Some(deleted) => self.reporter.say(Report::CollectionDeleted(deleted)),
                None => Ok(()),
            },
            Task::Trash(paths) => {
                let (mut trashed, mut failed) = (Vec::new(), None);
                for path in paths {
                    match trash::put(&path) {
                        Ok(file) => {
                            self.forget(&path);
                            trashed.push(file);
                        }
                        Err(failure) => failed = Some(failure),
                    }
                }
                self.reporter.say(Report::Trashed(trashed, failed))
            }
            Task::TakeBack(files) => {
                let (back, failure) = match trash::take_back(&files) {
                    Ok(back) => (back, None),
                    Err(failure) => {
                        let back = files.into_iter().map(|file| file.path).filter(|path| path.exists());
                        (back.collect(), Some(failure))
                    }
                };
                self.reporter.say(Report::Back(back, failure))
            }
            Task::Export(export) => {
                self.exports.push_back(export::Running::new(*export));
                Ok(())
            }
        }
    }

    /// A small part of what takes long.
    fn go_on(&mut self) -> Result<(), Gone> {
        if let Some(running) = self.exports.front_mut() {
            let progress = running.next();
            if progress.is_done {
                self.exports.pop_front();
            }
            return self.reporter.say(Report::Exported(progress));
        }
        let start = Instant::now();
        let mut items = Vec::new();
        while items.len() < BATCH
            && start.elapsed() < SOON
            && let Some((path, stamp)) = self.unread.pop_front()
        {
            // It may be in the trash by now.
            if path.exists() {
                items.push(Arc::new(Item::read(path, stamp)));
            }
        }
        if let Some(index) = &mut self.index {
            index.extend(items.iter().map(|item| (item.path.clone(), Arc::clone(item))));
        }
        self.is_changed |= !items.is_empty();
        self.reporter.say(Report::Items { is_first: false, items, unread: self.unread.len() })?;
        if self.unread.is_empty() { self.end_scan() } else { Ok(()) }
    }

    fn scan(&mut self, folders: &[PathBuf]) -> Result<(), Gone> {
        let known = self
            .index
            .take()
            .unwrap_or_else(|| self.places.index().map(|file| index::load(&file)).unwrap_or_default());
        if self.marks.is_none() {
            self.load_marks()?;
        }
        let before = known.len();
        let (mut index, mut items, mut unread) = (Index::new(), Vec::new(), Vec::new());
        for (path, stamp) in folders::list(folders) {
            match known.get(&path).filter(|item| item.stamp == stamp) {
                Some(item) => {
                    items.push(Arc::clone(item));
                    index.insert(path, Arc::clone(item));
                }
                None => unread.push((path, stamp)),
            }
        }
        self.is_changed |= index.len() != before;
        self.index = Some(index);
        // The newest first, which are looked at first.
        unread.sort_by_key(|(_, stamp)| std::cmp::Reverse(stamp.modified));
        self.unread = unread.into();
        self.reporter.say(Report::Items { is_first: true, items, unread: self.unread.len() })?;
        if self.unread.is_empty() { self.end_scan() } else { Ok(()) }
    }

    fn end_scan(&mut self) -> Result<(), Gone> {
        self.save_index();
        if let Some(folder) = self.places.thumbnails() {
            thumbnails::tidy(&folder);
        }
        let (Some(marks), Some(index)) = (&mut self.marks, &self.index) else { return Ok(()) };
        if marks.follow(index.values().map(AsRef::as_ref)) {
            let marks = marks.clone();
            self.save_marks(&marks)?;
            return self.reporter.say(Report::Marks(Arc::new(marks)));
        }
        Ok(())
    }

    fn forget(&mut self, path: &PathBuf) {
        if let Some(index) = &mut self.index {
            self.is_changed |= index.remove(path).is_some();
        }
    }

    fn save_index(&mut self) {
        let (Some(file), Some(index), true) = (self.places.index(), &self.index, self.is_changed) else {
            return;
        };
        match index::save(&file, index) {
            Ok(()) => self.is_changed = false,
            Err(error) => tracing::warn!(%error, file = %file.display(), "the gallery's index is not kept"),
        }
    }

    fn load_marks(&mut self) -> Result<(), Gone> {
        let Some(file) = self.places.marks() else {
            self.marks = Some(Marks::default());
            return Ok(());
        };
        match Marks::load(&file) {
            Ok(marks) => {
                self.marks = Some(marks.clone());
                self.reporter.say(Report::Marks(Arc::new(marks)))
            }
            Err(error) => {
                let message = format!("{}: {error}", file.display());
                let failure = Failure { message, advice: Some(tr!("gallery-marks-unreadable-advice")) };
                self.reporter.say(Report::Failed(tr!("gallery-marks-unreadable"), failure))
            }
        }
    }

    /// Says which marks there are. What is wrong with their file is said where they are listed or changed.
    fn read_marks(&mut self) -> Result<(), Gone> {
        let Some(file) = self.places.marks().filter(|_| self.marks.is_none()) else { return Ok(()) };
        match Marks::load(&file) {
            Ok(marks) => {
                self.marks = Some(marks.clone());
                self.reporter.say(Report::Marks(Arc::new(marks)))
            }
            Err(error) => {
                tracing::debug!(%error, file = %file.display(), "the marks cannot be read yet");
                Ok(())
            }
        }
    }

    fn mark_one(&mut self, path: &Path, change: &Change) -> Result<(), Gone> {
        match path.metadata() {
            Ok(metadata) => {
                let stamp = Stamp::of(&metadata);
                self.change_marks(|marks| marks.change(path, stamp, change)).map(drop)
            }
            Err(error) => {
                let failure = Failure { message: format!("{}: {error}", path.display()), advice: None };
                self.reporter.say(Report::Failed(tr!("gallery-marks-unsaved"), failure))
            }
        }
    }

    /// Changes marks, on top of what another window may have changed. Nothing is changed if they cannot be read.
    fn change_marks<T>(&mut self, change: impl FnOnce(&mut Marks) -> T) -> Result<Option<T>, Gone> {
        if self.marks.is_none() || self.places.marks().is_some() {
            self.marks = None;
            self.load_marks()?;
        }
        let Some(marks) = &mut self.marks else { return Ok(None) };
        let result = change(marks);
        let marks = marks.clone();
        self.save_marks(&marks)?;
        self.reporter.say(Report::Marks(Arc::new(marks)))?;
        Ok(Some(result))
    }

    fn save_marks(&self, marks: &Marks) -> Result<(), Gone> {
        let Some(file) = self.places.marks() else { return Ok(()) };
        match marks.save(&file) {
            Ok(()) => Ok(()),
            Err(error) => {
                let message = format!("{}: {error}", file.display());
                let advice = Some(tr!("gallery-marks-unsaved-advice"));
                let failure = Failure { message, advice };
                self.reporter.say(Report::Failed(tr!("gallery-marks-unsaved"), failure))
            }
        }
    }
}

/// Whether a file was deleted or moved, perhaps by another program.
fn is_gone(path: &Path) -> bool {
    matches!(path.try_exists(), Ok(false))
}

fn read_details(path: &Path) -> Details {
    match read_settings(path) {
        Ok(restored) => Details {
            program: restored.origin.name(),
            pairs: restored.settings.pairs(),
            settings: Ok(Box::new(ImageSettings::from(restored))),
        },
        Err(error) => Details { settings: Err(error.to_string()), program: "", pairs: Vec::new() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_thumbnail_of_a_file_that_is_gone_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        image::save_buffer(&path, &[200; 3 * 8 * 8], 8, 8, image::ExtendedColorType::Rgb8).unwrap();
        let stamp = Stamp::of(&path.metadata().unwrap());
        let places = Places { data: None, cache: Some(folder.path().join("cache")) };
        let wake: Wake = Arc::new(|| ());
        let worker = Worker::start(places, &wake).unwrap();
        let answer = || {
            assert!(worker.request_thumbnail(path.clone(), stamp));
            worker.reports.recv_timeout(Duration::from_secs(60)).unwrap()
        };
        assert!(matches!(answer(), Report::Thumbnail(_, _, Ok(_))));
        std::fs::remove_file(&path).unwrap();
        let last = answer();
        assert!(matches!(&last, Report::Lost(lost) if *lost == path), "{last:?}");
    }
}
