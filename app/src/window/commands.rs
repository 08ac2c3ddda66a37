//! The table of commands: what the window can do, with its names and keys. The keyboard, the sheet of keys and the palette
//! read it.

use egui::{Key, KeyboardShortcut, Modifiers};

use super::{
    action::Action,
    files::Dialog,
    gallery::Step,
    icons,
    kept::Keeping,
    library::LibraryAction,
    making::Making,
    settings::{Setting, ThemeChoice},
    state::{Recent, State},
};

/// How far similar images are from an image.
pub const NEAR: f32 = 0.2;

/// The window as a command finds it.
pub struct Now<'a> {
    /// The state.
    pub state: &'a State,
    /// Whether the gallery is open.
    pub gallery: bool,
    /// Whether the plan panel is open.
    pub plan: bool,
    /// Whether the sheet of keys is open.
    pub help: bool,
    /// Whether the settings are open.
    pub settings: bool,
    /// Whether the palette is open.
    pub palette: bool,
}

/// Something that the window can do.
pub struct Entry {
    /// The key of its name.
    pub name: &'static str,
    /// Its icon.
    pub icon: &'static str,
    /// The key that works anywhere.
    pub shortcut: Option<KeyboardShortcut>,
    /// The key that works where the command does, as it is shown.
    pub key: &'static str,
    /// What it does now; nothing, if it cannot.
    pub action: fn(&Now<'_>) -> Option<Action>,
}

/// Queues a job.
pub const GENERATE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter);
const MODELS: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::M);
const PALETTE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::K);
const OPEN: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::O);
const SETTINGS: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Comma);
const HELP: KeyboardShortcut = KeyboardShortcut::new(Modifiers::NONE, Key::F1);
const FULL_SCREEN: KeyboardShortcut = KeyboardShortcut::new(Modifiers::NONE, Key::F11);

