//! What the window needs before it opens.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use crossbeam_channel::Receiver;
use sluice_engine::request::ModelSource;

use crate::{
    engines::Card,
    seed::random_seed,
    sound::Speaker,
    window::{
        app::CudaOptions,
        collection::Places,
        files::Files,
        get::DownloadOptions,
        library::LibraryOptions,
        link::{EngineLink, StartEngines},
        settings::{Settings, StartupSettings},
    },
};

/// The dependencies of the window.
pub struct Setup {
    /// The engine, or those of the startup settings.
    pub link: Box<dyn EngineLink>,
    /// Starts other engines. Without it there is one engine, which stays.
    pub start_engines: Option<StartEngines>,
    /// Says once which NVIDIA cards this computer has.
    pub cards: Option<Receiver<Vec<Card>>>,
    /// The file worker.
    pub files: Files,
    /// The settings saved by the previous session, if any.
    pub settings: Option<Settings>,
    /// The settings loaded before the window opened.
    pub startup: StartupSettings,
    /// Where those are saved.
    pub startup_file: Option<PathBuf>,
    /// The GPU that renders the window.
    pub gpu: Option<String>,
    /// Whether the CPU draws the window.
    pub is_drawn_by_cpu: bool,
    /// Where images are saved.
    pub folder: Option<PathBuf>,
    /// The model to start with instead of the last one.
    pub model: Option<ModelSource>,
    /// Generates seeds.
    pub new_seed: fn() -> u64,
    /// Held while the window is open, by the first one. Another one does not save its settings.
    pub lock: Lock,
    /// Plays the sound of clips.
    pub speaker: Option<Speaker>,
    /// Says something on the desktop.
    pub notify: Box<dyn Fn(String)>,
    /// Shows the progress of the running job at the program's icon, or takes it away.
    pub show_progress: Box<dyn FnMut(Option<f64>)>,
    /// Where models are searched for.
    pub library: LibraryOptions,
    /// How models are downloaded; `None` if they are not.
    pub downloads: Option<DownloadOptions>,
    /// How the engine for NVIDIA GPUs is installed; `None` if it is not.
    pub cuda: Option<CudaOptions>,
    /// Where the gallery keeps what it knows.
    pub places: Places,
    /// Whether the folders of results are looked at for what other programs do to them.
    pub watches_folders: bool,
    /// The locales that the user prefers, the first one most.
    pub locales: Vec<String>,
    /// Whether characters that the window's fonts lack are drawn with fonts of the system.
    pub system_fonts: bool,
    /// Says whether the system asks for less motion.
    pub reduced_motion: Option<Receiver<bool>>,
    /// Whether files can be dragged out of the window.
    pub drags_out: bool,
}

/// Whether this is the only window.
#[derive(Debug)]
pub enum Lock {
    /// It is, as long as the file is locked. Without a folder for data there is no file.
    First(Option<File>),
    /// Another one is open.
    Taken,
}

impl Lock {
    /// Locks a file in a folder.
    pub fn of(data: Option<&Path>) -> Self {
        let Some(data) = data else { return Self::First(None) };
        let file = fs::create_dir_all(data).and_then(|()| File::create(data.join("window.lock")));
        match file.map(|file| (file.try_lock(), file)) {
            Ok((Ok(()), file)) => Self::First(Some(file)),
            Ok((Err(TryLockError::WouldBlock), _)) => Self::Taken,
            Ok((Err(TryLockError::Error(error)), _)) | Err(error) => {
                tracing::warn!(%error, "it is not known whether another window is open");
                Self::First(None)
            }
        }
    }
}

impl Setup {
    /// A setup without saved settings.
    pub fn new(link: Box<dyn EngineLink>, files: Files) -> Self {
        Self {
            link,
            start_engines: None,
            cards: None,
            files,
            settings: None,
            startup: StartupSettings::default(),
            startup_file: None,
            gpu: None,
            is_drawn_by_cpu: false,
            folder: None,
            model: None,
            new_seed: random_seed,
            lock: Lock::First(None),
            speaker: None,
            notify: Box::new(|_| ()),
            show_progress: Box::new(|_| ()),
            library: LibraryOptions::default(),
            downloads: None,
            cuda: None,
            places: Places::default(),
            watches_folders: true,
            locales: Vec::new(),
            system_fonts: false,
            reduced_motion: None,
            drags_out: false,
        }
    }
}
