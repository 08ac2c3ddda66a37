//! A window connected to channels, and scripted events of an engine.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, unbounded};
use egui_kittest::{Harness, HarnessBuilder};
use image::{Rgba, RgbaImage};
use sluice::window::{
    app::{Setup, SluiceApp},
    files::Files,
    link::ChannelLink,
};
use sluice_engine::{
    checkpoint::Role,
    hardware::{GpuSample, HardwareSample},
    output::{Clip, Image, Media},
    request::ModelSource,
    session::{
        Command, ComponentSummary, Defaults, Event, Failure, Job, JobId, ModelSummary, Picture, PlanQuery,
        Stage, StageKind,
    },
};

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// How much of an opened section has to be in sight.
pub const IN_SIGHT: f32 = 160.0;

/// A window and the other ends of its channels.
pub struct Window {
    pub harness: Harness<'static, SluiceApp>,
    pub events: Sender<Event>,
    commands: Receiver<Command>,
    waiting: RefCell<(Vec<Command>, Vec<PlanQuery>)>,
}

impl Window {
    /// A window whose model is still loading.
    pub fn open(size: [f32; 2], theme: egui::Theme, change: impl FnOnce(&mut Setup)) -> Self {
        let (to_engine, commands) = unbounded();
        let (events, from_engine) = unbounded();
        let link = ChannelLink { commands: to_engine, events: from_engine };
        let files = Files::start(Arc::new(|| ())).unwrap().without_native_dialogs();
        let mut setup = Setup::new(Box::new(link), files);
        setup.new_seed = || 1234;
        // What tests write is listed when they say so.
        setup.watches_folders = false;
        change(&mut setup);
        let builder: HarnessBuilder<SluiceApp> = Harness::builder()
            .with_size(size)
            .with_theme(theme)
            .with_max_steps(12)
            .with_render_cursor(false)
            .wgpu();
        let harness = builder.build_eframe(|creation| SluiceApp::new(&creation.egui_ctx, setup));
        let mut window = Self { harness, events, commands, waiting: RefCell::default() };
        window.frames();
        window
    }

    /// A window with the starter model, just loaded.
    pub fn with_starter() -> Self {
        let mut window = Self::open([1280.0, 800.0], egui::Theme::Dark, |_| ());
        assert_eq!(window.take_commands(), [Command::Load { model: ModelSource::Starter }]);
        window.says(Event::ModelLoaded(Box::new(starter())));
        window
    }

    /// Delivers an event of the engine.
    pub fn says(&mut self, event: Event) {
        self.events.send(event).unwrap();
        self.frames();
    }

    /// What is on the screen: what is drawn, on the ground.
    pub fn seen(&mut self) -> RgbaImage {
        let mut image = self.harness.render().unwrap();
        let ground = self.harness.state().ground(self.harness.ctx.theme() == egui::Theme::Dark).to_array();
        for Rgba([colors @ .., cover]) in image.pixels_mut() {
            for (color, below) in colors.iter_mut().zip(ground) {
                let shines = u16::from(below) * u16::from(255 - *cover);
                *color = color.saturating_add(((shines + 127) / 255) as u8);
            }
            *cover = 255;
        }
        image
    }

    /// Renders until the layout is stable.
    pub fn frames(&mut self) {
        self.harness.run_steps(3);
    }

    /// The commands sent since the last call, without memory queries.
    pub fn take_commands(&self) -> Vec<Command> {
        self.sort();
        std::mem::take(&mut self.waiting.borrow_mut().0)
    }

    /// The memory queries sent since the last call.
    pub fn take_plans(&self) -> Vec<PlanQuery> {
        self.sort();
        std::mem::take(&mut self.waiting.borrow_mut().1)
    }

    fn sort(&self) {
        let (commands, plans) = &mut *self.waiting.borrow_mut();
        for command in self.commands.try_iter() {
            match command {
                Command::Plan(query) => plans.push(*query),
                command => commands.push(command),
            }
        }
    }

    /// The one job sent since the last call.
    pub fn take_job(&self) -> Job {
        match self.take_commands().as_slice() {
            [Command::Generate(job)] => Job::clone(job),
            others => panic!("not one job: {others:?}"),
        }
    }

    /// Types into a field.
    pub fn fill(&mut self, label: &str, text: &str) {
        use egui_kittest::kittest::Queryable;
        self.harness.get_by_label(label).focus();
        self.frames();
        self.harness.get_by_label(label).type_text(text);
        self.frames();
    }

    /// Types into a field in the place of what is there.
    pub fn replace(&mut self, label: &str, text: &str) {
        use egui_kittest::kittest::Queryable;
        self.harness.get_by_label(label).focus();
        self.frames();
        self.harness.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
        self.frames();
        self.harness.get_by_label(label).type_text(text);
        self.frames();
    }

