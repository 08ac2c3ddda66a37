//! Commands that bars and menus show, too.

use egui::{Key, KeyboardShortcut, Modifiers};
use sluice_engine::request::Mode;

use super::{Entry, entry, with_image, with_key, with_pixels, with_shortcut, with_tip, with_words};
use crate::window::{
    action::{Action, EnhanceStep, GalleryAction, GetAction, LibraryAction, Making, Section, UpscaleStep},
    collection::Change,
    files::Dialog,
    icons,
    settings::{Setting, ThemeChoice},
    state::{Recent, State},
};

/// How far similar images are from an image.
pub const NEAR: f32 = 0.2;

const MODELS: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::M);
const OPEN: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::O);
/// Copies a file, or those that are selected in the gallery.
pub const COPY: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::C);
const SETTINGS: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Comma);

/// Opens the place of models, or closes it.
pub const ALL_MODELS: Entry = with_shortcut(
    MODELS,
    with_tip(
        "top-bar-all-models-tip",
        entry("commands-all-models", icons::LAYERS, |now| {
            Some(LibraryAction::Show(!now.state.library.is_open).into())
        }),
    ),
);
/// Opens the place for downloads.
pub const GET_MODELS: Entry = with_tip(
    "top-bar-get-models-tip",
    entry("top-bar-get-models", icons::DOWNLOAD, |now| {
        now.state.downloads.is_there.then(|| GetAction::Show(true).into())
    }),
);
/// Asks for the file of a model.
pub const OPEN_MODEL_FILE: Entry = with_shortcut(
    OPEN,
    with_tip(
        "commands-open-a-model-file-tip",
        entry("commands-open-a-model-file", icons::FILE, |_| Some(Action::OpenDialog(Dialog::ModelFile))),
    ),
);
/// Asks for the folder of a model.
pub const OPEN_MODEL_FOLDER: Entry = with_tip(
    "commands-open-a-model-folder-tip",
    entry("commands-open-a-model-folder", icons::FOLDER, |_| Some(Action::OpenDialog(Dialog::ModelFolder))),
);
/// Opens the gallery, or closes it.
pub const GALLERY: Entry = with_key(
    "G",
    with_tip(
        "top-bar-gallery-tip",
        entry("commands-gallery", icons::IMAGE, |now| Some(GalleryAction::Open(!now.open.gallery).into())),
    ),
);
/// Opens the plan, or closes it.
pub const PLAN: Entry = with_tip(
    "top-bar-plan-tip",
    entry("commands-plan", icons::MEMORY, |now| Some(Action::Set(Setting::PlanOpen(!now.open.plan)))),
);
/// Opens the timeline, or closes it.
pub const TIMELINE: Entry = with_tip(
    "top-bar-timeline-tip",
    entry("commands-timeline", icons::CPU, |now| {
        Some(Action::Set(Setting::TimelineOpen(!now.open.timeline)))
    }),
);
/// Opens the settings, or closes them.
pub const OPEN_SETTINGS: Entry = with_shortcut(
    SETTINGS,
    with_tip(
        "commands-settings-tip",
        entry("commands-settings", icons::SETTINGS, |now| Some(Action::ShowSettings(!now.open.settings))),
    ),
);
/// Uses the dark theme.
pub const DARK: Entry = with_tip(
    "commands-dark-theme-tip",
    entry("commands-dark-theme", icons::MOON, |_| Some(Action::Set(Setting::Theme(ThemeChoice::Dark)))),
);
/// Uses the light theme.
pub const LIGHT: Entry = with_tip(
    "commands-light-theme-tip",
    entry("commands-light-theme", icons::SUN, |_| Some(Action::Set(Setting::Theme(ThemeChoice::Light)))),
);
/// Follows the system.
pub const SYSTEM: Entry = with_tip(
    "commands-theme-of-the-system-tip",
    entry("commands-theme-of-the-system", icons::SUN_MOON, |_| {
        Some(Action::Set(Setting::Theme(ThemeChoice::System)))
    }),
);
/// Cancels the running image.
pub const CANCEL: Entry = with_key(
    "Esc",
    with_words(
        "commands-cancel-words",
        with_tip(
            "commands-cancel-the-running-image-tip",
            entry("commands-cancel-the-running-image", icons::X, |now| {
                now.state.jobs.running().map(|_| Action::CancelRunning)
            }),
        ),
    ),
);
/// Stops the queue for now.
pub const PAUSE: Entry = with_words(
    "commands-queue-words",
    with_tip(
        "queue-pause-tip",
        entry("commands-pause-the-queue", icons::PAUSE, |now| {
            let jobs = &now.state.jobs;
            (!jobs.paused && !jobs.is_empty()).then_some(Action::PauseQueue(true))
        }),
    ),
);

