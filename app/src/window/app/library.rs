//! Executes the actions of the place of models, and handles what its worker says.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use egui::{Context, Event};
use sluice_engine::{models::Kind, request::ModelSource, session::Command};

use super::SluiceApp;
use crate::window::{
    action::LibraryAction,
    files::Task,
    library::{LibraryEvent, LibraryOptions, LibraryTask, is_due},
    question::{PreviewQuestion, Question},
    state::{EntryId, NextFit, Search, State, file_name},
    told::Told,
    widgets::TagChange,
};
use crate::{language::tr, presets::Preset};

/// Maximum number of results handled per frame.
const EVENTS_A_FRAME: usize = 32;
/// How soon the folders are looked at again while the place is open.
const AGAIN: Duration = Duration::from_secs(5);
/// Encoders and autoencoders in which missing parts are looked up.
const PARTS: usize = 64;

impl SluiceApp {
    pub(super) fn act_in_library(&mut self, action: LibraryAction) {
        match action {
            LibraryAction::Show(shown) => self.show_library(shown),
            LibraryAction::Search => {
                self.search_models();
                self.list_elsewhere();
            }
            LibraryAction::Open(id) => self.open_entry(&id),
            LibraryAction::RemoveFolder(folder) => {
                self.state.settings.library.folders.retain(|own| *own != folder);
                self.search_models();
            }
            LibraryAction::Favourite(id, on) => self.state.settings.library.set_favourite(&id.key(), on),
            LibraryAction::Note(id, note) => self.state.settings.library.set_note(&id.key(), note),
            LibraryAction::Tag(id, change) => {
                let (tag, on) = match &change {
                    TagChange::Add(tag) => (tag, true),
                    TagChange::Remove(tag) => (tag, false),
                };
                self.state.settings.library.set_tag(&id.key(), tag, on);
            }
            LibraryAction::KeepDefaults => {
                let request = self.state.draft().to_send();
                let (model, own) = (request.model.clone(), Preset::of(&request, false));
                self.state.settings.library.defaults.insert(model.to_string(), own);
                self.state.library.fits.renew();
            }
            LibraryAction::ResetDefaults(model) => self.reset_defaults(&model),
            LibraryAction::AddToPrompt(words) => {
                let prompt = &mut self.state.settings.draft.request.prompt;
                let before = prompt.trim_end().trim_end_matches(',').to_owned();
                *prompt = if before.is_empty() { words } else { format!("{before}, {words}") };
            }
            LibraryAction::Get(action) => self.act_in_get(action),
            LibraryAction::AskPreview(image) => {
                let opened = self.state.chosen_model().clone();
                self.request(Task::ListPreviewed { image, opened });
            }
            LibraryAction::UsePreview { image, model, replaces } => {
                self.question = None;
                self.request(Task::SavePreview { image, model, replaces });
            }
        }
    }

    fn show_library(&mut self, shown: bool) {
        self.state.library.is_open = shown;
        if !shown {
            return;
        }
        self.library_place.open(&self.state);
        if !matches!(self.state.library.search, Search::Running(_)) {
            self.search_models();
        }
        self.list_elsewhere();
        if self.state.library.known.is_empty() {
            self.library.request(LibraryTask::Known);
        }
    }

    /// Searches the folders, and asks the engines elsewhere, once the first frame is drawn, which comes first.
    fn search_at_start(&mut self, ctx: &Context) {
        if !self.searches_at_start {
            return;
        }
        if ctx.cumulative_frame_nr() == 0 {
            return ctx.request_repaint();
        }
        self.searches_at_start = false;
        let LibraryOptions { finds_programs, folders, .. } = &self.library_options;
        let has_folders = !folders.is_empty() || !self.state.settings.library.folders.is_empty();
        if self.state.library.search == Search::Never && (*finds_programs || has_folders) {
            self.search_models();
        }
        self.list_elsewhere();
    }

