//! The window as a whole: it takes events in, lays the parts out and carries wishes out.

mod act;

use std::{path::PathBuf, time::Duration};

use egui::{CentralPanel, Context, Event, Frame, Key, KeyboardShortcut, Margin, Modifiers, Panel, Rect, Ui};
use sluice_engine::{request::ModelSource, session::Command};

use super::{
    action::Action,
    canvas::View,
    files::{Files, Task},
    filmstrip,
    link::EngineLink,
    mask_painting,
    monitor::{self, Monitor},
    persistence::{MemorySettings, Preferences, Saved},
    plan_panel::{self, PlanPanel},
    planning::Planning,
    side_panel::{self, PanelState},
    stage,
    state::{Shown, State},
    status_bar,
    textures::Textures,
    tokens::{self, Palette, size, space},
    top_bar::{self, Open, TopBar},
};
use crate::seed::random_seed;

/// Queues a job.
pub const GENERATE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Enter);

/// Events taken in before a frame is drawn; the rest waits for the next.
const EVENTS_A_FRAME: usize = 256;
const FILE_EVENTS_A_FRAME: usize = 8;

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
    /// Which graphics card draws the window.
    pub gpu: Option<String>,
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
            gpu: None,
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
    gpu: Option<String>,
    folder: Option<PathBuf>,
    new_seed: fn() -> u64,
    panel: PanelState,
    plan: PlanPanel,
    monitor: Monitor,
    typed_path: String,
    view: View,
    painting_view: View,
    textures: Textures,
    canvas: Rect,
    reading: Option<PathBuf>,
    popup_was_open: bool,
}

impl SluiceApp {
    /// Opens the window's inside: asks for the model and the pictures made before.
    pub fn new(ctx: &Context, setup: Setup) -> Self {
        tokens::apply(ctx);
        let Setup { link, files, saved, preferences, gpu, folder, model, new_seed } = setup;
        let adopt_defaults = saved.is_none();
        let saved = saved.unwrap_or_default();
        ctx.set_theme(egui::ThemePreference::from(saved.theme));
        let model = model.unwrap_or_else(|| saved.model.clone());
        let mut draft = saved.draft.clone();
        if adopt_defaults {
            draft.seed = new_seed();
        }
        let planning = Planning::new(saved.memory.preferences.clone());
        let mut app = Self {
            state: State::new(model.clone(), draft, adopt_defaults, planning),
            link,
            files,
            saved,
            preferences,
            gpu,
            folder,
            new_seed,
            panel: PanelState::default(),
            plan: PlanPanel::default(),
            monitor: Monitor::default(),
            typed_path: String::new(),
            view: View::default(),
            painting_view: View::default(),
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
        Saved {
            draft: self.state.draft.clone(),
            model: self.state.model.clone(),
            memory: MemorySettings {
                preferences: self.state.planning.preferences.clone(),
                ..self.saved.memory
            },
            ..self.saved.clone()
        }
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
        self.textures.prune(&self.state);
        if let Some(path) = self.state.sources.wanted(&self.state.draft) {
            self.request(Task::Source(path));
        }
        self.state.leave_painting_of_another();
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
        self.ask(ui.ctx());
    }

    fn layout(&mut self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let palette = Palette::of(ui);
        let now = ui.ctx().time();
        let whole = ui.max_rect();
        let open = Open {
            plan: self.saved.memory.plan_open.unwrap_or(whole.width() >= size::WIDE_WINDOW),
            timeline: self.saved.memory.timeline_open,
        };
        let bar = |x: f32| Frame::new().fill(palette.panel).inner_margin(Margin::symmetric(x as i8, 0));
        Panel::top("top").exact_size(size::TOP_BAR).resizable(false).frame(bar(space::M)).show(ui, |ui| {
            let parts = TopBar {
                recent_models: &self.saved.recent_models,
                theme: self.saved.theme,
                previews: self.saved.previews,
                draw_with: self.preferences.draw_with,
                gpu: self.gpu.as_deref(),
                folder: self.folder.as_ref(),
                typed_path: &mut self.typed_path,
                open,
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
            .show(ui, |ui| {
                side_panel::show(ui, &mut self.state, &mut self.panel, &mut self.textures, actions);
            });
        if open.plan {
            Panel::right("plan")
                .default_size(size::PLAN_PANEL)
                .size_range(300.0..=(whole.width() * 0.3).clamp(300.0, 460.0))
                .frame(Frame::new().fill(palette.panel))
                .show(ui, |ui| plan_panel::show(ui, &self.state, &mut self.plan, actions));
        }
        // Below the picture alone: Generate stays where it is, and the picture stays the larger one.
        if open.timeline {
            let panel = match self.state.watches.run {
                Some(_) => Panel::bottom("timeline")
                    .default_size((whole.height() * size::TIMELINE).round())
                    .size_range(150.0..=whole.height() * 0.45),
                None => Panel::bottom("empty timeline").exact_size(size::EMPTY_TIMELINE).resizable(false),
            };
            panel
                .frame(Frame::new().fill(palette.panel))
                .show(ui, |ui| monitor::show(ui, &self.state, &mut self.monitor, actions));
        }
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
                filmstrip::strip(ui, &self.state, &mut self.textures, actions);
            });
        }
        if let Some(painting) = &mut self.state.painting {
            let frame = frame.inner_margin(Margin::symmetric(space::M as i8, 0));
            Panel::bottom("brush").exact_size(size::TOOLBAR).resizable(false).frame(frame).show(ui, |ui| {
                mask_painting::toolbar(ui, painting, actions);
            });
        } else if self.state.shown != Shown::Nothing {
            let frame = frame.inner_margin(Margin::symmetric(space::M as i8, 0));
            Panel::bottom("toolbar").exact_size(size::TOOLBAR).resizable(false).frame(frame).show(ui, |ui| {
                let area = self.canvas;
                filmstrip::toolbar(ui, &self.state, &mut self.view, area, now, actions);
            });
        }
        CentralPanel::default().frame(Frame::new().fill(palette.canvas)).show(ui, |ui| {
            self.canvas = ui.max_rect();
            let State { painting, sources, .. } = &mut self.state;
            if let Some(painting) = painting
                && let Some(picture) = sources.pixels(&painting.picture)
            {
                mask_painting::canvas(
                    ui,
                    self.canvas,
                    &self.painting_view,
                    &mut self.textures,
                    painting,
                    picture,
                );
                return;
            }
            stage::picture(ui, &self.state, &mut self.view, &mut self.textures, actions);
        });
    }

    fn keys(&self, ui: &Ui) -> Vec<Action> {
        let mut actions = Vec::new();
        let ctx = ui.ctx();
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
            self.request(Task::Take(file.path().to_owned()));
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
