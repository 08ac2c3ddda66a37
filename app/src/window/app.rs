//! The window as a whole: it takes events in, lays the parts out and carries wishes out.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use egui::{CentralPanel, Context, Frame, Key, KeyboardShortcut, Margin, Modifiers, Panel, Rect, Ui};
use sluice_engine::{request::ModelSource, session::Command};

use super::{
    action::Action,
    canvas::View,
    draft::{Draft, random_seed},
    files::{FileEvent, Files, Task, has_extension},
    link::EngineLink,
    persistence::{Preferences, Saved},
    picture_settings::PictureSettings,
    recent::file_name,
    side_panel::{self, PanelState},
    stage,
    state::{JobOptions, Notice, Shown, State},
    status_bar,
    textures::Textures,
    tokens::{self, Palette, size, space},
    top_bar::{self, TopBar},
};

/// Queues a job.
pub const GENERATE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter);

/// Events taken in before a frame is drawn; the rest waits for the next.
const EVENTS_A_FRAME: usize = 256;
const FILE_EVENTS_A_FRAME: usize = 8;
const RECENT_MODELS: usize = 8;

/// What the window needs from outside.
pub struct Setup {
    /// The engine.
    pub link: Box<dyn EngineLink>,
    /// The file worker.
    pub files: Files,
    /// What was kept when the window was closed last, if it was open before.
    pub saved: Option<Saved>,
    /// What was known before the window opened.
    pub preferences: Preferences,
    /// Which adapter draws the window.
    pub adapter: Option<String>,
    /// Where pictures go.
    pub folder: Option<PathBuf>,
    /// The model to begin with instead of the last one.
    pub model: Option<ModelSource>,
    /// Where seeds come from.
    pub new_seed: fn() -> u64,
}

impl Setup {
    /// A window that keeps nothing.
    pub fn new(link: Box<dyn EngineLink>, files: Files) -> Self {
        Self {
            link,
            files,
            saved: None,
            preferences: Preferences::default(),
            adapter: None,
            folder: None,
            model: None,
            new_seed: random_seed,
        }
    }
}

/// The window.
pub struct SluiceApp {
    state: State,
    link: Box<dyn EngineLink>,
    files: Files,
    saved: Saved,
    preferences: Preferences,
    adapter: Option<String>,
    folder: Option<PathBuf>,
    new_seed: fn() -> u64,
    panel: PanelState,
    typed_path: String,
    view: View,
    textures: Textures,
    canvas: Rect,
    reading: Option<PathBuf>,
    popup_was_open: bool,
}

impl SluiceApp {
    /// Opens the window's inside: asks for the model and the pictures made before.
    pub fn new(ctx: &Context, setup: Setup) -> Self {
        tokens::apply(ctx);
        let Setup { link, files, saved, preferences, adapter, folder, model, new_seed } = setup;
        let adopt_defaults = saved.is_none();
        let saved = saved.unwrap_or_default();
        ctx.set_theme(egui::ThemePreference::from(saved.theme));
        let model = model.unwrap_or_else(|| saved.model.clone());
        let mut draft = saved.draft.clone();
        if adopt_defaults {
            draft.seed = new_seed();
        }
        let mut app = Self {
            state: State::new(model.clone(), draft, adopt_defaults),
            link,
            files,
            saved,
            preferences,
            adapter,
            folder,
            new_seed,
            panel: PanelState::default(),
            typed_path: String::new(),
            view: View::default(),
            textures: Textures::default(),
            canvas: Rect::ZERO,
            reading: None,
            popup_was_open: false,
        };
        app.send(Command::Load { model });
        if let Some(folder) = app.folder.clone() {
            app.files.request(Task::Scan(folder));
        }
        app
    }

    /// What the window knows.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What would be kept if the window were closed now.
    pub fn to_save(&self) -> Saved {
        Saved { draft: self.state.draft.clone(), model: self.state.model.clone(), ..self.saved.clone() }
    }

    /// Takes in what has come from the engine and the file worker.
    pub fn take_events(&mut self, ctx: &Context) {
        let now = ctx.time();
        for taken in 0..=EVENTS_A_FRAME {
            if taken == EVENTS_A_FRAME {
                ctx.request_repaint();
                break;
            }
            match self.link.try_recv() {
                Some(event) => self.state.apply(event, now),
                None => break,
            }
        }
        for taken in 0..=FILE_EVENTS_A_FRAME {
            if taken == FILE_EVENTS_A_FRAME {
                ctx.request_repaint();
                break;
            }
            match self.files.try_recv() {
                Some(event) => self.take_file_event(event),
                None => break,
            }
        }
        if self.state.running().is_some() {
            // The time left counts down between steps.
            ctx.request_repaint_after(Duration::from_secs(1));
        }
        self.textures.prune(&self.state.recents, self.state.running().map(|(job, _)| job.id));
        if let Some((_, path)) = stage::missing_pixels(&self.state)
            && self.reading.as_ref() != Some(&path)
            && self.files.request(Task::Show(path.clone()))
        {
            self.reading = Some(path);
        }
    }

    /// Draws everything and carries out what was asked for.
    pub fn ui(&mut self, ui: &mut Ui) {
        let mut actions = self.keys(ui);
        self.take_drops(ui);
        self.layout(ui, &mut actions);
        self.popup_was_open = ui.ctx().any_popup_open();
        for action in actions {
            self.act(ui.ctx(), action);
        }
    }

