//! The window as a whole: handles events, lays out the panels and executes actions.

mod act;
mod chosen;
mod engines;
mod enhancing;
mod gallery;
mod get;
mod kept;
mod language;
mod library;
mod making;
mod upscaling;

use std::{
    collections::VecDeque,
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use crossbeam_channel::Receiver;
use egui::{CentralPanel, Context, Event, Frame, Margin, Panel, Ui};
use sluice_engine::{
    request::ModelSource,
    session::{Command, Event as EngineEvent},
};

use super::{
    action::{Action, Making, UpscaleStep},
    browser::{self, Browser},
    collection::{ExportOptions, Places},
    commands::{Now, Open},
    drag_out::DragOut,
    files::{Files, Task, is_image_or_clip},
    gallery::{self as gallery_view, Around, Gallery},
    get::DownloadOptions,
    grid::GridDialog,
    help,
    library::{self as models_place, CopyFinder, LibraryOptions, LibraryPlace, LibraryWorker},
    link::{EngineLink, StartEngines},
    monitor::{self, Monitor},
    palette::CommandPalette,
    plan_panel::{self, PlanPanel},
    question::Question,
    settings::{Settings, StartupSettings},
    settings_page::{self, SettingsPage},
    shortcuts::{self, Sheet},
    side_panel::{self, SidePanel},
    state::{HeardPart, Lanes, Model, RecentId, State, Surroundings, Wanted},
    status_bar,
    textures::Textures,
    tokens::{self, Palette, size, space},
    top_bar::{self, TopBar},
    upscaling as upscaling_view,
    viewer::{self, Viewer},
};
use crate::{
    engines::{Card, EngineList},
    language::tr,
    seed::random_seed,
    sound::{Heard, Speaker},
};

use language::SystemFonts;

/// Maximum number of events handled per frame; the rest waits for the next one.
const EVENTS_A_FRAME: usize = 256;
const FILE_EVENTS_A_FRAME: usize = 8;
/// How soon commands are sent again that the engine had no room for.
const RETRY: Duration = Duration::from_millis(20);

/// The dependencies of the window.
pub struct Setup {
    /// The engine, or those of the startup settings.
    pub link: Box<dyn EngineLink>,
    /// Starts other engines. Without it there is one engine, which stays.
    pub start_engines: Option<StartEngines>,
    /// Says once which NVIDIA cards this computer has.
    pub cards: Option<Receiver<Vec<Card>>>,
    /// The file worker.
    pub files: Files,
    /// The settings saved by the previous session, if any.
    pub settings: Option<Settings>,
    /// The settings loaded before the window opened.
    pub startup: StartupSettings,
    /// Where those are saved.
    pub startup_file: Option<PathBuf>,
    /// The GPU that renders the window.
    pub gpu: Option<String>,
    /// Where images are saved.
    pub folder: Option<PathBuf>,
    /// The model to start with instead of the last one.
    pub model: Option<ModelSource>,
    /// Generates seeds.
    pub new_seed: fn() -> u64,
    /// Held while the window is open, by the first one. Another one does not save its settings.
    pub lock: Lock,
    /// Plays the sound of clips.
    pub speaker: Option<Speaker>,
    /// Says something on the desktop.
    pub notify: Box<dyn Fn(String)>,
    /// Shows the progress of the running job at the program's icon, or takes it away.
    pub show_progress: Box<dyn FnMut(Option<f64>)>,
    /// Where models are searched for.
    pub library: LibraryOptions,
    /// How models are downloaded; `None` if they are not.
    pub downloads: Option<DownloadOptions>,
    /// Where the gallery keeps what it knows.
    pub places: Places,
    /// The locales that the user prefers, the first one most.
    pub locales: Vec<String>,
    /// Whether characters that the window's fonts lack are drawn with fonts of the system.
    pub system_fonts: bool,
    /// Says whether the system asks for less motion.
    pub reduced_motion: Option<Receiver<bool>>,
    /// Whether files can be dragged out of the window.
    pub drags_out: bool,
}

/// Whether this is the only window.
#[derive(Debug)]
pub enum Lock {
    /// It is, as long as the file is locked. Without a folder for data there is no file.
    First(Option<File>),
    /// Another one is open.
    Taken,
}

impl Lock {
    /// Locks a file in a folder.
    pub fn of(data: Option<&Path>) -> Self {
        let Some(data) = data else { return Self::First(None) };
        let file = fs::create_dir_all(data).and_then(|()| File::create(data.join("window.lock")));
        match file.map(|file| (file.try_lock(), file)) {
            Ok((Ok(()), file)) => Self::First(Some(file)),
            Ok((Err(TryLockError::WouldBlock), _)) => Self::Taken,
            Ok((Err(TryLockError::Error(error)), _)) | Err(error) => {
                tracing::warn!(%error, "it is not known whether another window is open");
                Self::First(None)
            }
        }
    }
}

impl Setup {
    /// A setup without saved settings.
    pub fn new(link: Box<dyn EngineLink>, files: Files) -> Self {
        Self {
            link,
            start_engines: None,
            cards: None,
            files,
            settings: None,
            startup: StartupSettings::default(),
            startup_file: None,
            gpu: None,
            folder: None,
            model: None,
            new_seed: random_seed,
            lock: Lock::First(None),
            speaker: None,
            notify: Box::new(|_| ()),
            show_progress: Box::new(|_| ()),
            library: LibraryOptions::default(),
            downloads: None,
            places: Places::default(),
            locales: Vec::new(),
            system_fonts: false,
            reduced_motion: None,
            drags_out: false,
        }
    }
}

/// The window.
pub struct SluiceApp {
    state: State,
    link: Box<dyn EngineLink>,
    engine_change: engines::EngineChange,
    /// The engines that run.
    engines_in_use: EngineList,
    startup_file: Option<PathBuf>,
    cards: Option<Receiver<Vec<Card>>>,
    reduced_motion: Option<Receiver<bool>>,
    files: Files,
    new_seed: fn() -> u64,
    top_bar: TopBar,
    side_panel: SidePanel,
    plan: PlanPanel,
    monitor: Monitor,
    viewer: Viewer,
    textures: Textures,
    /// The finished image whose file is being reloaded.
    reading: Option<PathBuf>,
    shows_help: bool,
    /// The settings, while they are open.
    settings_page: Option<SettingsPage>,
    /// Text for the clipboard, which takes it in the next frame.
    copied: Option<String>,
    grid: GridDialog,
    question: Option<Question>,
    palette: CommandPalette,
    /// The title of the window.
    title: String,
    /// Whether the queue had jobs in the last frame.
    was_busy: bool,
    notify: Box<dyn Fn(String)>,
    show_progress: Box<dyn FnMut(Option<f64>)>,
    /// The window's own file dialog.
    browser: Option<Browser>,
    /// Images of the last drop that are not used.
    left_out: usize,
    /// Held by the first window, which is the one that saves its settings.
    lock: Lock,
    /// Commands that the engine has no room for yet.
    unsent: VecDeque<Command>,
    /// What Escape closes before it cancels a job, as of the last frame.
    escape: shortcuts::Escape,
    speaker: Option<Speaker>,
    /// The clip and the part of it that the speaker plays.
    heard: Option<(RecentId, HeardPart)>,
    library: LibraryWorker,
    copies: CopyFinder,
    /// The version of the list of models whose copies were asked for.
    copies_asked: u64,
    library_options: LibraryOptions,
    library_place: LibraryPlace,
    /// Whether the parts of a model are being found.
    describing: bool,
    /// Downloads of models, if there are any.
    getting: Option<get::Getting>,
    gallery: Gallery,
    drag_out: DragOut,
    places: Places,
    system_fonts: SystemFonts,
    /// How images were exported last.
    export_options: Option<ExportOptions>,
}

impl SluiceApp {
    /// Creates the app, and requests the model and the images in the folder.
    pub fn new(ctx: &Context, setup: Setup) -> Self {
        tokens::apply(ctx);
        let Setup {
            link,
            start_engines,
            cards,
            files,
            settings,
            startup,
            startup_file,
            gpu,
            folder,
            model,
            new_seed,
            lock,
            speaker,
            notify,
            show_progress,
            library,
            downloads,
            places,
            locales,
            system_fonts,
            reduced_motion,
            drags_out,
        } = setup;
        let repaint = ctx.clone();
        let worker = LibraryWorker::start(library.clone(), Arc::new(move || repaint.request_repaint()));
        let repaint = ctx.clone();
        let hashes = library.cache.as_ref().map(|cache| cache.with_extension("hashes"));
        let copies = CopyFinder::start(hashes, Arc::new(move || repaint.request_repaint()));
        let adopt_defaults = settings.is_none();
        let mut settings = Settings { startup, ..settings.unwrap_or_default() };
        ctx.set_theme(egui::ThemePreference::from(settings.theme));
        ctx.set_zoom_factor(settings.scale);
        tokens::reduce_motion(ctx, settings.reduced_motion.unwrap_or_default());
        let request = &mut settings.draft.request;
        request.model = model.unwrap_or_else(|| request.model.clone());
        if adopt_defaults {
            request.seed = new_seed();
        }
        let getting = get::Getting::start(ctx, downloads, &settings.library.downloads);
        let load = Command::Load { model: request.model.clone() };
        let engines_in_use = settings.startup.engines.clone();
        let names = match &start_engines {
            Some(_) => engines_in_use.used().into_iter().map(|used| used.name).collect(),
            None => Vec::new(),
        };
        let mut app = Self {
            state: State {
                settings,
                model: Model::loading(adopt_defaults),
                surroundings: Surroundings {
                    output_folder: folder,
                    gpu,
                    locales,
                    drags_out,
                    reduces_motion: false,
                    cards: Vec::new(),
                },
                ..State::default()
            },
            link,
            engine_change: engines::EngineChange::with(start_engines),
            engines_in_use,
            startup_file,
            cards,
            reduced_motion,
            files,
            new_seed,
            top_bar: TopBar::default(),
            side_panel: SidePanel::default(),
            plan: PlanPanel::default(),
            monitor: Monitor::default(),
            viewer: Viewer::default(),
            textures: Textures::default(),
            reading: None,
            shows_help: false,
            settings_page: None,
            copied: None,
            grid: GridDialog::default(),
            question: None,
            palette: CommandPalette::default(),
            title: "Sluice".to_owned(),
            was_busy: false,
            notify,
            show_progress,
            browser: None,
            left_out: 0,
            lock,
            unsent: VecDeque::new(),
            escape: shortcuts::Escape::default(),
            speaker,
            heard: None,
            library: worker,
            copies,
            copies_asked: 0,
            library_options: library,
            library_place: LibraryPlace::default(),
            describing: false,
            getting,
            gallery: Gallery::default(),
            drag_out: DragOut::default(),
            places,
            system_fonts: SystemFonts::new(system_fonts),
            export_options: None,
        };
        app.state.use_lanes(Lanes::of(names));
        app.state.jobs.unfinished = std::mem::take(&mut app.state.settings.edited);
        app.choose_language(ctx);
        if matches!(app.lock, Lock::Taken) {
            let details = vec![tr!("app-already-open-details")];
            app.state.messages.say(tr!("app-already-open"), details);
        }
        app.send([load]);
        if let Some(folder) = app.state.surroundings.output_folder.clone() {
            app.files.request(Task::Scan(folder));
        }
        app.search_at_start();
        app.state.downloads.is_there = app.getting.is_some();
        app.follow_folder();
        app.look_for_updates_at_start();
        app.list_kept();
        app.read_groups();
        app.read_marks(ctx);
        app
    }

    /// The state of the window.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The gallery.
    pub fn gallery(&self) -> &Gallery {
        &self.gallery
    }

    /// The files that the pointer carries.
    pub fn carried(&self) -> &[PathBuf] {
        self.drag_out.files()
    }

    /// Handles events of the engine and the file worker.
    pub fn take_events(&mut self, ctx: &Context) {
        let now = ctx.time();
        for taken in 0..=EVENTS_A_FRAME {
            if taken == EVENTS_A_FRAME {
                ctx.request_repaint();
                break;
            }
            match self.link.try_recv() {
                Some(event) => {
                    let is_new = matches!(event, EngineEvent::Finished { .. });
                    self.state.apply(event, now);
                    if is_new && self.gallery.is_open {
                        self.list_gallery();
                    }
                }
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
        if let Some(reduces) = self.reduced_motion.as_ref().and_then(|said| said.try_iter().last()) {
            self.state.surroundings.reduces_motion = reduces;
            tokens::reduce_motion(ctx, self.state.reduces_motion());
        }
        self.follow_engines(ctx);
        let following = self.state.jobs.take_following();
        self.send(following);
        if let Some(again) = self.state.jobs.repeat(self.new_seed) {
            self.send([again]);
        }
        let groups_wait = self.follow_groups();
        let texts_wait = self.save_texts();
        self.take_reports(ctx);
        if self.send_waiting() || groups_wait || texts_wait {
            ctx.request_repaint_after(RETRY);
        }
        if self.state.jobs.running().is_some() {
            // The remaining time counts down between steps.
            ctx.request_repaint_after(Duration::from_secs(1));
        }
        self.follow_library(ctx);
        self.follow_downloads();
        self.state.follow_clip(now);
        self.textures.prune(&self.state);
        self.read_files();
    }

    /// Requests the pixels of displayed files that are not loaded yet.
    fn read_files(&mut self) {
        let State { settings, input, .. } = &mut self.state;
        let source = settings.draft.request.source.as_ref();
        input.end_painting_of_another(source);
        match input.files.wanted(&settings.draft.request) {
            Some(Wanted::File(path)) => self.request(Task::Input(path)),
            Some(Wanted::Map(net, size)) => self.request(Task::Map(net, size)),
            None => {}
        }
        let images = &self.state.images;
        let hovered = self.viewer.hovered_clip().and_then(|id| images.recents.get(id));
        let mut wanted = images.drawn().chain(hovered);
        let missing = wanted.find(|recent| recent.pixels.is_none());
        if let Some(path) = missing.and_then(|recent| recent.path.clone())
            && self.reading.as_ref() != Some(&path)
            && self.files.request(Task::Show(path.clone()))
        {
            self.reading = Some(path);
        }
    }

    /// Draws the window and executes the collected actions.
    pub fn ui(&mut self, ui: &mut Ui) {
        self.follow_language(ui.ctx());
        self.drag_out.follow(ui.ctx());
        let mut by_keys = Vec::new();
        let now = Now { state: &self.state, open: self.open(ui.max_rect().width()) };
        shortcuts::pressed(ui, &now, self.escape, &mut by_keys);
        self.take_drops(ui);
        self.take_pasted(ui);
        // Other programs may have changed files meanwhile.
        let is_back = ui.input(|input| input.events.contains(&Event::WindowFocused(true)));
        if is_back && self.gallery.is_open {
            self.list_gallery();
        }
        let mut actions = Vec::new();
        self.layout(ui, &mut actions);
        self.drag_out.show(ui.ctx());
        // Text typed in this frame applies before the shortcut that submits it.
        match self.grid.grid().filter(|_| self.grid.is_open) {
            _ if self.state.upscaling.is_some() => {
                let of_files = |action| match action {
                    Action::Generate => UpscaleStep::Start.into(),
                    action => action,
                };
                actions.extend(by_keys.into_iter().map(of_files));
            }
            Some(grid) => {
                let of_grid = |action| match action {
                    Action::Generate => Making::Grid(Box::new(grid.clone())).into(),
                    action => action,
                };
                actions.extend(by_keys.into_iter().map(of_grid));
            }
            None => actions.append(&mut by_keys),
        }
        let sheet = if self.settings_page.is_some() { Some(Sheet::Settings) } else { None };
        let sheet = if self.shows_help { Some(Sheet::Help) } else { sheet };
        self.escape = shortcuts::Escape::of(ui.ctx(), self.browser.is_some(), sheet, self.gallery.is_open);
        self.escape.grid = self.grid.is_open;
        self.escape.question = self.question.is_some();
        self.escape.upscaling = self.state.upscaling.is_some();
        self.escape.library = self.state.library.is_open.then(|| self.library_place.escape_closes());
        if !actions.is_empty() {
            ui.ctx().request_repaint();
        }
        for action in actions {
            self.act(ui.ctx(), action);
        }
        if let Some(text) = self.copied.take() {
            ui.ctx().copy_text(text);
        }
        // It can be changed with keys, too.
        self.state.settings.scale = ui.ctx().zoom_factor();
        self.say_in_title(ui.ctx());
        self.call(ui.ctx());
        self.play_sound(ui.ctx().time());
        self.ask(ui.ctx());
        self.ask_about_upscaling(ui.ctx());
        self.ask_about_enhancing(ui.ctx());
    }

    fn layout(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let palette = Palette::of(ui);
        let now = ui.ctx().time();
        let whole = ui.max_rect();
        let open = self.open(whole.width());
        let Self { state, gallery, .. } = self;
        let window = Now { state, open };
        let bar = |x: f32| Frame::new().fill(palette.panel).inner_margin(Margin::symmetric(x as i8, 0));
        Panel::top("top")
            .exact_size(size::TOP_BAR)
            .resizable(false)
            .frame(bar(space::M))
            .show(ui, |ui| top_bar::show(ui, &window, &mut self.top_bar, actions));
        Panel::bottom("status")
            .exact_size(size::STATUS_BAR)
            .resizable(false)
            .frame(bar(space::L))
            .show(ui, |ui| status_bar::show(ui, state, now));
        if state.library.is_open {
            CentralPanel::default()
                .frame(Frame::new())
                .show(ui, |ui| models_place::show(ui, state, &mut self.library_place, actions));
        } else if open.gallery {
            let around = Around {
                output: state.surroundings.output_folder.as_ref(),
                others: &state.settings.gallery_folders,
                failure: state.messages.failures.last(),
                has_collections: state
                    .settings
                    .collections_open
                    .unwrap_or(whole.width() >= size::COLLECTIONS_FROM),
            };
            gallery_view::show(ui, gallery, around, actions);
        } else {
            self.panels(ui, open, actions);
        }
        if let Some(browser) = &mut self.browser {
            browser::show(ui.ctx(), browser, actions);
        } else if let Some(upscaling) = &self.state.upscaling {
            upscaling_view::show(ui.ctx(), &self.state, upscaling, actions);
        } else if let Some(question) = &mut self.question {
            question.show(ui.ctx(), actions);
        } else if self.grid.is_open {
            self.grid.show(ui.ctx(), &self.state, actions);
        } else if self.shows_help {
            help::show(ui.ctx(), actions);
        } else if let Some(page) = &mut self.settings_page {
            settings_page::show(ui.ctx(), &self.state, page, actions);
        }
        let now = Now { state: &self.state, open };
        self.palette.show(ui.ctx(), &now, actions);
        if ui.input(|input| !input.raw.hovered_files.is_empty()) && !self.drag_out.is_of_system() {
            viewer::drop_hint(ui, whole);
        }
    }

    /// What is open in a window of this width.
    fn open(&self, width: f32) -> Open {
        Open {
            gallery: self.gallery.is_open,
            plan: self.state.settings.memory.plan_open.unwrap_or(width >= size::WIDE_WINDOW),
            help: self.shows_help,
            settings: self.settings_page.is_some(),
            palette: self.palette.is_open,
        }
    }

    /// The panels around the image, and the image.
    fn panels(&mut self, ui: &mut Ui, open: Open, actions: &mut Vec<Action>) {
        let Self { state, textures, .. } = self;
        let (now, whole) = (ui.ctx().time(), ui.ctx().content_rect());
        let palette = Palette::of(ui);
        let panel = Frame::new().fill(palette.panel);
        Panel::left("settings")
            .default_size(size::SIDE_PANEL)
            .size_range(280.0..=440.0)
            .frame(panel)
            .show(ui, |ui| side_panel::show(ui, state, &mut self.side_panel, textures, actions));
        if open.plan {
            let most = (whole.width() * 0.3).clamp(300.0, 460.0);
            // The width that a narrow window leaves is not that of a wide one.
            Panel::right(if most < size::PLAN_PANEL { "narrow plan" } else { "plan" })
                .default_size(size::PLAN_PANEL)
                .size_range(300.0..=most)
                .frame(panel)
                .show(ui, |ui| plan_panel::show(ui, state, &mut self.plan, actions));
        }
        // Only below the image: Generate stays in place, and the image keeps most of the space.
        if state.settings.memory.timeline_open {
            let timeline = match state.watches.run {
                Some(_) => Panel::bottom("timeline")
                    .default_size((whole.height() * size::TIMELINE).round())
                    .size_range(150.0..=whole.height() * 0.45),
                None => Panel::bottom("empty timeline").exact_size(size::EMPTY_TIMELINE).resizable(false),
            };
            timeline.frame(panel).show(ui, |ui| monitor::show(ui, state, &mut self.monitor, actions));
        }
        CentralPanel::default()
            .frame(Frame::new().fill(palette.canvas))
            .show(ui, |ui| viewer::show(ui, &Now { state, open }, &mut self.viewer, textures, now, actions));
    }

    /// Lets the sound follow the player.
    fn play_sound(&mut self, now: f64) {
        let Some(speaker) = &self.speaker else { return };
        // The gallery hides the clip.
        let heard = if self.gallery.is_open { None } else { self.state.heard() };
        let key = heard.as_ref().map(|(id, _, part)| (*id, *part));
        if key == self.heard {
            return;
        }
        let heard = heard.map(|(_, clip, part)| Heard {
            clip: Arc::clone(clip),
            part: part.start..part.end,
            from: part.at(now),
        });
        if speaker.play(heard) {
            self.heard = key;
        }
    }

    /// An image on the clipboard is used as a dropped one is. egui offers it only if there is no text.
    fn take_pasted(&mut self, ui: &Ui) {
        let pasted = ui.input(|input| {
            input.events.iter().find_map(|event| match event {
                Event::PasteImage(image) => Some(Arc::clone(image)),
                _ => None,
            })
        });
        if let Some(image) = pasted {
            let folder = self.output_folder().join("pasted");
            self.request(Task::SavePasted { folder, image });
        }
    }

    fn take_drops(&mut self, ui: &Ui) {
        // What was dragged out of the window and came back is not used.
        if self.drag_out.is_of_system() {
            return;
        }
        let dropped = ui.input(|input| input.raw.dropped_files.clone());
        self.take_files(dropped.iter().map(|file| file.path()));
    }

    /// Takes files as if they were dropped: of several images, the first is used.
    pub fn take_files<'a>(&mut self, files: impl IntoIterator<Item = &'a Path>) {
        let mut images = 0_usize;
        for file in files {
            images += usize::from(is_image_or_clip(file));
            if images <= 1 || !is_image_or_clip(file) {
                self.request(Task::Take(file.to_owned()));
            }
        }
        if images > 0 {
            self.left_out = images - 1;
        }
    }
}

impl eframe::App for SluiceApp {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        self.take_events(ctx);
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        Self::ui(self, ui);
        self.drag_out.go_on(ui.ctx(), frame);
    }

    fn raw_input_hook(&mut self, ctx: &Context, raw_input: &mut egui::RawInput) {
        self.drag_out.release(raw_input, ctx);
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        if !matches!(self.lock, Lock::Taken) {
            self.state.settings.edited = self.state.jobs.to_keep();
            self.state.settings.store(storage);
        }
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}