/// Restores the settings of an image or a clip.
pub const USE_SETTINGS: Entry = with_tip(
    "viewer-use-settings-tip",
    with_image("commands-use-these-settings", icons::RESTORE, |_, recent| {
        recent.request.as_ref().map(|_| Action::UseSettings(recent.id))
    }),
);
/// Generates others with the same settings.
pub const VARIATIONS: Entry = with_tip(
    "viewer-variations-tip",
    with_image("commands-variations-times-four", icons::DICES, |state, recent| vary(state, recent, None)),
);
/// Generates others near it.
pub const SIMILAR: Entry = with_tip(
    "viewer-similar-tip",
    with_image("commands-similar-times-four", icons::IMAGES, |state, recent| vary(state, recent, Some(NEAR))),
);
/// Starts from an image.
pub const USE_AS_INPUT: Entry = with_tip(
    "gallery-use-as-image-tip",
    with_image("commands-use-as-input-image", icons::IMAGE, |_, recent| {
        recent.path.clone().filter(|_| recent.length.is_none()).map(Action::UseAsInput)
    }),
);
/// Paints over what is to change of an image.
pub const INPAINT: Entry = with_tip(
    "viewer-inpaint-tip",
    with_image("viewer-inpaint", icons::BRUSH, |state, recent| {
        let is_image = recent.length.is_none() && !state.makes_clips();
        recent.path.clone().filter(|_| is_image).map(Action::Inpaint)
    }),
);
/// Goes to what extends the input image, or asks for one.
pub const OUTPAINT: Entry = with_words(
    "commands-outpaint-words",
    with_tip(
        "commands-outpaint-tip",
        entry("commands-outpaint", icons::EXPAND, |now| {
            let request = &now.state.draft().request;
            let takes_image = now.state.summary().is_some() && !now.state.takes_clip_inputs(request);
            takes_image.then_some(match &request.source {
                Some(_) => Action::ShowSection(Section::Input),
                None => Action::OpenDialog(Dialog::InputImage),
            })
        }),
    ),
);
/// Asks which model gets an image as its preview.
pub const USE_AS_PREVIEW: Entry = with_tip(
    "library-preview-ask-tip",
    with_image("library-preview-ask", icons::ALBUM, |_, recent| {
        recent.path.clone().map(|path| LibraryAction::AskPreview(path).into())
    }),
);
/// Asks how to enlarge an image or a clip.
pub const UPSCALE: Entry = with_tip(
    "viewer-upscale-tip",
    with_image("viewer-upscale", icons::IMAGE_UPSCALE, |_, recent| {
        let path = recent.path.clone()?;
        Some(UpscaleStep::Ask(vec![path]).into())
    }),
);
/// Asks how to describe an image.
pub const DESCRIBE: Entry = with_tip(
    "enhance-describe-open-tip",
    with_image("enhance-describe-open", icons::MESSAGE_SQUARE_TEXT, |_, recent| {
        let path = recent.path.clone().filter(|_| recent.length.is_none())?;
        Some(EnhanceStep::Describe(vec![path]).into())
    }),
);
/// Asks how to inpaint the details of an image again.
pub const DETAIL: Entry = with_tip(
    "detailers-ask-open-tip",
    with_image("detailers-ask-open", icons::SCAN_SEARCH, |_, recent| {
        let path = recent.path.clone().filter(|_| recent.length.is_none())?;
        Some(UpscaleStep::AskDetail(vec![path]).into())
    }),
);
/// Asks how to put frames between those of a clip.
pub const INTERPOLATE: Entry = with_tip(
    "viewer-interpolate-tip",
    with_image("viewer-interpolate", icons::BETWEEN_VERTICAL_START, |_, recent| {
        let path = recent.path.clone().filter(|_| recent.length.is_some())?;
        Some(UpscaleStep::AskInterpolate(vec![path]).into())
    }),
);
/// Continues a clip.
pub const EXTEND: Entry = with_pixels(with_tip(
    "viewer-extend-tip",
    with_image("viewer-extend", icons::FILM, |state, recent| {
        let can = recent.length.is_some() && recent.path.is_some() && state.can(Mode::Extend);
        can.then_some(Action::Extend(recent.id))
    }),
));
/// Starts from a clip.
pub const USE_AS_CLIP: Entry = with_tip(
    "gallery-use-as-clip-tip",
    with_image("gallery-use-as-clip", icons::FILE_UP, |state, recent| {
        let can = recent.length.is_some() && state.takes_clips();
        recent.path.clone().filter(|_| can).map(Action::UseAsClip)
    }),
);
/// Ends the next clip with a frame of a clip.
pub const USE_FRAME_AS_END: Entry = with_pixels(with_tip(
    "viewer-use-frame-as-end-tip",
    with_image("viewer-use-frame-as-end", icons::ARROW_RIGHT_TO_LINE, |state, recent| {
        let can = recent.length.is_some() && state.can(Mode::FirstAndLast);
        can.then_some(Action::UseFrameAsLast(recent.id))
    }),
));
/// Starts from a frame of a clip.
pub const USE_FRAME: Entry = with_pixels(with_tip(
    "viewer-use-frame-tip",
    with_image("viewer-use-frame", icons::IMAGE, |_, recent| {
        recent.length.map(|_| Action::UseFrame(recent.id))
    }),
));
/// Saves a frame of a clip.
pub const SAVE_FRAME: Entry = with_pixels(with_tip(
    "viewer-save-frame-tip",
    with_image("viewer-save-frame", icons::IMAGE_DOWN, |_, recent| {
        recent.length.map(|_| Action::SaveFrame(recent.id))
    }),
));
/// Asks where a copy of an image is saved.
pub const SAVE_AS: Entry = with_tip(
    "viewer-save-as-tip",
    with_image("viewer-save-as", icons::IMAGE_DOWN, |_, recent| {
        recent.length.is_none().then_some(Action::OpenDialog(Dialog::SaveAs(recent.id)))
    }),
);
/// Copies a frame of a clip.
pub const COPY_FRAME: Entry = with_pixels(with_tip(
    "viewer-copy-frame-tip",
    with_image("viewer-copy-frame", icons::COPY, |_, recent| {
        recent.length.map(|_| Action::CopyImage(recent.id))
    }),
));
/// Copies an image.
pub const COPY_IMAGE: Entry = with_pixels(with_tip(
    "commands-copy-image-tip",
    with_image("commands-copy-image", icons::COPY, |_, recent| {
        recent.length.is_none().then_some(Action::CopyImage(recent.id))
    }),
));
/// Copies the file itself.
pub const COPY_FILE: Entry = with_shortcut(
    COPY,
    with_tip(
        "commands-copy-file-tip",
        with_image("commands-copy-file", icons::FILE, |_, recent| {
            Some(Action::CopyFiles(vec![recent.path.clone()?]))
        }),
    ),
);
/// Copies a prompt.
pub const COPY_PROMPT: Entry = with_tip(
    "gallery-copy-prompt-tip",
    with_image("commands-copy-prompt", icons::COPY, |_, recent| {
        let prompt = recent.request.as_ref()?.prompt.clone();
        (!prompt.is_empty()).then_some(Action::CopyText(prompt))
    }),
);
/// Opens the folder of a file.
pub const OPEN_CONTAINING_FOLDER: Entry = with_tip(
    "gallery-show-in-folder-tip",
    with_image("gallery-show-in-folder", icons::FOLDER_OPEN, |_, recent| {
        Some(Action::OpenFolder(recent.path.as_ref()?.parent()?.to_owned()))
    }),
);
/// Gives a star to an image or a clip.
pub const ADD_STAR: Entry = with_tip(
    "gallery-star-tip",
    with_image("library-menu-star", icons::STAR, |state, recent| star(state, recent, true)),
);
/// Takes the star away.
pub const REMOVE_STAR: Entry = with_tip(
    "gallery-unstar-tip",
    with_image("library-menu-unstar", icons::STAR_FILLED, |state, recent| star(state, recent, false)),
);
/// Moves a file to the trash.
pub const TRASH: Entry = with_tip(
    "viewer-trash-tip",
    with_image("gallery-trash", icons::TRASH, |_, recent| {
        recent.path.clone().map(|path| GalleryAction::TrashOne(path).into())
    }),
);

fn star(state: &State, recent: &Recent, starred: bool) -> Option<Action> {
    let path = recent.path.clone().filter(|path| state.images.starred.contains(path) != starred)?;
    Some(GalleryAction::MarkOne(path, Change::Star(starred)).into())
}

fn vary(state: &State, recent: &Recent, strength: Option<f32>) -> Option<Action> {
    let can = recent.request.is_some() && state.surroundings.output_folder.is_some();
    can.then(|| Making::Vary(recent.id, strength).into())
}