    /// Clicks the widget with this name.
    pub fn click(&mut self, label: &str) {
        use egui_kittest::kittest::Queryable;
        self.see(label);
        self.harness.get_by_label(label).click();
        self.frames();
    }

    /// Scrolls to the widget with this name.
    pub fn see(&mut self, label: &str) {
        use egui_kittest::kittest::Queryable;
        self.harness.get_by_label(label).scroll_to_me();
        self.frames();
    }

    /// Clicks the widget whose name contains these words.
    pub fn click_what_says(&mut self, words: &str) {
        use egui_kittest::kittest::Queryable;
        self.harness.get_by_label_contains(words).scroll_to_me();
        self.frames();
        self.harness.get_by_label_contains(words).click();
        self.frames();
    }

    /// Whether the window shows these words.
    pub fn shows(&self, words: &str) -> bool {
        use egui_kittest::kittest::Queryable;
        self.harness.query_all_by_label_contains(words).next().is_some()
    }

    /// The one text that is painted with these words, and whether it is painted without its end.
    pub fn painted(&self, words: &str) -> (String, bool) {
        let texts = self.harness.output().shapes.iter().filter_map(|clipped| match &clipped.shape {
            egui::Shape::Text(text) => Some((text.galley.text().to_owned(), text.galley.elided)),
            _ => None,
        });
        let found: Vec<_> = texts.filter(|(text, _)| text.contains(words)).collect();
        let [one] = &found[..] else { panic!("{words}: {found:?}") };
        one.clone()
    }

    /// Drops a file on the window.
    pub fn drop_file(&mut self, path: PathBuf) {
        self.drop_files(&[path]);
    }

    /// Drops several files on the window at once.
    pub fn drop_files(&mut self, paths: &[PathBuf]) {
        let dropped = &mut self.harness.input_mut().dropped_files;
        dropped.extend(paths.iter().map(|path| Arc::new(Dropped(path.clone())) as _));
        self.frames();
    }

    /// Renders until the window shows these words.
    pub fn wait_for_words(&mut self, words: &str) {
        let start = Instant::now();
        while !self.shows(words) {
            assert!(start.elapsed() < PATIENCE, "waited in vain for {words}");
            std::thread::sleep(Duration::from_millis(10));
            self.frames();
        }
    }

    /// Renders until the file worker has answered.
    pub fn wait_for(&mut self, what: &str, done: impl Fn(&SluiceApp) -> bool) {
        let start = Instant::now();
        while !done(self.harness.state()) {
            assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
            std::thread::sleep(Duration::from_millis(10));
            self.frames();
        }
    }
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

/// The engine's summary of the starter model.
pub fn starter() -> ModelSummary {
    let component = |role: Role, architecture: &str, parameters: u64| ComponentSummary {
        name: role.id().to_owned(),
        role,
        architecture: architecture.to_owned(),
        parameters,
        bytes: 2 * parameters,
        dtypes: BTreeMap::from([("F16".to_owned(), 2 * parameters)]),
        blocks: Vec::new(),
        files: Vec::new(),
    };
    ModelSummary {
        source: ModelSource::Starter,
        name: "Starter".to_owned(),
        family: "z_image".to_owned(),
        family_name: "Z-Image".to_owned(),
        layout: "folder of diffusers".to_owned(),
        components: vec![
            component(Role::TextEncoder, "Qwen3", 3_000_000),
            component(Role::Denoiser, "ZImageTransformer2DModel", 12_000_000),
            component(Role::Autoencoder, "AutoencoderKL", 2_000_000),
        ],
        size_multiple: 16,
        longest_side: 16_384,
        defaults: Defaults { width: 128, height: 128, steps: 12, guidance: 2.0, ..Defaults::default() },
        examples: [
            "a small red boat on a calm sea at sunset",
            "three green hills under a yellow moon",
            "a white house with a blue door in the snow",
            "a tall tree beside a river in autumn",
        ]
        .map(str::to_owned)
        .to_vec(),
        reads_clip_skip: false,
        reads_true_cfg: false,
        shift: Some(3.0),
        takes_refiner: false,
        takes_redux: false,
        takes_control_nets: false,
        takes_ip_adapters: false,
        maps: None,
        control_modes: Vec::new(),
        frame_multiple: None,
        modes: Vec::new(),
        references: None,
        overlap: None,
        fills_in: false,
    }
}

/// A machine with a GPU.
pub fn machine() -> HardwareSample {
    const GIB: u64 = 1 << 30;
    HardwareSample {
        cpu: "AMD Ryzen 7 5800X".to_owned(),
        threads: 16,
        cpu_load: 0.37,
        ram_total: 64 * GIB,
        ram_available: 51 * GIB,
        ram_limit: None,
        process_ram: 2 * GIB,
        gpus: vec![GpuSample {
            name: "NVIDIA GeForce RTX 3060".to_owned(),
            uuid: None,
            vram_total: 12 * GIB,
            vram_used: 7 * GIB + GIB / 2,
            load: 0.97,
            temperature: Some(64),
        }],
        gpu_note: None,
    }
}

/// A landscape with sky, sun, hills and water, sharper the more steps are done.
pub fn landscape(width: u32, height: u32, seed: u64, sharpness: f32) -> Image {
    let mut pixels = Vec::new();
    let turn = seed as f32;
    let blend = |a: [f32; 3], b: [f32; 3], t: f32| std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t);
    for y in 0..height {
        for x in 0..width {
            let (u, v) = (x as f32 / width as f32, y as f32 / height as f32);
            let dusk = (turn * 0.37).sin() * 0.5 + 0.5;
            let zenith = blend([38.0, 62.0, 110.0], [70.0, 46.0, 104.0], dusk);
            let mut color: [f32; 3] = blend(zenith, [240.0, 176.0, 128.0], (v * 1.7).min(1.0));
            let sun = ((u - 0.3 - dusk * 0.4).powi(2) + (v - 0.38).powi(2)).sqrt();
            color = blend(color, [255.0, 232.0, 190.0], ((0.11 - sun) * 40.0).clamp(0.0, 1.0));
            for (depth, ridge) in [(0.52, 5.0), (0.62, 3.0)] {
                let top = depth + 0.06 * (u * ridge + turn).sin() + 0.02 * (u * ridge * 3.1 + turn).cos();
                let hill = blend([92.0, 108.0, 120.0], [40.0, 70.0, 62.0], (depth - 0.5) * 8.0);
                color = blend(color, hill, ((v - top) * 60.0).clamp(0.0, 1.0));
            }
            let shine = 0.5 + 0.5 * (v * 90.0 + (u * 9.0 + turn).sin() * 2.0).sin();
            let water = blend([34.0, 66.0, 92.0], [150.0, 140.0, 130.0], shine * 0.35);
            color = blend(color, water, ((v - 0.76) * 60.0).clamp(0.0, 1.0));
            let grey: f32 = color.iter().sum::<f32>() / 3.0;
            color = blend([grey * 0.6 + 40.0; 3], color, sharpness);
            pixels.extend(color.map(|channel| channel as u8));
        }
    }
    Image::opaque(width, height, pixels)
}

