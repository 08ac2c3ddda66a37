//! Files and dialogs, on separate threads, so that the interface never waits for a disk or the user.

mod clipboard;
mod dialog;
mod groups;
mod previews;
mod read;
mod write;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use egui::ColorImage;
use sluice_engine::{
    adapters::{AdapterFile, folders_of, listed},
    output::Image,
    request::{ControlNet, ModelSource, Style},
    session::Failure,
    source::GivenMedia,
    text::{StyleError, styles_around},
};

use super::{
    action::{FolderInputs, InputUse},
    image_settings::ImageSettings,
    report::Report,
    settings::StartupSettings,
    state::{
        ClipLength, DeletedPreset, GroupChange, Measured, NamedGroup, Pixels, color_image, map_name,
        thumbnail,
    },
};
use crate::{
    enhancing::{save_text, texts_beside},
    groups::Composed,
    input_folder::{InputFolder, Subfolders},
    language::tr,
    own_styles,
    presets::{self, NamedPreset, Preset},
    tags::{Tag, tags_in},
};
use clipboard::FileClipboard;
pub use dialog::{Dialog, Entry};
use read::{
    dropped_clip, is_animation, newest_images, prompts_inside, read_input, read_input_file, read_map,
    read_pixels, read_thumbnail, settings_inside,
};
pub use read::{is_moving, is_video, read_first, still_size};
pub use write::{ClipFormat, Export, SavedFrame, SavedImage, named_image};
use write::{export_clip, save_frame, save_image, save_mask, save_pasted};

/// Maximum number of waiting tasks, and of waiting results. Further tasks are rejected; further results wait.
const TASKS: usize = 64;
const RESULTS: usize = 16;

/// Extensions of model files.
const MODEL_EXTENSIONS: [&str; 2] = ["safetensors", "gguf"];
/// Extensions of input images.
pub(super) const IMAGE_EXTENSIONS: [&str; 4] = ["png", "jpg", "jpeg", "webp"];
/// Extensions of clips that can be read.
pub(super) const CLIP_EXTENSIONS: [&str; 3] = ["mp4", "m4v", "mov"];
/// Extensions of masks of clips: clips, and images for all frames.
const MASK_EXTENSIONS: [&str; 7] = ["mp4", "m4v", "mov", "png", "jpg", "jpeg", "webp"];
/// Extensions of what Sluice saves by itself.
const SAVED_EXTENSIONS: [&str; 5] = ["png", "jpg", "mp4", "webp", "gif"];
/// Extensions of animated images.
const ANIMATION_EXTENSIONS: [&str; 2] = ["webp", "gif"];
/// Extensions of files of styles.
const STYLE_EXTENSIONS: [&str; 2] = ["csv", "json"];
/// Extensions of files of tags.
const TAG_EXTENSIONS: [&str; 1] = ["csv"];
/// Extensions of adapters.
const ADAPTER_EXTENSIONS: [&str; 1] = ["safetensors"];

