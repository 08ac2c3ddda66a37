//! The window as a whole: handles events, lays out the panels and executes actions.

mod act;
mod chosen;
mod cuda;
mod desktop;
mod dialogs;
mod dropped;
mod engines;
mod enhancing;
mod events;
mod file_events;
mod file_settings;
mod gallery;
mod get;
mod kept;
mod language;
mod layout;
mod library;
mod making;
mod setup;
mod to_engine;
mod upscaling;
mod watching;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    num::NonZeroUsize,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use crossbeam_channel::Receiver;
use egui::{ColorImage, Context, Event, LayerId, Ui, Vec2};
use sluice_engine::session::Command;

use super::{
    action::{Action, Making, UpscaleStep},
    blink::Blink,
    browser::Browser,
    collection::{ExportOptions, Places},
    commands::Now,
    drag_out::DragOut,
    files::{Files, Task},
    focus::FocusRing,
    gallery::Gallery,
    grid::GridDialog,
    library::{CopyFinder, LibraryOptions, LibraryPlace, LibraryWorker},
    link::EngineLink,
    monitor::Monitor,
    palette::CommandPalette,
    plan_panel::PlanPanel,
    question::Question,
    settings::Settings,
    settings_page::SettingsPage,
    shortcuts::{self, Sheet},
    side_panel::SidePanel,
    state::{HeardPart, Lanes, Model, RecentId, State, Surroundings},
    textures::Textures,
    tokens,
    top_bar::TopBar,
    viewer::Viewer,
};
use crate::{
    engines::{Card, EngineList},
    language::tr,
    sound::{Heard, Speaker},
};

pub use cuda::CudaOptions;
use language::FontsInUse;
pub use setup::{Lock, Setup};

/// How soon commands are sent again that the engine had no room for.
const RETRY: Duration = Duration::from_millis(20);

