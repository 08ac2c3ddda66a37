//! The table of commands: what the window can do, with its names and keys. The keyboard, the sheet of keys, the palette, the
//! top bar and the menus read it.

mod shown;

use egui::{Key, KeyboardShortcut, Modifiers};

use super::{
    action::{Action, EnhanceStep, Keeping, LibraryAction, Making},
    files::Dialog,
    icons,
    settings::Setting,
    state::{FileChange, Recent, State},
};
use crate::language::text;
pub use shown::*;

/// The window as a command finds it.
#[derive(Clone, Copy)]
pub struct Now<'a> {
    /// The state.
    pub state: &'a State,
    /// What is open.
    pub open: Open,
}

/// What is open in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// The gallery.
    pub gallery: bool,
    /// The plan panel, where it can be seen.
    pub plan: bool,
    /// The timeline, where it can be seen.
    pub timeline: bool,
    /// The sheet of keys.
    pub help: bool,
    /// The settings.
    pub settings: bool,
    /// The palette.
    pub palette: bool,
}

/// Something that the window can do.
pub struct Entry {
    /// The key of its name.
    pub name: &'static str,
    /// The key of a sentence about it; empty where its name says everything.
    tip: &'static str,
    /// The key of other words that find it; empty where its name is enough.
    words: &'static str,
    /// Its icon.
    pub icon: &'static str,
    /// The key that works anywhere.
    pub shortcut: Option<KeyboardShortcut>,
    /// The key that works where the command does, as it is shown.
    pub key: &'static str,
    /// Whether it needs the pixels of the image.
    needs_pixels: bool,
    does: Does,
}

/// What a command does now; nothing, if it cannot.
enum Does {
    /// In the window.
    Anywhere(fn(&Now<'_>) -> Option<Action>),
    /// With a finished image or clip.
    With(fn(&State, &Recent) -> Option<Action>),
}

impl Entry {
    /// What it does now, with the image that is shown if it is about one; nothing, if it cannot.
    pub fn action(&self, now: &Now<'_>) -> Option<Action> {
        match self.does {
            Does::Anywhere(action) => action(now),
            Does::With(action) => {
                let recent = now.state.images.shown_recent().filter(|recent| self.is_ready(recent))?;
                action(now.state, recent)
            }
        }
    }

    /// What it does with an image or a clip, if it is about one.
    pub fn action_with(&self, state: &State, recent: &Recent) -> Option<Action> {
        match self.does {
            Does::Anywhere(_) => None,
            Does::With(action) => action(state, recent),
        }
    }

    /// Whether what it needs of an image is in memory.
    pub fn is_ready(&self, recent: &Recent) -> bool {
        recent.pixels.is_some() || !self.needs_pixels
    }

    /// Its name.
    pub fn title(&self) -> String {
        text(self.name)
    }

    /// Other words that find it.
    pub fn words(&self) -> String {
        if self.words.is_empty() { String::new() } else { text(self.words) }
    }

    /// A sentence about it, or its name.
    pub fn sentence(&self) -> String {
        text(if self.tip.is_empty() { self.name } else { self.tip })
    }
}

/// Queues a job.
pub const GENERATE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter);
/// Opens the palette, and closes it.
pub const PALETTE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::K);
const HELP: KeyboardShortcut = KeyboardShortcut::new(Modifiers::NONE, Key::F1);
const FULL_SCREEN: KeyboardShortcut = KeyboardShortcut::new(Modifiers::NONE, Key::F11);