/// A task for the worker.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// Lists the newest images of a folder.
    Scan(PathBuf),
    /// Reads an image's pixels.
    Show(PathBuf),
    /// Reads what the list of images shows of a file. Says whether it is compared with another one.
    Recall(PathBuf, bool),
    /// Determines the type of a dropped file: a model, an adapter or an image.
    Take(PathBuf),
    /// Lists the adapters next to a model.
    ListAdapters(ModelSource),
    /// Reads the input image or its mask.
    Input(PathBuf),
    /// Makes the map of a ControlNet for images of this width and height.
    Map(Box<ControlNet>, [u32; 2]),
    /// Writes a painted mask into a folder.
    SaveMask {
        /// The folder.
        folder: PathBuf,
        /// File name of its image, without extension.
        name: String,
        /// White where the image is inpainted.
        mask: Image,
    },
    /// Writes an image from the clipboard into a folder, as a PNG file, and takes it as a dropped one.
    SavePasted {
        /// The folder.
        folder: PathBuf,
        /// The image.
        image: Arc<ColorImage>,
    },
    /// Writes a frame of a clip into a folder, as a PNG file.
    SaveFrame(Box<SavedFrame>),
    /// Writes a part of a clip into a new file.
    Export(Box<Export>),
    /// Writes a copy of an image under a name that was chosen.
    SaveImage(Box<SavedImage>),
    /// Composes the images of a group that has ended, and writes down in a folder what the next start has to know.
    Group(Option<PathBuf>, GroupChange),
    /// Reads the groups of previous sessions in a folder.
    Groups(PathBuf),
    /// Lists the input images of a folder, and what they become in another one.
    ListInputs {
        /// The input images.
        folder: PathBuf,
        /// The results.
        results: PathBuf,
        /// The extension of their files.
        extension: &'static str,
        /// What each is used as.
        used_as: InputUse,
    },
    /// Finds the models of which an image may become the preview.
    ListPreviewed {
        /// The image.
        image: PathBuf,
        /// The opened model.
        opened: ModelSource,
    },
    /// Makes an image the preview of a model.
    SavePreview {
        /// The image, or the clip whose first frame is used.
        image: PathBuf,
        /// The model.
        model: PathBuf,
        /// Whether a preview that is there may be replaced.
        replaces: bool,
    },
    /// Reads the headers of images and clips that are to be enlarged.
    Measure(Vec<PathBuf>),
    /// Reads the prompts in images.
    ReadPrompts(Vec<PathBuf>),
    /// Finds out where the texts about images go, each beside its image.
    NameTexts(Vec<PathBuf>),
    /// Writes a text about an image into a new file.
    SaveText(PathBuf, String),
    /// Changes the presets in a folder, and reads them.
    Presets(PathBuf, PresetTask),
    /// Changes the styles that were saved in a folder.
    ChangeStyles(PathBuf, StyleTask),
    /// Reads the styles of files and folders, and those above a model.
    Styles {
        /// The model.
        model: ModelSource,
        /// The folder with those that were saved.
        own: Option<PathBuf>,
        /// Files and folders.
        chosen: Vec<PathBuf>,
    },
    /// Reads the tags of the files in a folder, and of other files.
    Tags(Option<PathBuf>, Vec<PathBuf>),
    /// Copies files to the clipboard.
    CopyFiles(Vec<PathBuf>),
    /// Lists a folder for the window's own dialog.
    List(PathBuf, Dialog),
    /// Opens a folder in the system's file manager.
    Open(PathBuf),
    /// Completes a report of a problem.
    Report(Box<Report>),
    /// Saves the settings that are needed before the window opens.
    SaveStartupSettings(PathBuf, StartupSettings),
}

/// What is done with saved styles.
#[derive(Debug, Clone, PartialEq)]
pub enum StyleTask {
    /// One is saved.
    Save(Style),
    /// That of this name gets another one.
    Rename(String, String),
    /// That of this name is deleted.
    Delete(String),
}

/// What is done with the presets in a folder before they are read.
#[derive(Debug, Clone, PartialEq)]
pub enum PresetTask {
    /// Nothing.
    List,
    /// One is kept.
    Save(String, Box<Preset>),
    /// One gets another name.
    Rename(String, String),
    /// One is deleted.
    Delete(String),
    /// One that was deleted is put back.
    PutBack(Box<DeletedPreset>),
}

