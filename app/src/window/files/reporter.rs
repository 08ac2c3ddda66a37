//! Carries out what the file worker is asked for, and reports what comes of it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use crossbeam_channel::Sender;
use sluice_engine::{
    adapters::{AdapterFile, folders_of, listed},
    request::ModelSource,
    session::Failure,
    source::GivenMedia,
    text::styles_around,
};

use super::{
    Dialog, FileEvent, PresetTask, StyleTask, Task, Wake, Well, added,
    clipboard::FileClipboard,
    dialog,
    extensions::{ANIMATION_EXTENSIONS, CLIP_EXTENSIONS, MODEL_EXTENSIONS, has_extension},
    groups, is_moving, previews,
    read::{
        dropped_clip, generated_by, is_animation, length_of, newest_images, prompts_inside, read_input,
        read_input_file, read_map, read_pixels, read_thumbnail, settings_inside,
    },
    read_first,
    results::makers_of,
    write::{export_clip, save_frame, save_image, save_mask, save_pasted},
};
use crate::{
    enhancing::{save_text, texts_beside},
    groups::Composed,
    input_folder::{InputFolder, Subfolders, images_named_in, unused},
    interpolating::clips_in,
    language::tr,
    own_styles, presets,
    tags::tags_in,
    upscaling::inputs_in,
    window::{
        action::FolderFound,
        state::{
            ClipLength, DeletedPreset, FileChange, GroupChange, Makers, NamedGroup, Pixels, Recents,
            ResultOf, color_image, map_name, thumbnail,
        },
    },
};

/// How long a program may take until it has failed to open a folder: `xdg-open` tries several.
const PATIENCE: Duration = Duration::from_secs(3);

/// The window is closed.
pub(super) struct Gone;

#[derive(Clone)]
pub(super) struct Reporter {
    pub(super) report: Sender<FileEvent>,
    pub(super) wake: Wake,
    /// How many times results were looked for.
    pub(super) passes: Arc<AtomicU64>,
}

impl Reporter {
    pub(super) fn say(&self, event: FileEvent) -> Result<(), Gone> {
        self.report.send(event).map_err(|_| Gone)?;
        (self.wake)();
        Ok(())
    }

