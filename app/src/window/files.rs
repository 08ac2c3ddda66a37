//! Files and dialogs, on separate threads, so that the interface never waits for a disk or the user.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::SystemTime,
};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use egui::ColorImage;
use sluice_engine::{
    adapters::{AdapterFile, folders_of, listed},
    output::Image,
    request::{FrameRange, ModelSource, SourceClip},
    session::Failure,
    source::{self, ClipError, ClipInfo, read_clip},
};

use super::{
    image_settings::{ImageSettings, read_image_settings},
    settings::StartupSettings,
    state::{Recents, thumbnail},
};

/// Maximum number of waiting tasks, and of waiting results. Further tasks are rejected; further results wait.
const TASKS: usize = 64;
const RESULTS: usize = 16;

/// Extensions of model files.
const MODEL_EXTENSIONS: [&str; 2] = ["safetensors", "gguf"];
/// Extensions of input images.
const IMAGE_EXTENSIONS: [&str; 4] = ["png", "jpg", "jpeg", "webp"];
/// Extensions of clips whose first frame can be shown.
const CLIP_EXTENSIONS: [&str; 3] = ["mp4", "m4v", "mov"];
/// Extensions of what Sluice saves.
const SAVED_EXTENSIONS: [&str; 2] = ["png", "mp4"];
/// Extensions of adapters.
const ADAPTER_EXTENSIONS: [&str; 1] = ["safetensors"];

/// A task for the worker.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// Lists the newest images of a folder.
    Scan(PathBuf),
    /// Reads an image's pixels.
    Show(PathBuf),
    /// Determines the type of a dropped file: a model, an adapter or an image.
    Take(PathBuf),
    /// Lists the adapters next to a model.
    ListAdapters(ModelSource),
    /// Reads the input image or its mask.
    Input(PathBuf),
    /// Writes a painted mask into a folder.
    SaveMask {
        /// The folder.
        folder: PathBuf,
        /// File name of its image, without extension.
        name: String,
        /// White where the image is inpainted.
        mask: Image,
    },
    /// Opens a folder in the system's file manager.
    Open(PathBuf),
    /// Saves the settings that are needed before the window opens.
    SaveStartupSettings(StartupSettings),
}

/// A result of the worker.
#[derive(Debug)]
pub enum FileEvent {
    /// An image of the folder.
    Found {
        /// Its file.
        path: PathBuf,
        /// A thumbnail.
        thumbnail: ColorImage,
        /// Its generation settings, if the file contains any.
        settings: Option<Box<ImageSettings>>,
    },
    /// An image's pixels.
    Pixels {
        /// Its file.
        path: PathBuf,
        /// The pixels.
        image: ColorImage,
    },
    /// An image was dropped.
    Dropped {
        /// Its file.
        path: PathBuf,
        /// Its pixels.
        image: ColorImage,
        /// Its generation settings, if the file contains any.
        settings: Option<Box<ImageSettings>>,
    },
    /// The input image or its mask.
    Input {
        /// Its file.
        path: PathBuf,
        /// Its pixels, or why there are none.
        read: Result<ColorImage, Failure>,
    },
    /// An input image was chosen in a dialog.
    InputChosen(PathBuf),
    /// A mask was chosen in a dialog, or was saved.
    MaskChosen(PathBuf),
    /// A listed image can no longer be read.
    Gone {
        /// Its file.
        path: PathBuf,
        /// The reason.
        failure: Failure,
    },
    /// A task failed.
    Failed {
        /// Short title.
        title: &'static str,
        /// What happened and what to do.
        failure: Failure,
    },
    /// A model was chosen in a dialog or dropped.
    ModelChosen(PathBuf),
    /// An adapter was chosen in a dialog or dropped.
    AdapterChosen(PathBuf),
    /// A refiner was chosen in a dialog.
    RefinerChosen(PathBuf),
    /// The adapters next to a model.
    Adapters(Vec<PathBuf>),
    /// A dialog was closed.
    DialogClosed,
}