/// A place for an input image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Well {
    /// The input image, or the start image of a clip.
    First,
    /// The end image of a clip.
    Last,
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
        /// The length of a clip.
        length: Option<ClipLength>,
        /// Its generation settings, if the file contains any.
        settings: Option<Box<ImageSettings>>,
    },
    /// The pixels of an image or a clip.
    Pixels {
        /// Its file.
        path: PathBuf,
        /// The pixels.
        pixels: Pixels,
    },
    /// An image was composed of others.
    Composed {
        /// Its file.
        path: PathBuf,
        /// A thumbnail.
        thumbnail: ColorImage,
        /// The length of a clip.
        length: Option<ClipLength>,
        /// Its generation settings.
        settings: Option<Box<ImageSettings>>,
    },
    /// The models of which an image may become the preview, each with whether it has one that would be replaced.
    Previewed(PathBuf, Vec<(PathBuf, bool)>),
    /// A model has got a preview.
    PreviewSaved {
        /// The model.
        model: PathBuf,
        /// The file.
        path: PathBuf,
    },
    /// The groups of previous sessions.
    Groups(Vec<NamedGroup>),
    /// All presets.
    Presets(Vec<NamedPreset>),
    /// A preset was deleted.
    PresetDeleted(Box<DeletedPreset>),
    /// The styles that were found, and why files could not be read.
    Styles {
        /// By name.
        styles: Vec<Style>,
        /// Those that were saved in the window.
        own: Vec<Style>,
        /// What could not be read.
        errors: Vec<StyleError>,
    },
    /// The tags with which prompts are completed.
    Tags(Vec<Tag>),
    /// The input images of a folder.
    Inputs {
        /// Those of the folder itself.
        own: Box<FolderInputs>,
        /// Those of its subfolders, too.
        all: InputFolder,
    },
    /// Files are on the clipboard.
    FilesCopied(Vec<PathBuf>),
    /// A part of a clip, or a copy of an image, was written.
    Exported(PathBuf),
    /// A frame of a clip was saved.
    FrameSaved {
        /// Its file.
        path: PathBuf,
        /// Its pixels.
        image: ColorImage,
    },
    /// An image or a clip was dropped.
    Dropped {
        /// Its file.
        path: PathBuf,
        /// Its pixels.
        pixels: Pixels,
        /// Its generation settings, if the file contains any.
        settings: Option<Box<ImageSettings>>,
    },
    /// An input image, its mask, or the first frame of an input clip.
    Input {
        /// Its file.
        path: PathBuf,
        /// Its pixels, or why there are none.
        read: Result<ColorImage, Failure>,
        /// The length of a clip, if its header has it.
        seconds: Option<f64>,
    },
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
        title: String,
        /// What happened and what to do.
        failure: Failure,
    },
    /// What the headers of images and clips say that are to be enlarged, or why they cannot be.
    Measured(Vec<Measured>),
    /// The prompt and the negative prompt in each of these images that has settings.
    Prompts(Vec<(PathBuf, [String; 2])>),
    /// Where the texts about images go.
    TextsNamed {
        /// The images that were asked about.
        images: Vec<PathBuf>,
        /// Those without a text, with the files of their texts.
        texts: Vec<(PathBuf, PathBuf)>,
        /// How many have a text.
        done: usize,
    },
    /// The adapters next to a model.
    Adapters(Vec<PathBuf>),
    /// A report of a problem.
    Report(String),
    /// An image or a clip of the gallery, to be shown in the viewer.
    Recalled {
        /// Its file.
        path: PathBuf,
        /// A thumbnail.
        thumbnail: ColorImage,
        /// The length of a clip.
        length: Option<ClipLength>,
        /// Its generation settings, if the file contains any.
        settings: Option<Box<ImageSettings>>,
        /// Whether it is compared with the one that is shown.
        is_compared: bool,
    },
    /// A file or folder was chosen in a dialog, dropped, or saved for a place that has such a dialog.
    Chosen(Dialog, PathBuf),
    /// A dialog was closed.
    DialogClosed,
    /// The system has no dialog.
    NoDialog {
        /// What was asked for.
        dialog: Dialog,
        /// The folder in which it would have started, or the file to save.
        start: Option<PathBuf>,
    },
    /// A folder for the window's own dialog.
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is in it, or why that is not known.
        entries: Result<Vec<Entry>, String>,
    },
}

/// The worker and its results.
pub struct Files {
    tasks: Sender<Task>,
    results: Receiver<FileEvent>,
    report: Sender<FileEvent>,
    wake: Wake,
    has_dialog: Arc<AtomicBool>,
    has_native_dialogs: bool,
}

/// Called on the worker's threads after every result.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

