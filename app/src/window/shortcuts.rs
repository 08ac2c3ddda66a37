//! Global keyboard shortcuts.

use egui::{Context, Event, InputState, Key, Ui};

use super::{
    action::{Action, Browse, GalleryAction, LibraryAction, Making, Message, UpscaleStep},
    commands::{COMMANDS, COPY, GENERATE, Now, TRASH},
    settings::Setting,
    state::{Control, Playback, Shown},
};

/// What lies over the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sheet {
    /// The keys.
    Help,
    /// The settings.
    Settings,
}

/// What Escape closes or leaves by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Escape {
    popup: bool,
    field: bool,
    browser: bool,
    sheet: Option<Sheet>,
    /// Whether it closes the dialog for grids.
    pub grid: bool,
    /// Whether it closes a question.
    pub question: bool,
    /// Whether it closes the question how to enlarge files.
    pub upscaling: bool,
    /// Whether it closes the place of models, if that is open.
    pub library: Option<bool>,
    gallery: bool,
}

impl Escape {
    /// What is open or has the focus now.
    pub fn of(ctx: &Context, browser: bool, sheet: Option<Sheet>, gallery: bool) -> Self {
        let (popup, field) = (ctx.any_popup_open(), ctx.text_edit_focused());
        Self { popup, field, browser, sheet, gallery, ..Self::default() }
    }
}

/// Collects the actions of this frame's keys. `before` is what was open at the end of the last frame.
pub fn pressed(ui: &Ui, now: &Now<'_>, before: Escape, actions: &mut Vec<Action>) {
    let (ctx, state) = (ui.ctx(), now.state);
    // A key that is held down must not fill the queue, and no text field may see it.
    ctx.input_mut(|input| {
        input.events.retain(|event| match event {
            Event::Key { key, pressed: true, repeat, modifiers, .. }
                if *key == GENERATE.logical_key && modifiers.matches_logically(GENERATE.modifiers) =>
            {
                if !repeat {
                    actions.push(Action::Generate);
                }
                false
            }
            _ => true,
        });
    });
    // Escape closes popups, messages and comparisons and leaves fields before it cancels jobs.
    let asks = before.grid || before.question || before.upscaling;
    let is_covered = now.open.palette || before.browser || before.sheet.is_some() || asks;
    let closes_library = before.library == Some(true) && !is_covered;
    // The palette closes by itself.
    let is_free =
        (!before.field || before.sheet.is_some()) && !now.open.palette && before.library != Some(false);
    if !before.popup && (is_free || closes_library) && ctx.input(|input| input.key_pressed(Key::Escape)) {
        actions.extend(if closes_library {
            Some(Action::Library(LibraryAction::Show(false)))
        } else if before.browser {
            Some(Action::Browse(Browse::Close))
        } else if before.upscaling {
            Some(UpscaleStep::Close.into())
        } else if before.question {
            Some(Action::CloseQuestion)
        } else if before.grid {
            Some(Making::AskGrid(false).into())
        } else if before.sheet == Some(Sheet::Help) {
            Some(Action::ShowHelp(false))
        } else if before.sheet == Some(Sheet::Settings) {
            Some(Action::ShowSettings(false))
        } else if before.gallery {
            Some(GalleryAction::Escape.into())
        } else if !state.messages.failures.is_empty() {
            Some(Action::Dismiss(Message::Failure))
        } else if let Some(painting) = &state.input.painting {
            // What was painted is not thrown away by a key.
            Some(if painting.is_empty() { Action::CancelMask } else { Action::AskMask })
        } else if state.images.compared().is_some() {
            Some(Action::Compare(None))
        } else {
            // Nothing runs in a paused queue.
            (!state.jobs.paused).then_some(Action::CancelRunning)
        });
    }
    // Nothing changes behind a dialog that asks for something.
    for command in COMMANDS.iter().filter(|_| !asks && !before.browser) {
        let Some(shortcut) = command.shortcut.filter(|shortcut| *shortcut != GENERATE) else { continue };
        if ctx.input_mut(|input| input.consume_shortcut(&shortcut)) {
            // Of what is selected, while the gallery is in front.
            match shortcut == COPY && before.gallery {
                true => actions.push(GalleryAction::CopyFiles.into()),
                false => actions.extend(command.action(now)),
            }
        }
    }
    let is_covered = is_covered || before.popup || before.library.is_some();
    if !before.field
        && !is_covered
        && ctx.input(|input| input.key_pressed(Key::G) && input.modifiers.is_none())
    {
        actions.push(GalleryAction::Open(!before.gallery).into());
    }
    let is_open = is_covered || before.gallery;
    let is_free = !is_open && ctx.memory(|memory| memory.focused().is_none());
    // Space moves the view of an image that is painted over.
    let is_free = is_free && state.input.painting.is_none();
    if is_free && let Shown::Recent(id) = state.images.shown {
        let playback = state.player.playback(id);
        let neighbours: &[_] = match playback {
            Some(_) => &[(Key::ArrowUp, -1), (Key::ArrowDown, 1)],
            None => &[(Key::ArrowUp, -1), (Key::ArrowDown, 1), (Key::ArrowLeft, -1), (Key::ArrowRight, 1)],
        };
        for &(key, step) in neighbours {
            if ctx.input(|input| input.key_pressed(key))
                && let Some(next) = state.images.recents.neighbour(id, step)
            {
                actions.push(Action::Show(Shown::Recent(next)));
            }
        }
        if ctx.input(|input| input.key_pressed(Key::C) && input.modifiers.is_none()) {
            let other = if state.images.compared().is_some() { None } else { state.images.comparable() };
            actions.push(Action::Compare(other));
        }
        if ctx.input(deletes)
            && let Some(recent) = state.images.shown_recent()
        {
            actions.extend(TRASH.action_with(state, recent));
        }
        if let Some(playback) = playback {
            player(ui, playback, state.muted(), actions);
        }
    }
}

/// Whether the key is pressed that moves an image to the trash. One that is held down moves only one.
fn deletes(input: &InputState) -> bool {
    let is_pressed = |event: &Event| match event {
        Event::Key { key, pressed, repeat, modifiers, .. } => {
            *key == Key::Delete && *pressed && !repeat && modifiers.is_none()
        }
        _ => false,
    };
    input.events.iter().any(is_pressed)
}

/// The keys of the player.
fn player(ui: &Ui, playback: &Playback, muted: Option<bool>, actions: &mut Vec<Action>) {
    let frame = playback.frame(ui.ctx().time());
    let (first, last) = playback.range();
    ui.input(|input| {
        for event in &input.events {
            let Event::Key { key, pressed: true, repeat, modifiers, .. } = event else { continue };
            if modifiers.any() {
                continue;
            }
            if let (Key::M, Some(muted)) = (key, muted) {
                actions.push(Action::Set(Setting::Muted(!muted)));
                continue;
            }
            let control = match key {
                Key::Space if !repeat => Control::Toggle,
                Key::ArrowLeft => Control::Step(-1),
                Key::ArrowRight => Control::Step(1),
                Key::Home => Control::Go(first),
                Key::End => Control::Go(last),
                Key::I => Control::First(frame),
                Key::O => Control::Last(frame),
                _ => continue,
            };
            actions.push(Action::Play(control));
        }
    });
}