/// A finished image that was not saved.
pub fn picture(width: u32, height: u32, seed: u64) -> Picture {
    Picture { media: Media::Image(landscape(width, height, seed, 1.0)), seed, path: None }
}

/// A landscape in which the sun and the hills move.
pub fn clip(width: u32, height: u32, frames: u32, rate: f32) -> Clip {
    let still = landscape(width, height, 7, 1.0);
    let shifted = |by: u32| {
        let rows = still.pixels.chunks_exact(3 * width as usize);
        let turned = rows.flat_map(|row| {
            let at = 3 * (by % width) as usize;
            [&row[at..], &row[..at]].concat()
        });
        Image::opaque(width, height, turned.collect())
    };
    Clip::silent((0..frames).map(|frame| shifted(frame * 2)).collect(), rate)
}

/// A finished clip that was not saved.
pub fn moving(width: u32, height: u32, frames: u32, rate: f32) -> Picture {
    Picture { media: Media::Clip(clip(width, height, frames, rate)), seed: 7, path: None }
}

/// Five steps of a job with previews.
pub fn half_way(window: &mut Window, job: JobId) {
    window.says(Event::Queued { job, position: 0 });
    window.says(Event::Started { job });
    window.says(Event::StageStarted { job, stage: Stage::new(0, StageKind::EncodePrompt) });
    window.says(Event::StageFinished { job, stage: Stage::new(0, StageKind::EncodePrompt), seconds: 0.2 });
    window.says(Event::StageStarted { job, stage: Stage::new(1, StageKind::Denoise) });
    window.says(Event::Preview { job, step: 5, media: vec![Media::Image(landscape(16, 16, 3, 0.6))] });
    window.says(Event::Step { job, step: 5, steps: 12, seconds: 3.2, seconds_left: 22.4 });
}

/// An error.
pub fn failure() -> Failure {
    Failure {
        message: "The decoder needs 1.9 GB more than the GPU has free while it turns latents into pixels."
            .to_owned(),
        advice: Some("Choose a smaller size, or close other programs that use the GPU.".to_owned()),
    }
}

/// Optimizes the size of a PNG file without changing the image. Needs the program `oxipng`
/// (`cargo install oxipng`).
pub fn optimize(path: &Path) {
    let done = std::process::Command::new("oxipng").args(["--opt", "4", "--quiet"]).arg(path).status();
    assert!(done.is_ok_and(|status| status.success()), "oxipng cannot be run: cargo install oxipng");
}
