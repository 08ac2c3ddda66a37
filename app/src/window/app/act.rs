//! Carries out what was asked for, and takes in what the file worker found.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use egui::Context;
use sluice_engine::{request::ModelSource, session::Command};

use super::SluiceApp;
use crate::window::{
    action::Action,
    adapters,
    draft::Draft,
    files::{FileEvent, Task},
    picture_settings::PictureSettings,
    planning::Ask,
    recent::file_name,
    source_picture::Dropped,
    stage,
    state::{JobOptions, Notice, Shown},
};

const RECENT_MODELS: usize = 8;

impl SluiceApp {
    pub(super) fn act(&mut self, ctx: &Context, action: Action) {
        match action {
            Action::Generate => {
                let options = JobOptions { folder: self.folder.clone(), previews: self.saved.previews };
                if let Some(command) = self.state.generate(&options, self.new_seed) {
                    self.send(command);
                }
            }
            Action::CancelRunning => {
                if let Some(command) = self.state.cancel_running() {
                    self.send(command);
                }
            }
            Action::Cancel(job) => {
                if let Some(command) = self.state.cancel(job) {
                    self.send(command);
                }
            }
            Action::CancelAll => {
                for command in self.state.cancel_all() {
                    self.send(command);
                }
            }
            Action::ChooseModel(model) => self.choose_model(model, true),
            Action::OpenDialog(dialog) => {
                let folder = self.saved.recent_models.first().and_then(|path| path.parent());
                if let Err(error) = self.files.open_dialog(dialog, folder.map(Path::to_owned)) {
                    self.state.fail("The dialog could not be opened", error.to_string(), None);
                }
            }
            Action::UsePrompt(prompt) => self.state.draft.prompt = prompt,
            Action::ListAdapters => self.request(Task::ListAdapters(self.state.model.clone())),
            Action::AddAdapter(path) => adapters::add(&mut self.state.draft, path),
            Action::NewSeed => self.state.draw_seed(self.new_seed),
            Action::Show(shown) => {
                if self.state.shown != shown {
                    self.view.fit();
                }
                self.state.show(shown);
            }
            Action::UseSettings(id) => {
                let recent = self.state.recents.get(id);
                if let Some((request, name)) =
                    recent.and_then(|recent| Some((recent.request.clone()?, recent.name())))
                {
                    self.state.restore(
                        Draft::from_request(&request),
                        format!("Settings of {name}"),
                        Vec::new(),
                    );
                    if request.model != self.state.model {
                        self.choose_model(request.model, false);
                    }
                }
            }
            Action::UseAsSource(path) => self.draw_over(path),
            Action::ClearSource => self.state.draft.source = None,
            Action::PaintMask => self.state.paint_mask(),
            Action::LeavePainting => self.state.painting = None,
            Action::UsePainting => {
                if let Some(painting) = self.state.painting.take() {
                    let name =
                        painting.picture.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                    let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir).join("masks");
                    self.request(Task::SaveMask { folder, name, mask: painting.image() });
                }
            }
            Action::UseDroppedSettings => {
                if let Some(Dropped { path, image, settings }) = self.state.dropped.take() {
                    self.restored(path, image, *settings);
                }
            }
            Action::DismissDropped => self.state.dropped = None,
            Action::CopyPicture(id) => {
                if let Some(image) = stage::pixels(&self.state, id) {
                    ctx.copy_image(egui::ColorImage::clone(&image));
                }
            }
            Action::CopyText(text) => ctx.copy_text(text),
            Action::OpenFolder(folder) => self.request(Task::Open(folder)),
            Action::SetTheme(theme) => {
                self.saved.theme = theme;
                ctx.set_theme(egui::ThemePreference::from(theme));
            }
            Action::SetPreviews(previews) => self.saved.previews = previews,
            Action::SetDrawWith(draw_with) => {
                self.preferences.draw_with = draw_with;
                self.request(Task::SavePreferences(self.preferences.clone()));
            }
            Action::SetMemory(preferences) => self.state.planning.preferences = *preferences,
            Action::SetPlanOpen(open) => self.saved.memory.plan_open = Some(open),
            Action::SetTimelineOpen(open) => self.saved.memory.timeline_open = open,
            Action::DismissReplanned => self.state.watches.replanned = None,
            Action::FinishEarlier => {
                for command in self.state.finish_earlier() {
                    self.send(command);
                }
            }
            Action::ForgetEarlier => {
                self.state.unfinished.clear();
                self.send(Command::Forget);
            }
            Action::DismissFailure => {
                self.state.failures.pop();
            }
            Action::DismissNotice => self.state.notice = None,
            Action::UndoRestore => {
                if let Some(Notice { undo: Some(draft), .. }) = self.state.notice.take() {
                    self.state.draft = *draft;
                }
            }
        }
    }

    pub(super) fn choose_model(&mut self, model: ModelSource, adopt_defaults: bool) {
        if let ModelSource::Path(path) = &model {
            self.saved.recent_models.retain(|known| known != path);
            self.saved.recent_models.insert(0, path.clone());
            self.saved.recent_models.truncate(RECENT_MODELS);
        }
        let command = self.state.choose_model(model, adopt_defaults);
        self.send(command);
    }

    /// Asks the engine what the settings would take, if they have changed and rest.
    pub(super) fn ask(&mut self, ctx: &Context) {
        match self.state.ask(ctx.time()) {
            Ask::Now(query) => self.send(Command::Plan(query)),
            Ask::Later(seconds) => ctx.request_repaint_after(Duration::from_secs_f64(seconds)),
            Ask::Nothing => {}
        }
    }

    pub(super) fn send(&mut self, command: Command) {
        if let Err(command) = self.link.send(command) {
            tracing::warn!(?command, "the engine does not take it");
            self.state.engine_gone();
        }
    }

    pub(super) fn request(&mut self, task: Task) {
        if !self.files.request(task) {
            let advice = Some("Try again in a moment.".to_owned());
            self.state.fail("Too many files at once", "Other files are still being read.".to_owned(), advice);
        }
    }

    pub(super) fn take_file_event(&mut self, event: FileEvent) {
        match event {
            FileEvent::Found { path, thumbnail, settings } => {
                self.state.recents.add_found(path, thumbnail, settings.map(|settings| settings.request));
            }
            FileEvent::Pixels { path, image } => {
                self.state.recents.loaded(&path, image);
                self.reading = None;
            }
            FileEvent::Dropped { path, image, settings: Some(settings) } => {
                self.state.notice = None;
                self.state.dropped = Some(Dropped { path, image, settings });
            }
            FileEvent::Dropped { path, settings: None, .. } | FileEvent::SourceChosen(path) => {
                self.draw_over(path);
            }
            FileEvent::Source { path, read } => {
                self.state.sources.take(&path, read.map_err(|failure| failure.message));
            }
            FileEvent::MaskChosen(path) => self.state.draft.draw_within(path),
            FileEvent::Gone { path, failure } => {
                self.state.recents.remove(&path);
                self.reading = None;
                self.state.shown = self.state.recents.newest().map_or(Shown::Nothing, Shown::Recent);
                self.state.fail("This picture cannot be shown", failure.message, failure.advice);
            }
            FileEvent::Failed { title, failure } => {
                self.state.fail(title, failure.message, failure.advice);
            }
            FileEvent::ModelChosen(path) => self.choose_model(ModelSource::Path(path), true),
            FileEvent::AdapterChosen(path) => adapters::add(&mut self.state.draft, path),
            FileEvent::Adapters(paths) => self.state.known_adapters = paths,
            FileEvent::DialogClosed => {}
        }
    }

    fn draw_over(&mut self, path: PathBuf) {
        self.state.dropped = None;
        let mut draft = self.state.draft.clone();
        let text = format!("{} is drawn over", file_name(&path));
        draft.draw_over(path);
        self.state.restore(draft, text, Vec::new());
    }

    fn restored(&mut self, path: PathBuf, image: egui::ColorImage, settings: PictureSettings) {
        let PictureSettings { request, model_name, model_known, mut notes } = settings;
        let text = format!("Settings from {}", file_name(&path));
        let draft = Draft::from_request(&request);
        let model = request.model.clone();
        if !model_known && !model_name.is_empty() {
            notes.push(format!("It was made with {model_name}. The open model is kept."));
        }
        let id = self.state.recents.add(Some(path), image, Some(request), None);
        self.view.fit();
        self.state.show(Shown::Recent(id));
        self.state.restore(draft, text, notes);
        if model_known && model != self.state.model {
            self.choose_model(model, false);
        }
    }
}