/// A kind of dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialog {
    /// Open a model file.
    ModelFile,
    /// Open a folder in the layout of diffusers.
    ModelFolder,
    /// Open an input image.
    InputImage,
    /// Open a mask for it.
    Mask,
    /// Open an adapter file.
    Adapter,
    /// One file that holds a refiner.
    Refiner,
}

/// The worker and its results.
pub struct Files {
    tasks: Sender<Task>,
    results: Receiver<FileEvent>,
    report: Sender<FileEvent>,
    wake: Wake,
    dialog_open: bool,
}

/// Called on the worker's threads after every result.
pub type Wake = std::sync::Arc<dyn Fn() + Send + Sync>;

impl Files {
    /// Starts the worker. It ends when this is dropped.
    pub fn start(wake: Wake) -> io::Result<Self> {
        let (tasks, queue) = bounded::<Task>(TASKS);
        let (report, results) = bounded(RESULTS);
        let reporter = Reporter { report: report.clone(), wake: wake.clone() };
        thread::Builder::new().name("window files".to_owned()).spawn(move || {
            for task in queue {
                if reporter.run(task).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { tasks, results, report, wake, dialog_open: false })
    }

    /// Queues a task. Returns `false` if too many are waiting.
    pub fn request(&self, task: Task) -> bool {
        match self.tasks.try_send(task) {
            Ok(()) => true,
            Err(TrySendError::Full(task) | TrySendError::Disconnected(task)) => {
                tracing::warn!(?task, "the file worker does not take it");
                false
            }
        }
    }

    /// The next result, if there is one.
    pub fn try_recv(&mut self) -> Option<FileEvent> {
        let event = self.results.try_recv().ok()?;
        let from_dialog = |event: &FileEvent| {
            matches!(
                event,
                FileEvent::ModelChosen(_)
                    | FileEvent::AdapterChosen(_)
                    | FileEvent::RefinerChosen(_)
                    | FileEvent::InputChosen(_)
                    | FileEvent::MaskChosen(_)
                    | FileEvent::DialogClosed
            )
        };
        if from_dialog(&event) {
            self.dialog_open = false;
        }
        Some(event)
    }

    /// Opens a dialog unless one is already open.
    pub fn open_dialog(&mut self, dialog: Dialog, folder: Option<PathBuf>) -> io::Result<()> {
        if self.dialog_open {
            return Ok(());
        }
        let reporter = Reporter { report: self.report.clone(), wake: self.wake.clone() };
        thread::Builder::new().name("window dialog".to_owned()).spawn(move || {
            let mut native = rfd::FileDialog::new();
            if let Some(folder) = folder {
                native = native.set_directory(folder);
            }
            let chosen = match dialog {
                Dialog::ModelFile => native
                    .set_title("Open a model file")
                    .add_filter("Models", &MODEL_EXTENSIONS)
                    .add_filter("All files", &["*"])
                    .pick_file(),
                Dialog::Refiner => native
                    .set_title("Open a refiner")
                    .add_filter("Models", &MODEL_EXTENSIONS)
                    .add_filter("All files", &["*"])
                    .pick_file(),
                Dialog::ModelFolder => native.set_title("Open a model folder").pick_folder(),
                Dialog::Adapter => native
                    .set_title("Add a LoRA")
                    .add_filter("LoRAs", &ADAPTER_EXTENSIONS)
                    .add_filter("All files", &["*"])
                    .pick_file(),
                Dialog::InputImage => images(native).set_title("Choose an input image").pick_file(),
                Dialog::Mask => images(native).set_title("Open a mask").pick_file(),
            };
            let answer = match dialog {
                Dialog::ModelFile | Dialog::ModelFolder => FileEvent::ModelChosen,
                Dialog::Adapter => FileEvent::AdapterChosen,
                Dialog::Refiner => FileEvent::RefinerChosen,
                Dialog::InputImage => FileEvent::InputChosen,
                Dialog::Mask => FileEvent::MaskChosen,
            };
            // Fails only if the window is closed.
            let _gone = reporter.say(chosen.map_or(FileEvent::DialogClosed, answer));
        })?;
        self.dialog_open = true;
        Ok(())
    }
}

/// The window is closed.
struct Gone;

struct Reporter {
    report: Sender<FileEvent>,
    wake: Wake,
}

impl Reporter {
    fn say(&self, event: FileEvent) -> Result<(), Gone> {
        self.report.send(event).map_err(|_| Gone)?;
        (self.wake)();
        Ok(())
    }

    fn run(&self, task: Task) -> Result<(), Gone> {
        match task {
            Task::Scan(folder) => self.scan(&folder),
            Task::Show(path) => self.say(match read_pixels(&path) {
                Ok(image) => FileEvent::Pixels { path, image },
                Err(failure) => FileEvent::Gone { path, failure },
            }),
            Task::ListAdapters(model) => self.list_adapters(&model),
            Task::Take(path) if AdapterFile::open(&path).is_ok() => self.say(FileEvent::AdapterChosen(path)),
            Task::Take(path) if path.is_dir() || has_extension(&path, &MODEL_EXTENSIONS) => {
                self.say(FileEvent::ModelChosen(path))
            }
            Task::Take(path) if has_extension(&path, &CLIP_EXTENSIONS) => self.say(dropped_clip(path)),
            Task::Take(path) => self.say(match read_input(&path) {
                Ok(image) => FileEvent::Dropped { settings: settings_inside(&path), path, image },
                Err(failure) => FileEvent::Failed { title: "This file cannot be used", failure },
            }),
            Task::Input(path) => {
                let read = read_input(&path);
                self.say(FileEvent::Input { path, read })
            }
            Task::SaveMask { folder, name, mask } => self.say(match save_mask(&folder, &name, &mask) {
                Ok(path) => FileEvent::MaskChosen(path),
                Err(error) => FileEvent::Failed {
                    title: "The mask could not be saved",
                    failure: Failure {
                        message: format!("{}: {error}", folder.display()),
                        advice: Some(
                            "Free some disk space, or start Sluice with another output folder.".to_owned(),
                        ),
                    },
                },
            }),
            Task::Open(folder) => match open::that_detached(&folder) {
                Ok(()) => Ok(()),
                Err(error) => self.say(FileEvent::Failed {
                    title: "The folder could not be opened",
                    failure: Failure {
                        message: format!("{}: {error}", folder.display()),
                        advice: Some("Open it in your file manager.".to_owned()),
                    },
                }),
            },
            Task::SaveStartupSettings(settings) => match settings.save() {
                Ok(()) => Ok(()),
                Err(error) => self.say(FileEvent::Failed {
                    title: "The setting could not be saved",
                    failure: Failure {
                        message: format!("{error:#}"),
                        advice: Some("It applies until the window is closed.".to_owned()),
                    },
                }),
            },
        }
    }

    fn list_adapters(&self, model: &ModelSource) -> Result<(), Gone> {
        // A missing model is reported when it is opened.
        let Ok(path) = model.resolve() else { return Ok(()) };
        self.say(FileEvent::Adapters(listed(&folders_of(&path, &[])).into_values().collect()))
    }

    fn scan(&self, folder: &Path) -> Result<(), Gone> {
        for path in newest_images(folder) {
            let image = match read_pixels(&path) {
                Ok(image) => image,
                Err(failure) => {
                    tracing::warn!(path = %path.display(), failure.message, "an image is left out");
                    continue;
                }
            };
            let settings = settings_inside(&path);
            self.say(FileEvent::Found { path, thumbnail: thumbnail(&image), settings })?;
        }
        Ok(())
    }
}

/// The newest images and clips of a folder, newest first. A missing folder has none.
fn newest_images(folder: &Path) -> Vec<PathBuf> {
    let entries = match folder.read_dir() {
        Ok(entries) => entries,
        Err(error) => {
            tracing::debug!(folder = %folder.display(), %error, "no images yet");
            return Vec::new();
        }
    };
    let mut images: Vec<(SystemTime, PathBuf)> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| has_extension(path, &SAVED_EXTENSIONS))
        .filter_map(|path| Some((path.metadata().ok()?.modified().ok()?, path)))
        .collect();
    images.sort_by(|a, b| b.cmp(a));
    images.into_iter().map(|(_, path)| path).take(Recents::LIMIT).collect()
}

/// Whether a path has one of these extensions, ignoring case.
fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|found| extensions.iter().any(|wanted| found.eq_ignore_ascii_case(wanted)))
}