const fn entry(name: &'static str, icon: &'static str, action: fn(&Now<'_>) -> Option<Action>) -> Entry {
    Entry { name, icon, shortcut: None, key: "", action }
}

const fn with_shortcut(shortcut: KeyboardShortcut, entry: Entry) -> Entry {
    Entry { shortcut: Some(shortcut), ..entry }
}

const fn with_key(key: &'static str, entry: Entry) -> Entry {
    Entry { key, ..entry }
}

/// Every command, the usual ones first.
pub const COMMANDS: [Entry; 41] = [
    with_shortcut(
        GENERATE,
        entry("commands-generate", icons::SPARKLES, |now| {
            now.state.can_generate().then_some(Action::Generate)
        }),
    ),
    entry("commands-grid", icons::LAYOUT_GRID, |now| {
        now.state.can_generate().then(|| Making::AskGrid(true).into())
    }),
    with_shortcut(
        PALETTE,
        entry("commands-command-palette", icons::SEARCH, |now| Some(Action::ShowPalette(!now.palette))),
    ),
    with_shortcut(
        MODELS,
        entry("commands-all-models", icons::LAYERS, |now| {
            Some(LibraryAction::Show(!now.state.library.is_open).into())
        }),
    ),
    with_shortcut(
        OPEN,
        entry("commands-open-a-model-file", icons::FILE, |_| Some(Action::OpenDialog(Dialog::ModelFile))),
    ),
    entry("commands-open-a-model-folder", icons::FOLDER, |_| Some(Action::OpenDialog(Dialog::ModelFolder))),
    with_key("G", entry("commands-gallery", icons::IMAGE, |now| Some(Step::Open(!now.gallery).into()))),
    entry("commands-plan", icons::MEMORY, |now| Some(Action::Set(Setting::PlanOpen(!now.plan)))),
    entry("commands-timeline", icons::CPU, |now| {
        Some(Action::Set(Setting::TimelineOpen(!now.state.settings.memory.timeline_open)))
    }),
    with_key(
        "Esc",
        entry("commands-cancel-the-running-image", icons::X, |now| {
            now.state.jobs.running().map(|_| Action::CancelRunning)
        }),
    ),
    entry("commands-cancel-all-jobs", icons::X, |now| {
        (!now.state.jobs.is_empty()).then_some(Action::CancelAll)
    }),
    entry("commands-pause-the-queue", icons::PAUSE, |now| {
        let jobs = &now.state.jobs;
        (!jobs.paused && !jobs.is_empty()).then_some(Action::PauseQueue(true))
    }),
    entry("commands-resume-the-queue", icons::PLAY, |now| {
        now.state.jobs.paused.then_some(Action::PauseQueue(false))
    }),
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
    entry("commands-add-a-lora", icons::SPARKLES, |_| Some(Action::OpenDialog(Dialog::Adapter))),
    entry("commands-open-a-file-of-styles", icons::TAG, |_| Some(Action::OpenDialog(Dialog::Styles))),
    entry("commands-batch-as-grid", icons::LAYOUT_GRID, |now| {
        Some(Action::Set(Setting::BatchGrid(!now.state.settings.batch_grid)))
    }),
    entry("commands-variations-times-four", icons::DICES, |now| {
        of_made(now, |recent| Making::Vary(recent.id, None).into())
    }),
    entry("commands-similar-times-four", icons::LAYERS, |now| {
        of_made(now, |recent| Making::Vary(recent.id, Some(NEAR)).into())
    }),
    entry("commands-use-these-settings", icons::RESTORE, |now| {
        of_made(now, |recent| Action::UseSettings(recent.id))
    }),
    entry("commands-use-as-input-image", icons::IMAGE, |now| {
        let recent = shown(now).filter(|recent| recent.length.is_none())?;
        recent.path.clone().map(Action::UseAsInput)
    }),
    entry("commands-copy-image", icons::COPY, |now| {
        shown(now).filter(|recent| recent.pixels.is_some()).map(|recent| Action::CopyImage(recent.id))
    }),
    entry("commands-copy-prompt", icons::COPY, |now| {
        let prompt = shown(now)?.request.as_ref()?.prompt.clone();
        (!prompt.is_empty()).then_some(Action::CopyText(prompt))
    }),
    with_key(
        "C",
        entry("commands-compare", icons::COLUMNS, |now| {
            let images = &now.state.images;
            match images.compared() {
                Some(_) => Some(Action::Compare(None)),
                None => {
                    shown(now).and_then(|_| images.comparable()).map(|other| Action::Compare(Some(other)))
                }
            }
        }),
    ),
    entry("commands-open-containing-folder", icons::FOLDER_OPEN, |now| {
        Some(Action::OpenFolder(shown(now)?.path.as_ref()?.parent()?.to_owned()))
    }),
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
    entry("commands-dark-theme", icons::MOON, |_| Some(Action::Set(Setting::Theme(ThemeChoice::Dark)))),
    entry("commands-light-theme", icons::SUN, |_| Some(Action::Set(Setting::Theme(ThemeChoice::Light)))),
    entry("commands-theme-of-the-system", icons::SUN_MOON, |_| {
        Some(Action::Set(Setting::Theme(ThemeChoice::System)))
    }),
    entry("commands-undo", icons::RESTORE, |now| {
        let undo = now.state.messages.notice.as_ref().and_then(|notice| notice.undo.as_ref());
        undo.map(|_| Action::Undo)
    }),
    with_shortcut(
        SETTINGS,
        entry("commands-settings", icons::SETTINGS, |now| Some(Action::ShowSettings(!now.settings))),
    ),
    with_shortcut(HELP, entry("commands-shortcuts", icons::INFO, |now| Some(Action::ShowHelp(!now.help)))),
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

fn shown<'a>(now: &Now<'a>) -> Option<&'a Recent> {
    now.state.images.shown_recent()
}

/// An action for the image that is shown, if its settings are known.
fn of_made(now: &Now<'_>, action: fn(&Recent) -> Action) -> Option<Action> {
    shown(now).filter(|recent| recent.request.is_some()).map(action)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

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