/// How often a frame is laid out at most.
const PASSES: NonZeroUsize = NonZeroUsize::new(4).expect("it is not zero");

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
    /// Text or an image for the clipboard, which takes it in the next frame.
    copied: Option<String>,
    copied_image: Option<ColorImage>,
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
    focus: FocusRing,
    blink: Blink,
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
    /// Whether the folders for models are still to be searched for the first time.
    searches_at_start: bool,
    /// Settings of a file that wait for the list of models.
    waiting_settings: Vec<file_settings::WaitingSettings>,
    /// The sizes of the lists, tooltips and dialogs that are open, and those that were in the frame before.
    areas: HashMap<LayerId, Vec2>,
    known_areas: HashSet<LayerId>,
    /// Whether the window is drawn on the colour of panels, and not on that of the canvas.
    panels_are_ground: bool,
    /// What installs the engine for NVIDIA GPUs.
    cuda: cuda::CudaInstalling,
    /// Downloads of models, if there are any.
    getting: Option<get::Getting>,
    gallery: Gallery,
    drag_out: DragOut,
    places: Places,
    watching: watching::Watching,
    system_fonts: FontsInUse,
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
            is_drawn_by_cpu,
            folder,
            model,
            new_seed,
            lock,
            speaker,
            notify,
            show_progress,
            library,
            downloads,
            cuda,
            places,
            watches_folders,
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
        // At once: what is set the usual way is in force from the second frame on.
        ctx.options_mut(|options| options.zoom_factor = settings.scale);
        // What opens is measured in passes that are not drawn, until it has its size.
        ctx.options_mut(|options| options.max_passes = PASSES);
        if is_drawn_by_cpu {
            tokens::draw_plainly(ctx);
        }
        // Sizes of panels are kept from the last time, and lists begin at their tops.
        ctx.data_mut(|data| data.remove_by_type::<egui::scroll_area::State>());
        let request = &mut settings.draft.request;
        request.model = model.unwrap_or_else(|| request.model.clone());
        if adopt_defaults {
            request.seed = new_seed();
        }
        let getting = get::Getting::start(ctx, downloads, &settings.library.downloads, &lock);
        let load = Command::Load { model: request.model.clone() };
        let cuda = cuda::CudaInstalling::with(ctx, cuda);
        let engines_in_use = settings.startup.engines.clone();
        let lanes = start_engines.as_ref().map_or_else(Lanes::default, |_| Lanes::of(&engines_in_use.used()));
        let mut app = Self {
            state: State {
                settings,
                model: Model::loading(adopt_defaults),
                surroundings: Surroundings {
                    output_folder: folder,
                    gpu,
                    locales,
                    drags_out,
                    is_drawn_by_cpu,
                    reduces_motion: false,
                    cards: Vec::new(),
                },
                cuda: cuda.state(),
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
            copied_image: None,
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
            focus: FocusRing::default(),
            blink: Blink::default(),
            speaker,
            heard: None,
            library: worker,
            copies,
            copies_asked: 0,
            library_options: library,
            library_place: LibraryPlace::default(),
            describing: false,
            searches_at_start: true,
            waiting_settings: Vec::new(),
            areas: HashMap::new(),
            known_areas: HashSet::new(),
            panels_are_ground: true,
            cuda,
            getting,
            gallery: Gallery::default(),
            drag_out: DragOut::default(),
            places,
            watching: watching::Watching::new(watches_folders),
            system_fonts: FontsInUse::new(system_fonts),
            export_options: None,
        };
        tokens::reduce_motion(ctx, app.state.appears_at_once());
        app.state.use_lanes(lanes);
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

    /// Draws the window and executes the collected actions.
    pub fn ui(&mut self, ui: &mut Ui) {
        self.follow_language(ui.ctx());
        self.drag_out.follow(ui.ctx());
        self.focus.reveal(ui);
        self.blink.follow(ui.ctx());
        let mut by_keys = Vec::new();
        self.palette.take_typed_ahead(ui.ctx());
        let now = Now { state: &self.state, open: self.open(ui.max_rect().width()) };
        shortcuts::pressed(ui, &now, self.escape, &mut by_keys);
        self.take_drops(ui);
        self.take_pasted(ui);
        // Other programs may have changed files meanwhile.
        let is_back = ui.input(|input| input.events.contains(&Event::WindowFocused(true)));
        if is_back && self.gallery.is_open {
            self.list_gallery();
        } else if is_back {
            self.look_for_files();
        }
        let mut actions = Vec::new();
        self.layout(ui, &mut actions);
        self.drag_out.show(ui.ctx());
        self.focus.show(ui);
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
        let before = self.places(ui.max_rect().width());
        for action in actions {
            self.act(ui.ctx(), action);
        }
        if self.places(ui.max_rect().width()) != before {
            ui.ctx().request_discard("other places are open");
        }
        self.measure_what_is_new(ui.ctx());
        if let Some(text) = self.copied.take() {
            ui.ctx().copy_text(text);
        }
        if let Some(image) = self.copied_image.take() {
            ui.ctx().copy_image(image);
        }
        // It can be changed with keys, too.
        self.state.settings.scale = ui.ctx().zoom_factor();
        self.say_in_title(ui.ctx());
        self.call(ui.ctx());
        self.play_sound(ui.ctx().time());
        self.ask(ui.ctx());
        self.look_for_results();
        self.ask_about_upscaling(ui.ctx());
        self.ask_about_folder(ui.ctx());
        self.ask_about_enhancing(ui.ctx());
        self.ask_about_tools();
    }

    /// Lists, tooltips and dialogs that open are measured until they have their size, in passes that are not seen.
    fn measure_what_is_new(&mut self, ctx: &Context) {
        if ctx.current_pass_index() == 0 {
            self.known_areas = self.areas.keys().copied().collect();
        }
        let areas: HashMap<LayerId, Vec2> = ctx.memory(|memory| {
            let layers = memory.areas().visible_layer_ids();
            let size = |layer: LayerId| Some((layer, memory.area_rect(layer.id)?.size()));
            layers.into_iter().filter_map(size).collect()
        });
        let is_new = |(layer, size): (&LayerId, &Vec2)| {
            !self.known_areas.contains(layer) && self.areas.get(layer) != Some(size)
        };
        if areas.iter().any(is_new) {
            ctx.request_discard("what is new was only measured");
        }
        self.areas = areas;
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
        self.ground(visuals.dark_mode).to_normalized_gamma_f32()
    }
}