    pub(super) fn add_library_folder(&mut self, folder: PathBuf) {
        let folders = &mut self.state.settings.library.folders;
        if !folders.contains(&folder) {
            folders.push(folder);
        }
        self.search_models();
    }

    /// Searches the folders, unless only engines elsewhere are used, whose files are those of the window.
    pub(super) fn search_models(&mut self) {
        if self.state.lanes.are_elsewhere() {
            return;
        }
        let added = self.state.settings.library.folders.clone();
        if self.library.request(LibraryTask::Search(added)) {
            self.state.library.search = Search::Running(None);
        }
    }

    /// Asks the engines elsewhere for their models.
    pub(super) fn list_elsewhere(&mut self) {
        let lists: Vec<Command> =
            self.state.lanes.all_elsewhere().map(|lane| Command::List { lane }).collect();
        if self.state.lanes.are_elsewhere() && !lists.is_empty() {
            self.state.library.search = Search::Running(None);
        }
        self.send(lists);
    }

    fn open_entry(&mut self, id: &EntryId) {
        let EntryId::Source(source) = id else { return };
        let kind = self.state.library.item(id).map(|item| item.content().map(|content| content.kind));
        match (kind, source) {
            // What is built in, and models.
            (None, ModelSource::Starter | ModelSource::StarterClip) | (Some(Some(Kind::Model)), _) => {
                self.show_library(false);
                if *source != *self.state.chosen_model() || self.state.summary().is_none() {
                    self.choose_model(source.clone());
                }
            }
            (Some(Some(Kind::Adapter)), ModelSource::Path(path)) => {
                let draft = self.state.draft();
                let used = draft.request.adapters.iter().any(|used| used.path == *path && draft.uses(path));
                match used {
                    true => self.state.drop_adapter(path, true),
                    false => self.state.add_adapter(path.clone()),
                }
            }
            _ => {}
        }
    }

    /// A model starts with its own settings again; at once, if it is open.
    fn reset_defaults(&mut self, model: &ModelSource) {
        self.state.settings.library.defaults.remove(&model.to_string());
        self.state.library.fits.renew();
        if self.state.summary().is_some_and(|summary| summary.source == *model) {
            self.reset(String::new(), tr!("app-model-settings"));
        }
    }

    /// Handles what the worker says, and asks for what the place needs next.
    pub(super) fn follow_library(&mut self, ctx: &Context) {
        for _ in 0..EVENTS_A_FRAME {
            let Some(event) = self.library.try_recv() else { break };
            self.take_library_event(ctx, event);
        }
        self.follow_copies();
        self.search_at_start(ctx);
        self.use_waiting_settings();
        let (is_open, search) = (self.state.library.is_open, self.state.library.search);
        // Files come and go while another program is in front.
        let is_back =
            search != Search::Never && ctx.input(|input| input.events.contains(&Event::WindowFocused(true)));
        if (is_open || is_back) && !self.state.lanes.are_elsewhere() && is_due(ctx, search, ctx.time()) {
            self.search_models();
        }
        if !is_open {
            return;
        }
        ctx.request_repaint_after(AGAIN);
        for (path, side) in self.library_place.previews().next() {
            if !self.library.request(LibraryTask::Preview(path.clone(), side)) {
                self.library_place.previews().forget(path, side);
            }
        }
        if let Some(path) = self.library_place.wants_words(&self.state)
            && self.library.request(LibraryTask::TriggerWords(path.clone()))
        {
            self.state.library.trigger_words.insert(path, Vec::new());
        }
        self.follow_fits();
    }

    /// Asks which of these models gets an image as its preview.
    pub(super) fn ask_preview(&mut self, image: PathBuf, models: Vec<(PathBuf, bool)>) {
        if models.is_empty() {
            let message = tr!("library-preview-no-model", name = file_name(&image));
            return self.fail(&tr!("library-preview-failed"), message, None);
        }
        self.question = Some(Question::Preview(PreviewQuestion { image, models, chosen: 0 }));
    }