    fn layout(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let palette = Palette::of(ui);
        let now = ui.ctx().time();
        let whole = ui.max_rect();
        let bar = |x: f32| Frame::new().fill(palette.panel).inner_margin(Margin::symmetric(x as i8, 0));
        Panel::top("top").exact_size(size::TOP_BAR).resizable(false).frame(bar(space::M)).show(ui, |ui| {
            let parts = TopBar {
                recent_models: &self.saved.recent_models,
                theme: self.saved.theme,
                previews: self.saved.previews,
                draw_with: self.preferences.draw_with,
                adapter: self.adapter.as_deref(),
                folder: self.folder.as_ref(),
                typed_path: &mut self.typed_path,
            };
            top_bar::show(ui, &self.state, parts, actions);
        });
        Panel::bottom("status")
            .exact_size(size::STATUS_BAR)
            .resizable(false)
            .frame(bar(space::L))
            .show(ui, |ui| status_bar::show(ui, &self.state, now));
        Panel::left("settings")
            .default_size(size::SIDE_PANEL)
            .size_range(280.0..=440.0)
            .frame(Frame::new().fill(palette.panel))
            .show(ui, |ui| side_panel::show(ui, &mut self.state, &mut self.panel, actions));
        CentralPanel::default().frame(Frame::new().fill(palette.canvas)).show(ui, |ui| {
            self.middle(ui, now, actions);
        });
        if ui.input(|input| !input.raw.hovered_files.is_empty()) {
            stage::drop_hint(ui, whole);
        }
    }

    fn middle(&mut self, ui: &mut Ui, now: f64, actions: &mut Vec<Action>) {
        let palette = Palette::of(ui);
        let frame = Frame::new().fill(palette.panel);
        if !self.state.recents.is_empty() || self.state.running().is_some() {
            let frame = frame.inner_margin(Margin::symmetric(space::M as i8, 0));
            let height = size::THUMBNAIL + 2.0 * space::M;
            Panel::bottom("recent").exact_size(height).resizable(false).frame(frame).show(ui, |ui| {
                stage::strip(ui, &self.state, &mut self.textures, actions);
            });
        }
        if self.state.shown != Shown::Nothing {
            let frame = frame.inner_margin(Margin::symmetric(space::M as i8, 0));
            Panel::bottom("toolbar").exact_size(size::TOOLBAR).resizable(false).frame(frame).show(ui, |ui| {
                let area = self.canvas;
                stage::toolbar(ui, &self.state, &mut self.view, area, now, actions);
            });
        }
        CentralPanel::default().frame(Frame::new().fill(palette.canvas)).show(ui, |ui| {
            self.canvas = ui.max_rect();
            stage::picture(ui, &self.state, &mut self.view, &mut self.textures, actions);
        });
    }

    fn keys(&self, ui: &Ui) -> Vec<Action> {
        let mut actions = Vec::new();
        let ctx = ui.ctx();
        if ctx.input_mut(|input| input.consume_shortcut(&GENERATE)) {
            actions.push(Action::Generate);
        }
        // Escape closes what is open before it ends what runs.
        if !self.popup_was_open && ctx.input(|input| input.key_pressed(Key::Escape)) {
            actions.push(Action::CancelRunning);
        }
        if ctx.memory(|memory| memory.focused().is_none())
            && let Shown::Recent(id) = self.state.shown
        {
            for (key, step) in [(Key::ArrowLeft, -1), (Key::ArrowRight, 1)] {
                if ctx.input(|input| input.key_pressed(key))
                    && let Some(next) = self.state.recents.neighbour(id, step)
                {
                    actions.push(Action::Show(Shown::Recent(next)));
                }
            }
        }
        actions
    }

    fn take_drops(&mut self, ui: &Ui) {
        let dropped = ui.input(|input| input.raw.dropped_files.clone());
        for file in dropped {
            let path = file.path().to_owned();
            if has_extension(&path, &["safetensors", "gguf"]) || path.is_dir() {
                self.choose_model(ModelSource::Path(path), true);
            } else {
                self.request(Task::Restore(path));
            }
        }
    }

    fn act(&mut self, ctx: &Context, action: Action) {
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

    fn choose_model(&mut self, model: ModelSource, adopt_defaults: bool) {
        if let ModelSource::Path(path) = &model {
            self.saved.recent_models.retain(|known| known != path);
            self.saved.recent_models.insert(0, path.clone());
            self.saved.recent_models.truncate(RECENT_MODELS);
        }
        let command = self.state.choose_model(model, adopt_defaults);
        self.send(command);
    }

    fn send(&mut self, command: Command) {
        if let Err(command) = self.link.send(command) {
            tracing::warn!(?command, "the engine does not take it");
            self.state.engine_gone();
        }
    }

    fn request(&mut self, task: Task) {
        if !self.files.request(task) {
            let advice = Some("Try again in a moment.".to_owned());
            self.state.fail("Too many files at once", "Other files are still being read.".to_owned(), advice);
        }
    }

    fn take_file_event(&mut self, event: FileEvent) {
        match event {
            FileEvent::Found { path, thumbnail, settings } => {
                self.state.recents.add_found(path, thumbnail, settings.map(|settings| settings.request));
            }
            FileEvent::Pixels { path, image } => {
                self.state.recents.loaded(&path, image);
                self.reading = None;
            }
            FileEvent::Restored { path, image, settings } => self.restored(path, image, *settings),
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
            FileEvent::DialogClosed => {}
        }
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

impl eframe::App for SluiceApp {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        self.take_events(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        Self::ui(self, ui);
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        self.to_save().store(storage);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