    pub(super) fn run(&self, task: Task, clipboard: &mut FileClipboard) -> Result<(), Gone> {
        match task {
            Task::Scan(folder) => self.scan(&folder),
            Task::Show(path) => self.say(match read_pixels(&path) {
                Ok(pixels) => FileEvent::Pixels { path, pixels },
                Err(failure) => FileEvent::Gone { is_there: path.exists(), path, failure },
            }),
            Task::LookFor { listed, gone: before } => {
                // What cannot be looked for stays.
                let is_gone = |path: &PathBuf| path.try_exists().is_ok_and(|is_there| !is_there);
                let gone: Vec<PathBuf> = listed.into_iter().filter(is_gone).collect();
                let back: Vec<PathBuf> = before.into_iter().filter(|path| path.exists()).collect();
                if gone.is_empty() && back.is_empty() {
                    return Ok(());
                }
                self.say(FileEvent::Looked { gone, back })
            }
            Task::LookForNew { folder, known } => {
                added::look(&folder, known.as_ref(), |event| self.say(event))
            }
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
            Task::CopyImage(path) => self.say(match read_first(&path) {
                Ok((image, _)) => FileEvent::ImageRead(image),
                Err(failure) => FileEvent::Failed { title: tr!("files-not-copied"), failure },
            }),
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
                    FileEvent::Dropped { settings: generated_by(&path), path, pixels }
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
                Err(error) => FileEvent::MaskNotSaved(unsaved(&folder, &error)),
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
            Task::ListChanged(change, folder) => {
                let files = files_for(change, &folder).map_err(|error| unusable_for(change, &folder, &error));
                self.say(FileEvent::ChangedListed(change, folder, files))
            }
            Task::FindResults(change, results) => self.find_results(change, results),
            Task::ReadPrompts(paths) => self.say(FileEvent::Prompts(prompts_inside(paths))),
            Task::ReadSettings(path) => settings_inside(&path)
                .map_or(Ok(()), |settings| self.say(FileEvent::Settings(path, settings))),
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
                    Ok((own, all)) => {
                        let again = unused(&results);
                        let found = FolderFound { folder, used_as, results, again, own, all };
                        FileEvent::Inputs(Box::new(found))
                    }
                    Err(error) => unusable(&folder, &error),
                })
            }
            Task::List(folder, dialog) => {
                if dialog.filter().is_some() && !dialog.saves() && folder.is_file() {
                    return self.say(FileEvent::IsFile(dialog, folder));
                }
                let why = |error: io::Error| match error.kind() {
                    io::ErrorKind::NotFound => tr!("files-folder-gone"),
                    io::ErrorKind::PermissionDenied => tr!("files-folder-forbidden"),
                    _ => error.to_string(),
                };
                let entries = dialog::entries(&folder, dialog).map_err(why);
                self.say(FileEvent::Folder { folder, entries })
            }
            Task::Open(folder) => self.open(folder, open_folder),
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

    /// Opens a folder on a thread of its own: a program may take a while until it has failed.
    fn open(
        &self,
        folder: PathBuf,
        open: impl FnOnce(&Path) -> io::Result<()> + Send + 'static,
    ) -> Result<(), Gone> {
        let (reporter, path) = (self.clone(), folder.clone());
        let started = thread::Builder::new().name("open folder".to_owned()).spawn(move || {
            if let Err(error) = open(&folder) {
                // Fails only if the window is closed.
                let _gone = reporter.say(not_opened(&folder, &error));
            }
        });
        match started {
            Ok(_) => Ok(()),
            Err(error) => self.say(not_opened(&path, &error)),
        }
    }

    /// Looks for results on a thread of its own: there may be many, and other tasks come meanwhile. The next pass ends it.
    fn find_results(&self, change: FileChange, results: Vec<ResultOf>) -> Result<(), Gone> {
        let Some(first) = results.first().map(|of| of.result.clone()) else { return Ok(()) };
        let pass = self.passes.fetch_add(1, Ordering::Relaxed) + 1;
        let (reporter, named) = (self.clone(), first.clone());
        let started = thread::Builder::new().name("find results".to_owned()).spawn(move || {
            let is_last = || reporter.passes.load(Ordering::Relaxed) == pass;
            if let Some(makers) = makers_of(change, results, is_last) {
                // Fails only if the window is closed.
                let _gone = reporter.say(FileEvent::ResultsFound(named, makers));
            }
        });
        match started {
            Ok(_) => Ok(()),
            Err(error) => {
                tracing::warn!(%error, "results are not looked for");
                self.say(FileEvent::ResultsFound(first, Makers::new()))
            }
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
        let (mut is_first, mut count) = (true, 0);
        for path in newest_images(folder) {
            if count == Recents::LIMIT {
                break;
            }
            let settings = settings_inside(&path);
            // Subfolders may have images that were not generated.
            if settings.is_none() && path.parent() != Some(folder) {
                continue;
            }
            let (first, length) = match read_first(&path) {
                Ok(found) => found,
                Err(failure) => {
                    tracing::warn!(path = %path.display(), failure.message, "an image is left out");
                    continue;
                }
            };
            let length = length.or_else(|| length_of(settings.as_deref()));
            let is_shown = settings.is_some() && std::mem::take(&mut is_first);
            let thumbnail = thumbnail(&first);
            self.say(FileEvent::Found { path: path.clone(), thumbnail, length, settings })?;
            count += 1;
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

/// The files of a folder that can be changed in this way, in the order of their names.
fn files_for(change: FileChange, folder: &Path) -> io::Result<Vec<PathBuf>> {
    match change {
        FileChange::Enlarge => inputs_in(folder),
        FileChange::Interpolate => clips_in(folder),
        FileChange::Detail => images_named_in(folder),
    }
}

/// Why a folder of files to change cannot be used.
fn unusable_for(change: FileChange, folder: &Path, error: &io::Error) -> Failure {
    let advice = match change {
        FileChange::Enlarge => tr!("files-folder-unusable-any-advice"),
        FileChange::Interpolate => tr!("files-folder-unusable-clips-advice"),
        FileChange::Detail => tr!("files-folder-unusable-advice"),
    };
    Failure { message: format!("{}: {error}", folder.display()), advice: Some(advice) }
}

fn unusable(folder: &Path, error: &io::Error) -> FileEvent {
    let message = format!("{}: {error}", folder.display());
    let failure = Failure { message, advice: Some(tr!("files-folder-unusable-advice")) };
    FileEvent::Failed { title: tr!("files-folder-unusable"), failure }
}

/// Opens a folder in the program that the system has for it.
fn open_folder(folder: &Path) -> io::Result<()> {
    // Explorer fails although it opens a folder, and macOS is waited for in any case.
    if cfg!(target_os = "linux") {
        open::that_detached_with_timeout(folder, PATIENCE)
    } else {
        open::that_detached(folder)
    }
}

fn not_opened(folder: &Path, error: &io::Error) -> FileEvent {
    tracing::warn!(folder = %folder.display(), %error, "no program opened a folder");
    let message = tr!("files-folder-no-program", path = folder.display());
    let failure = Failure { message, advice: Some(tr!("files-folder-not-opened-advice")) };
    FileEvent::Failed { title: tr!("files-folder-not-opened"), failure }
}

fn not_saved(title: String, folder: &Path, error: &io::Error) -> FileEvent {
    FileEvent::Failed { title, failure: unsaved(folder, error) }
}

fn unsaved(folder: &Path, error: &io::Error) -> Failure {
    let message = format!("{}: {error}", folder.display());
    Failure { message, advice: Some(tr!("files-not-saved-advice")) }
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::{bounded, unbounded};

    use super::*;

    #[test]
    fn a_folder_that_no_program_opens_is_named_once_that_is_known() {
        const LONG: Duration = Duration::from_secs(20);
        let (report, results) = unbounded();
        let reporter = Reporter { report, wake: Arc::new(|| ()), passes: Arc::default() };
        let (fail, failing) = bounded::<()>(1);
        let open = move |_: &Path| {
            failing.recv_timeout(LONG).expect("nobody waits for it");
            Err(io::Error::other("3"))
        };
        assert!(reporter.open("/pictures/fox".into(), open).is_ok());
        assert!(results.is_empty());
        fail.send(()).unwrap();
        let Ok(FileEvent::Failed { failure, .. }) = results.recv_timeout(LONG) else { panic!("not a word") };
        assert_eq!(failure.message, "No program opened /pictures/fox.");
    }
}