    /// A model has a new preview.
    pub(super) fn preview_saved(&mut self, model: &Path, path: &Path) {
        let told = Told::about(file_name(model), |name| tr!("library-preview-saved", name = name));
        match self.gallery.is_open {
            true => self.gallery.shelf.say(told),
            false => self.state.messages.say(told, vec![path.display().to_string()]),
        }
        // The list may be the same.
        self.library_place.previews().clear();
        if self.state.library.search != Search::Never {
            self.search_models();
        }
    }

    /// Has files hashed that look the same, while nothing is generated that needs the disk.
    fn follow_copies(&mut self) {
        self.copies.wait(self.state.jobs.running().is_some());
        while let Some((path, hash)) = self.copies.try_recv() {
            self.state.library.hashes.insert(path, hash);
        }
        let version = self.state.library.version;
        if self.state.lanes.are_elsewhere() || self.copies_asked == version {
            return;
        }
        let alike = self.state.library.alike_files();
        if self.copies.ask(alike) {
            self.copies_asked = version;
        }
    }

    fn follow_fits(&mut self) {
        // What models elsewhere consist of is not asked for.
        if self.describing || self.state.lanes.are_elsewhere() {
            return;
        }
        if let Some(source) = self.library_place.wants_parts(&self.state) {
            return self.describe(source);
        }
        match self.state.next_fit(&self.library_place.wanted(&self.state)) {
            NextFit::Describe(source) => self.describe(source),
            NextFit::Ask(id, request) => {
                let query = self.state.library.fits.ask(id, *request);
                self.send([Command::Plan(Box::new(query))]);
            }
            NextFit::Nothing => {}
        }
    }

    fn describe(&mut self, source: ModelSource) {
        let folders = self.part_folders();
        self.describing = self.library.request(LibraryTask::Describe(source, folders));
    }

    /// Where missing parts of models are looked up: in the folders that were named at the start, and among the encoders
    /// and autoencoders that were found, those with more bits first.
    fn part_folders(&self) -> Vec<PathBuf> {
        let items = self.state.library.inventory.items.iter();
        let mut parts: Vec<(&PathBuf, f64)> = items
            .filter_map(|item| Some((&item.path, item.content()?)))
            .filter(|(path, content)| content.kind == Kind::Part && path.extension().is_some())
            .map(|(path, content)| (path, content.bits()))
            .collect();
        parts.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(other.0)));
        let parts = parts.into_iter().take(PARTS).map(|(path, _)| path.clone());
        self.library_options.folders.iter().cloned().chain(parts).collect()
    }

    fn take_library_event(&mut self, ctx: &Context, event: LibraryEvent) {
        let State { library, settings, lanes, .. } = &mut self.state;
        match event {
            LibraryEvent::Folders(folders) => library.folders = folders,
            LibraryEvent::Progress(read, of) => library.search = Search::Running(Some((read, of))),
            LibraryEvent::Listed(inventory) => {
                // The files of this computer are not those of engines elsewhere.
                if library.list(inventory, ctx.time()) && !lanes.are_elsewhere() {
                    let files: Vec<&Path> =
                        library.inventory.items.iter().map(|item| item.path.as_path()).collect();
                    settings.library.follow(&files);
                    self.library_place.previews().clear();
                    let folders = self.part_folders();
                    self.send([Command::SearchIn { folders }]);
                    if self.state.planning.is_refused() {
                        self.state.planning.ask_again();
                    }
                }
            }
            LibraryEvent::Known(known) => library.set_known(known),
            LibraryEvent::Described(source, described) => {
                self.describing = false;
                if let Err(failure) = &described {
                    library.fits.set(EntryId::Source(source.clone()), failure.clone());
                }
                library.described.insert(source, described);
            }
            LibraryEvent::TriggerWords(path, words) => drop(library.trigger_words.insert(path, words)),
            LibraryEvent::Preview(path, side, image) => {
                self.library_place.previews().take(ctx, path, side, image);
            }
        }
    }
}