const fn entry(name: &'static str, icon: &'static str, action: fn(&Now<'_>) -> Option<Action>) -> Entry {
    let does = Does::Anywhere(action);
    Entry { name, tip: "", words: "", icon, shortcut: None, key: "", needs_pixels: false, does }
}

/// A command with an image or a clip.
const fn with_image(
    name: &'static str,
    icon: &'static str,
    action: fn(&State, &Recent) -> Option<Action>,
) -> Entry {
    let does = Does::With(action);
    Entry { name, tip: "", words: "", icon, shortcut: None, key: "", needs_pixels: false, does }
}

const fn with_tip(tip: &'static str, entry: Entry) -> Entry {
    Entry { tip, ..entry }
}

const fn with_words(words: &'static str, entry: Entry) -> Entry {
    Entry { words, ..entry }
}

const fn with_pixels(entry: Entry) -> Entry {
    Entry { needs_pixels: true, ..entry }
}

const fn with_shortcut(shortcut: KeyboardShortcut, entry: Entry) -> Entry {
    Entry { shortcut: Some(shortcut), ..entry }
}

const fn with_key(key: &'static str, entry: Entry) -> Entry {
    Entry { key, ..entry }
}

/// Every command, the usual ones first.
pub const COMMANDS: [Entry; 64] = [
    with_shortcut(
        GENERATE,
        entry("commands-generate", icons::SPARKLES, |now| {
            now.state.can_generate().then_some(Action::Generate)
        }),
    ),
    entry("commands-grid", icons::LAYOUT_GRID, |now| {
        now.state.can_ask().then(|| Making::AskGrid(true).into())
    }),
    with_shortcut(
        PALETTE,
        entry("commands-command-palette", icons::SEARCH, |now| Some(Action::ShowPalette(!now.open.palette))),
    ),
    ALL_MODELS,
    GET_MODELS,
    OPEN_MODEL_FILE,
    OPEN_MODEL_FOLDER,
    GALLERY,
    PLAN,
    TIMELINE,
    CANCEL,
    entry("commands-cancel-all-jobs", icons::X, |now| {
        (!now.state.jobs.is_empty()).then_some(Action::CancelAll)
    }),
    entry("commands-resume-cancelled", icons::RESTORE, |now| {
        (!now.state.messages.resumable().is_empty()).then_some(Action::ResumeCancelled)
    }),
    entry("commands-queue", icons::LAYERS, |now| {
        let jobs = &now.state.jobs;
        (jobs.paused || !jobs.is_empty()).then_some(Action::ShowQueue)
    }),
    PAUSE,
    with_words(
        "commands-queue-words",
        entry("commands-resume-the-queue", icons::PLAY, |now| {
            now.state.jobs.paused.then_some(Action::PauseQueue(false))
        }),
    ),
    entry("commands-randomize-seed", icons::DICES, |_| Some(Action::RandomizeSeed)),
    entry("commands-lock-seed", icons::LOCK, |now| lock(now, true)),
    entry("commands-random-seed-each-time", icons::LOCK_OPEN, |now| lock(now, false)),
    entry("commands-reset-to-the-model-defaults", icons::RESTORE, |now| {
        now.state.summary().map(|_| Keeping::Reset.into())
    }),
    entry("commands-use-current-settings-as-defaults", icons::SETTINGS, |now| {
        now.state.summary().map(|_| LibraryAction::KeepDefaults.into())
    }),
    entry("commands-choose-an-input-image", icons::IMAGE, |_| Some(Action::OpenDialog(Dialog::InputImage))),
    entry("commands-choose-a-folder-of-input-images", icons::FOLDER, |_| {
        Some(Action::OpenDialog(Dialog::InputFolder))
    }),
    OUTPAINT,
    entry("commands-add-a-lora", icons::SPARKLES, |_| Some(Action::OpenDialog(Dialog::Adapter))),
    entry("commands-open-a-file-of-styles", icons::TAG, |_| Some(Action::OpenDialog(Dialog::Styles))),
    with_tip("enhance-open-tip", entry("enhance-open", icons::SPARKLES, |_| Some(EnhanceStep::Open.into()))),
    entry("commands-batch-as-grid", icons::LAYOUT_GRID, |now| {
        Some(Action::Set(Setting::BatchGrid(!now.state.settings.batch_grid)))
    }),
    VARIATIONS,
    SIMILAR,
    USE_SETTINGS,
    USE_AS_INPUT,
    INPAINT,
    USE_AS_CLIP,
    USE_AS_PREVIEW,
    USE_FRAME,
    USE_FRAME_AS_END,
    UPSCALE,
    DETAIL,
    DESCRIBE,
    INTERPOLATE,
    with_tip(
        "upscale-folder-tip",
        entry("commands-upscale-a-folder", icons::FOLDER, |_| {
            Some(Action::OpenDialog(Dialog::ChangedFolder(FileChange::Enlarge)))
        }),
    ),
    EXTEND,
    COPY_IMAGE,
    COPY_FRAME,
    COPY_FILE,
    SAVE_FRAME,
    SAVE_AS,
    COPY_PROMPT,
    with_key(
        "C",
        entry("commands-compare", icons::COLUMNS, |now| {
            let images = &now.state.images;
            match images.compared() {
                Some(_) => Some(Action::Compare(None)),
                None => images
                    .shown_recent()
                    .and_then(|_| images.comparable())
                    .map(|other| Action::Compare(Some(other))),
            }
        }),
    ),
    OPEN_CONTAINING_FOLDER,
    ADD_STAR,
    REMOVE_STAR,
    TRASH,
    entry("commands-open-output-folder", icons::FOLDER_OPEN, |now| {
        now.state.surroundings.output_folder.clone().map(Action::OpenFolder)
    }),
    entry("commands-live-preview", icons::PLAY, |now| {
        Some(Action::Set(Setting::Previews(!now.state.settings.previews)))
    }),
    with_key(
        "M",
        entry("commands-mute-clips", icons::VOLUME_X, |now| {
            now.state.muted().map(|muted| Action::Set(Setting::Muted(!muted)))
        }),
    ),
    DARK,
    LIGHT,
    SYSTEM,
    entry("commands-undo", icons::RESTORE, |now| {
        let undo = now.state.messages.notice.as_ref().and_then(|notice| notice.undo.as_ref());
        undo.map(|_| Action::Undo)
    }),
    OPEN_SETTINGS,
    with_shortcut(
        HELP,
        entry("commands-shortcuts", icons::INFO, |now| Some(Action::ShowHelp(!now.open.help))),
    ),
    with_shortcut(
        FULL_SCREEN,
        entry("commands-full-screen", icons::MOVE_HORIZONTAL, |_| Some(Action::ToggleFullScreen)),
    ),
];

fn lock(now: &Now<'_>, locked: bool) -> Option<Action> {
    let mut draft = now.state.draft().clone();
    (draft.seed_locked != locked).then(|| {
        draft.seed_locked = locked;
        Action::Edit(Box::new(draft))
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Arc};

    use egui::{Color32, ColorImage};

    use super::*;
    use crate::window::state::Pixels;

    #[test]
    fn what_has_a_file_is_copied_as_one() {
        let mut state = State::default();
        let mut add = |path: Option<&str>| {
            let pixels = Pixels::Image(Arc::new(ColorImage::filled([2, 2], Color32::BLACK)));
            state.images.recents.add(path.map(Into::into), pixels, None, None)
        };
        let (saved, unsaved) = (add(Some("a.png")), add(None));
        let copy = |id| COPY_FILE.action_with(&state, state.images.recents.get(id).unwrap());
        assert_eq!(copy(saved), Some(Action::CopyFiles(vec!["a.png".into()])));
        assert_eq!(copy(unsaved), None);
    }

    #[test]
    fn what_has_a_file_gets_a_star_and_goes_to_the_trash() {
        let mut state = State::default();
        let mut add = |path: Option<&str>| {
            let pixels = Pixels::Image(Arc::new(ColorImage::filled([2, 2], Color32::BLACK)));
            state.images.recents.add(path.map(Into::into), pixels, None, None)
        };
        let (saved, unsaved) = (add(Some("a.png")), add(None));
        let offers = |state: &State, id| {
            let recent = state.images.recents.get(id).unwrap();
            [ADD_STAR, REMOVE_STAR, TRASH].map(|entry| entry.action_with(state, recent).is_some())
        };
        assert_eq!(offers(&state, saved), [true, false, true]);
        assert_eq!(offers(&state, unsaved), [false; 3]);
        state.images.starred.insert("a.png".into());
        assert_eq!(offers(&state, saved), [false, true, true]);
    }

    #[test]
    fn names_and_keys_are_used_once() {
        let names: BTreeSet<_> = COMMANDS.iter().map(|command| command.name).collect();
        assert_eq!(names.len(), COMMANDS.len());
        let keys: Vec<_> = COMMANDS.iter().filter_map(|command| command.shortcut).collect();
        for (place, key) in keys.iter().enumerate() {
            assert!(!keys[..place].contains(key), "{key:?}");
        }
    }
}