impl Files {
    /// Starts the worker. It ends when this is dropped.
    pub fn start(wake: Wake) -> io::Result<Self> {
        let (tasks, queue) = bounded::<Task>(TASKS);
        let (report, results) = bounded(RESULTS);
        let reporter = Reporter { report: report.clone(), wake: wake.clone() };
        thread::Builder::new().name("window files".to_owned()).spawn(move || {
            let mut clipboard = FileClipboard::default();
            for task in queue {
                if reporter.run(task, &mut clipboard).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { tasks, results, report, wake, has_dialog: Arc::default(), has_native_dialogs: true })
    }

    /// The same with the window's own dialogs instead of the system's.
    pub fn without_native_dialogs(self) -> Self {
        Self { has_native_dialogs: false, ..self }
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
    pub fn try_recv(&self) -> Option<FileEvent> {
        self.results.try_recv().ok()
    }

    /// Opens a dialog unless one is already open. It starts in a folder, or with the file to save.
    pub fn open_dialog(&self, dialog: Dialog, start: Option<PathBuf>) -> io::Result<()> {
        if self.has_dialog.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let reporter = Reporter { report: self.report.clone(), wake: self.wake.clone() };
        let is_native = self.has_native_dialogs;
        let is_open = self.has_dialog.clone();
        let started = thread::Builder::new().name("window dialog".to_owned()).spawn(move || {
            let answer = match is_native {
                true => dialog.ask(start),
                false => FileEvent::NoDialog { dialog, start },
            };
            is_open.store(false, Ordering::Relaxed);
            // Fails only if the window is closed.
            let _gone = reporter.say(answer);
        });
        if started.is_err() {
            self.has_dialog.store(false, Ordering::Relaxed);
        }
        started.map(drop)
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

    fn run(&self, task: Task, clipboard: &mut FileClipboard) -> Result<(), Gone> {
        match task {
            Task::Scan(folder) => self.scan(&folder),
            Task::Show(path) => self.say(match read_pixels(&path) {
                Ok(pixels) => FileEvent::Pixels { path, pixels },
                Err(failure) => FileEvent::Gone { path, failure },
            }),
            Task::Recall(path, is_compared) => self.say(match read_thumbnail(&path) {
                Ok((thumbnail, length)) => {
                    let settings = settings_inside(&path);
                    FileEvent::Recalled { path, thumbnail, length, settings, is_compared }
                }
                Err(failure) => FileEvent::Failed { title: tr!("app-image-cannot-be-shown"), failure },
            }),
            Task::ListPreviewed { image, opened } => {
                let models = previews::models_of(&image, &opened);
                self.say(FileEvent::Previewed(image, models))
            }
            Task::SavePreview { image, model, replaces } => self.say(previews::save(&image, model, replaces)),
            Task::CopyFiles(files) => self.say(clipboard.put(files)),
            Task::ListAdapters(model) => self.list_adapters(&model),
            Task::Report(report) => self.say(FileEvent::Report(report.complete())),
            Task::Take(path) if AdapterFile::open(&path).is_ok() => {
                self.say(FileEvent::Chosen(Dialog::Adapter, path))
            }
            Task::Take(path) if path.is_dir() || has_extension(&path, &MODEL_EXTENSIONS) => {
                self.say(FileEvent::Chosen(Dialog::ModelFile, path))
            }
            Task::Take(path) if has_extension(&path, &CLIP_EXTENSIONS) => self.say(dropped_clip(path)),
            Task::Take(path) if has_extension(&path, &ANIMATION_EXTENSIONS) && is_animation(&path) => {
                self.say(dropped_clip(path))
            }
            Task::Take(path) => self.say(match read_input(&path) {
                Ok(image) => {
                    let pixels = Pixels::Image(Arc::new(image));
                    FileEvent::Dropped { settings: settings_inside(&path), path, pixels }
                }
                Err(failure) => FileEvent::Failed { title: tr!("files-file-unusable"), failure },
            }),
            Task::Input(path) => {
                let (read, seconds) = read_input_file(&path);
                self.say(FileEvent::Input { path, read, seconds })
            }
            Task::Map(net, size) => {
                let made = |path| Some(FileEvent::Input { path, read: read_map(&net, size)?, seconds: None });
                map_name(&net, size).and_then(made).map_or(Ok(()), |event| self.say(event))
            }
            Task::SaveMask { folder, name, mask } => self.say(match save_mask(&folder, &name, &mask) {
                Ok(path) => FileEvent::Chosen(Dialog::Mask, path),
                Err(error) => not_saved(tr!("files-mask-not-saved"), &folder, &error),
            }),
            Task::SavePasted { folder, image } => self.say(match save_pasted(&folder, &image) {
                Ok((path, image)) => {
                    FileEvent::Dropped { path, pixels: Pixels::Image(Arc::new(image)), settings: None }
                }
                Err(error) => not_saved(tr!("files-pasted-not-saved"), &folder, &error),
            }),
            Task::SaveFrame(saved) => self.say(match save_frame(&saved) {
                Ok((path, image)) => match saved.well {
                    Some(Well::First) => FileEvent::Chosen(Dialog::InputImage, path),
                    Some(Well::Last) => FileEvent::Chosen(Dialog::LastImage, path),
                    None => FileEvent::FrameSaved { path, image },
                },
                Err(error) => not_saved(tr!("files-frame-not-saved"), &saved.folder, &error),
            }),
            Task::Export(export) => self.say(match export_clip(&export) {
                Ok(path) => FileEvent::Exported(path),
                Err(failure) => FileEvent::Failed { title: tr!("files-clip-not-exported"), failure },
            }),
            Task::SaveImage(saved) => self.say(match save_image(&saved) {
                Ok(path) => FileEvent::Exported(path),
                Err(failure) => FileEvent::Failed { title: tr!("files-image-not-saved"), failure },
            }),
            Task::Group(folder, change) => self.group(folder.as_deref(), &change),
            Task::Groups(folder) => self.say(FileEvent::Groups(groups::kept(&folder))),
            Task::Measure(paths) => {
                let measured = |path: PathBuf| {
                    let given = GivenMedia::open(&path).map_err(|error| error.to_string());
                    (path, given)
                };
                self.say(FileEvent::Measured(paths.into_iter().map(measured).collect()))
            }
            Task::ReadPrompts(paths) => self.say(FileEvent::Prompts(prompts_inside(paths))),
            Task::NameTexts(images) => {
                let (texts, done) = texts_beside(&images);
                self.say(FileEvent::TextsNamed { images, texts, done })
            }
            Task::SaveText(file, text) => match save_text(&file, &text) {
                Ok(()) => Ok(()),
                Err(error) => self.say(FileEvent::Failed {
                    title: tr!("files-text-not-saved"),
                    failure: Failure { message: format!("{}: {error}", file.display()), advice: None },
                }),
            },
            Task::Tags(folder, files) => self.say(FileEvent::Tags(tags_in(folder.as_deref(), &files))),
            Task::Presets(folder, task) => self.presets(&folder, task),
            Task::ChangeStyles(folder, task) => self.change_styles(&folder, task),
            Task::Styles { model, own, chosen } => {
                // A missing model is reported when it is opened.
                let model = model.resolve().unwrap_or_default();
                let saved = own.as_deref().and_then(|folder| own_styles::saved(folder).ok());
                let all: Vec<PathBuf> = own.into_iter().chain(chosen).collect();
                let (styles, errors) = styles_around(&model, &all);
                self.say(FileEvent::Styles { styles, own: saved.unwrap_or_default(), errors })
            }
            Task::ListInputs { folder, results, extension, used_as } => {
                let of = |subfolders| InputFolder::of(&folder, &results, extension, subfolders);
                let both = of(Subfolders::LeftOut).and_then(|own| Ok((own, of(Subfolders::Included)?)));
                self.say(match both {
                    Ok((found, all)) => {
                        let own = Box::new(FolderInputs { folder, results, used_as, found });
                        FileEvent::Inputs { own, all }
                    }
                    Err(error) => FileEvent::Failed {
                        title: tr!("files-folder-unusable"),
                        failure: Failure {
                            message: format!("{}: {error}", folder.display()),
                            advice: Some(tr!("files-folder-unusable-advice")),
                        },
                    },
                })
            }
            Task::List(folder, dialog) => {
                let entries = dialog::entries(&folder, dialog).map_err(|error| error.to_string());
                self.say(FileEvent::Folder { folder, entries })
            }
            Task::Open(folder) => match open::that_detached(&folder) {
                Ok(()) => Ok(()),
                Err(error) => self.say(FileEvent::Failed {
                    title: tr!("files-folder-not-opened"),
                    failure: Failure {
                        message: format!("{}: {error}", folder.display()),
                        advice: Some(tr!("files-folder-not-opened-advice")),
                    },
                }),
            },
            Task::SaveStartupSettings(path, settings) => match settings.save(&path) {
                Ok(()) => Ok(()),
                Err(error) => self.say(FileEvent::Failed {
                    title: tr!("files-setting-not-saved"),
                    failure: Failure {
                        message: format!("{error:#}"),
                        advice: Some(tr!("files-setting-not-saved-advice")),
                    },
                }),
            },
        }
    }

    fn group(&self, folder: Option<&Path>, change: &GroupChange) -> Result<(), Gone> {
        if let GroupChange::Ended(named) = change
            && named.group.has_images()
        {
            self.say(compose(named))?;
        }
        if let Some(folder) = folder
            && let Err(error) = groups::keep(folder, change)
        {
            tracing::warn!(folder = %folder.display(), %error, "a grid is not kept for the next start");
        }
        Ok(())
    }

    fn change_styles(&self, folder: &Path, task: StyleTask) -> Result<(), Gone> {
        let done = match task {
            StyleTask::Save(style) => own_styles::save(folder, style),
            StyleTask::Rename(name, new) => own_styles::rename(folder, &name, new),
            StyleTask::Delete(name) => own_styles::delete(folder, &name),
        };
        done.or_else(|error| {
            let failure = Failure { message: error.to_string(), advice: None };
            self.say(FileEvent::Failed { title: tr!("app-style-not-saved"), failure })
        })
    }

    fn presets(&self, folder: &Path, task: PresetTask) -> Result<(), Gone> {
        let done = match task {
            PresetTask::List => Ok(()),
            PresetTask::Save(name, preset) => presets::save(folder, &name, &preset),
            PresetTask::Rename(name, new) => presets::rename(folder, &name, &new),
            PresetTask::Delete(name) => match presets::delete(folder, &name) {
                Ok(contents) => {
                    self.say(FileEvent::PresetDeleted(Box::new(DeletedPreset { name, contents })))?;
                    Ok(())
                }
                Err(error) => Err(error),
            },
            PresetTask::PutBack(deleted) => presets::put_back(folder, &deleted.name, &deleted.contents),
        };
        if let Err(error) = done {
            let failure = Failure { message: error.to_string(), advice: None };
            self.say(FileEvent::Failed { title: tr!("files-preset-not-changed"), failure })?;
        }
        self.say(FileEvent::Presets(presets::listed(folder)))
    }

    fn list_adapters(&self, model: &ModelSource) -> Result<(), Gone> {
        // A missing model is reported when it is opened.
        let Ok(path) = model.resolve() else { return Ok(()) };
        self.say(FileEvent::Adapters(listed(&folders_of(&path, &[])).into_values().collect()))
    }

    fn scan(&self, folder: &Path) -> Result<(), Gone> {
        let mut is_first = true;
        for path in newest_images(folder) {
            let (first, length) = match read_first(&path) {
                Ok(found) => found,
                Err(failure) => {
                    tracing::warn!(path = %path.display(), failure.message, "an image is left out");
                    continue;
                }
            };
            let settings = settings_inside(&path);
            let made = settings.as_ref().map(|settings| &settings.request);
            let made_clip = made.filter(|request| request.frames > 1).map(ClipLength::of);
            let length = length.or(made_clip);
            let is_shown = settings.is_some() && std::mem::take(&mut is_first);
            let thumbnail = thumbnail(&first);
            self.say(FileEvent::Found { path: path.clone(), thumbnail, length, settings })?;
            // The viewer shows it, and would wait until all others are read.
            if is_shown && length.is_none() && !is_moving(&path) {
                self.say(FileEvent::Pixels { path, pixels: Pixels::Image(Arc::new(first)) })?;
            }
        }
        Ok(())
    }
}

/// Composes the images of a group and saves the result.
fn compose(NamedGroup { group, model, family }: &NamedGroup) -> FileEvent {
    match group.write(model, family) {
        Ok(Composed { path, first, frames, rate }) => FileEvent::Composed {
            thumbnail: first
                .as_ref()
                .and_then(color_image)
                .map(|image| thumbnail(&image))
                .unwrap_or_default(),
            length: (frames > 1).then_some(ClipLength { frames, rate }),
            settings: settings_inside(&path),
            path,
        },
        Err(error) => {
            let failure = Failure { message: error.to_string(), advice: error.advice().map(str::to_owned) };
            FileEvent::Failed { title: tr!("files-grid-not-saved"), failure }
        }
    }
}

fn not_saved(title: String, folder: &Path, error: &io::Error) -> FileEvent {
    let message = format!("{}: {error}", folder.display());
    FileEvent::Failed { title, failure: Failure { message, advice: Some(tr!("files-not-saved-advice")) } }
}

/// Whether a file is an image or a clip by its name.
pub fn is_image_or_clip(path: &Path) -> bool {
    [&IMAGE_EXTENSIONS[..], &CLIP_EXTENSIONS, &ANIMATION_EXTENSIONS]
        .iter()
        .any(|known| has_extension(path, known))
}

/// Whether a path has one of these extensions, ignoring case.
pub(super) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension()
        .and_then(|extension| extension.to_str())
        .is_some_and(|found| extensions.iter().any(|wanted| found.eq_ignore_ascii_case(wanted)))
}