fn images(native: rfd::FileDialog) -> rfd::FileDialog {
    native.add_filter("Images", &IMAGE_EXTENSIONS).add_filter("All files", &["*"])
}

fn settings_inside(path: &Path) -> Option<Box<ImageSettings>> {
    match read_image_settings(path) {
        Ok(settings) => Some(Box::new(settings)),
        Err(failure) => {
            tracing::debug!(path = %path.display(), failure.message, "no settings inside");
            None
        }
    }
}

/// An image as the engine reads it.
fn read_input(path: &Path) -> Result<ColorImage, Failure> {
    let read = source::read(path)
        .map_err(|error| Failure { message: error.to_string(), advice: Some(error.advice().to_owned()) })?;
    let size = [read.width as usize, read.height as usize];
    Ok(ColorImage::from_rgb(size, &read.pixels))
}

/// A clip is only good for its settings.
fn dropped_clip(path: PathBuf) -> FileEvent {
    let title = "This clip cannot be used";
    match (read_image_settings(&path), first_frame(&path)) {
        (Ok(settings), Ok(image)) => FileEvent::Dropped { settings: Some(Box::new(settings)), path, image },
        (Err(failure), _) | (_, Err(failure)) => FileEvent::Failed { title, failure },
    }
}

/// The first frame of a clip.
fn first_frame(path: &Path) -> Result<ColorImage, Failure> {
    let explained =
        |error: ClipError| Failure { message: error.to_string(), advice: Some(error.advice().to_owned()) };
    let Some(ClipInfo { width, height, .. }) = ClipInfo::open(path).map_err(explained)? else {
        return Err(Failure {
            message: format!("{} is not an MP4 file", path.display()),
            advice: Some("Choose an MP4 file.".to_owned()),
        });
    };
    let range = FrameRange { start: 0, end: Some(1) };
    let clip = SourceClip { path: path.to_owned(), range, ..SourceClip::default() };
    let frames = read_clip(&clip, None, (width, height)).map_err(explained)?;
    let pixels = frames.first().map(|frame| frame.pixels.as_slice()).unwrap_or_default();
    Ok(ColorImage::from_rgb([width as usize, height as usize], pixels))
}

/// Saves a mask under a new name.
fn save_mask(folder: &Path, name: &str, mask: &Image) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let named = |number: u32| match number {
        1 => folder.join(format!("{name} mask.png")),
        _ => folder.join(format!("{name} mask {number}.png")),
    };
    let path = (1..).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(1));
    image::save_buffer(&path, &mask.pixels, mask.width, mask.height, image::ColorType::Rgb8)
        .map_err(io::Error::other)?;
    Ok(path)
}

fn read_pixels(path: &Path) -> Result<ColorImage, Failure> {
    if has_extension(path, &CLIP_EXTENSIONS) {
        return first_frame(path);
    }
    let failure = |error: &dyn std::fmt::Display| Failure {
        message: format!("{} cannot be read: {error}", path.display()),
        advice: Some("Check that the file still exists and is a complete PNG image.".to_owned()),
    };
    let reader = image::ImageReader::open(path)
        .and_then(image::ImageReader::with_guessed_format)
        .map_err(|error| failure(&error))?;
    let image = reader.decode().map_err(|error| failure(&error))?.into_rgb8();
    let size = [image.width() as usize, image.height() as usize];
    Ok(ColorImage::from_rgb(size, image.as_raw()))
}
