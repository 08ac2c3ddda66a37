//! Times the frames of the window while a run reports a thousand events per second.
//!
//! A frame is everything on the main thread: handling events, layout, and tessellation. No graphics adapter
//! is needed. `cargo bench --workspace --bench repaint`

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a measurement that cannot go on fails"
)]
#![allow(dead_code, reason = "shared with the tests of the window")]

#[path = "../tests/window/runs.rs"]
mod runs;
#[path = "../tests/window/support.rs"]
mod support;
mod undrawn;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, unbounded};
use egui::{Key, Modifiers};
use sluice::window::{
    action::{Action, GalleryAction, LibraryAction},
    app::Setup,
    files::Files,
    link::ChannelLink,
    settings::{MemorySettings, Setting, Settings as WindowSettings},
};
use sluice_engine::{
    output::Media,
    session::{Command, Event, JobId},
    telemetry::TelemetryEvent,
};

use runs::Scene;
use support::{landscape, machine, starter};
use undrawn::{Undrawn, point, press};

const JOB: JobId = JobId(1);
const FRAMES_A_SECOND: usize = 60;
const EVENTS_A_SECOND: usize = 1000;
/// Number of measured frames after the warm-up.
const FRAMES: usize = 600;
/// Seconds of telemetry before the measurement.
const SECONDS_BEFORE: usize = 600;
const GOAL: Duration = Duration::from_millis(2);
/// How often a panel is opened or closed, and the goal for each.
const TOGGLES: usize = 40;
const TOGGLE_GOAL: Duration = Duration::from_millis(100);

struct Bench {
    window: Undrawn,
    events: Sender<Event>,
    commands: Receiver<Command>,
    scene: Scene,
    frame: usize,
}

impl Bench {
    fn new(size: [f32; 2], open: bool) -> Self {
        let (to_engine, commands) = unbounded();
        let (events, from_engine) = unbounded();
        let link = ChannelLink { commands: to_engine, events: from_engine };
        let mut setup = Setup::new(Box::new(link), Files::start(Arc::new(|| ())).unwrap());
        let memory =
            MemorySettings { plan_open: Some(open), timeline_open: open, ..MemorySettings::default() };
        setup.settings = Some(WindowSettings { memory, ..WindowSettings::default() });
        let window = Undrawn::new(size, setup);
        let mut bench = Self { window, events, commands, scene: Scene::streamed(), frame: 0 };
        bench.says(Event::Hardware(machine()));
        bench.says(Event::ModelLoaded(Box::new(starter())));
        bench.frame(Vec::new());
        bench.answer();
        bench
    }

    fn says(&self, event: Event) {
        self.events.send(event).unwrap();
    }

    fn answer(&self) {
        for command in self.commands.try_iter() {
            if let Command::Plan(query) = command {
                self.says(self.scene.answer(query.id));
            }
        }
    }

    /// A run that has been going on for a while.
    fn begin(&mut self) {
        self.frame(press(Key::Enter, Modifiers::COMMAND));
        self.says(Event::Started { job: JOB });
        self.says(Event::Preview { job: JOB, step: 5, media: vec![Media::Image(landscape(64, 64, 3, 0.6))] });
        self.says(Event::Telemetry { job: JOB, events: self.scene.run(8, 12) });
        for _ in 0..60 {
            self.frame(Vec::new());
        }
    }

    /// Runs one frame. Returns its duration without and with tessellation.
    fn frame(&mut self, events: Vec<egui::Event>) -> (Duration, Duration) {
        self.frame += 1;
        let frame = self.window.frame(self.frame as f64 / FRAMES_A_SECOND as f64, events);
        (frame.laid_out, frame.tessellated)
    }
}

/// Opens and closes panels after a run. Returns the longest time until a change is shown: of the frame that takes the key
/// or click, and of the one after it.
fn toggle(name: &str, open: impl Fn(bool) -> Action) -> Duration {
    let mut bench = Bench::new([1280.0, 800.0], true);
    bench.begin();
    let events = bench.scene.run(11, 12);
    bench.says(Event::Telemetry { job: JOB, events });
    for _ in 0..30 {
        bench.frame(Vec::new());
    }
    let mut took: Vec<Duration> = (0..TOGGLES)
        .map(|turn| {
            let start = Instant::now();
            let Undrawn { ctx, app, .. } = &mut bench.window;
            app.act(ctx, open(turn % 2 == 1));
            for _ in 0..2 {
                bench.frame(Vec::new());
            }
            start.elapsed()
        })
        .collect();
    took.sort();
    let [median, most] = [took[took.len() / 2], took[took.len() - 1]].map(|time| time.as_secs_f64() * 1e3);
    println!("{name:<44} {median:>6.2} ms median  {most:>6.2} ms most");
    took[took.len() - 1]
}

/// A run that never ends, one event after the other.
struct Source {
    events: Vec<TelemetryEvent>,
    next: usize,
    turn: u64,
    length: u64,
}

impl Source {
    fn new(scene: &Scene) -> Self {
        let flows = |event: &TelemetryEvent| {
            matches!(event, TelemetryEvent::Block(_) | TelemetryEvent::Memory(_) | TelemetryEvent::Step(_))
        };
        let events: Vec<_> = scene.run(11, 12).into_iter().filter(flows).collect();
        let length = events.iter().map(time).max().unwrap_or(0) + 1000;
        Self { events, next: 0, turn: 1, length }
    }

    fn next(&mut self) -> TelemetryEvent {
        let mut event = self.events[self.next].clone();
        let by = self.turn * self.length;
        match &mut event {
            TelemetryEvent::Block(record) => record.at += by,
            TelemetryEvent::Memory(sample) => sample.at += by,
            TelemetryEvent::Step(step) => step.at += by,
            _ => {}
        }
        self.next += 1;
        if self.next == self.events.len() {
            (self.next, self.turn) = (0, self.turn + 1);
        }
        event
    }
}

fn time(event: &TelemetryEvent) -> u64 {
    match event {
        TelemetryEvent::Block(record) => record.at,
        TelemetryEvent::Memory(sample) => sample.at,
        TelemetryEvent::Step(step) => step.at,
        _ => 0,
    }
}

fn measure(name: &str, size: [f32; 2], open: bool, pointer: bool) -> Duration {
    let mut bench = Bench::new(size, open);
    bench.begin();
    let mut source = Source::new(&bench.scene);
    for _ in 0..SECONDS_BEFORE {
        let events = (0..EVENTS_A_SECOND).map(|_| source.next()).collect();
        bench.says(Event::Telemetry { job: JOB, events });
    }
    for _ in 0..30 {
        bench.frame(Vec::new());
    }
    let (mut laid_out, mut took) = (Vec::new(), Vec::new());
    let mut owed = 0;
    for frame in 0..FRAMES {
        owed += EVENTS_A_SECOND;
        // Each event in its own message, the worst case.
        while owed >= FRAMES_A_SECOND {
            owed -= FRAMES_A_SECOND;
            bench.says(Event::Telemetry { job: JOB, events: vec![source.next()] });
        }
        let moved = if pointer { point(400.0 + frame as f32, size[1] - 150.0) } else { Vec::new() };
        let (layout, all) = bench.frame(moved);
        laid_out.push(layout);
        took.push(all);
    }
    let mean = |times: &[Duration]| times.iter().sum::<Duration>() / times.len() as u32;
    took.sort();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{name:<44} {:>6.2} ms mean  {:>6.2} ms median  {:>6.2} ms of 99 in 100  {:>6.2} ms most   (layout {:.2} ms)",
        milliseconds(mean(&took)),
        milliseconds(took[took.len() / 2]),
        milliseconds(took[took.len() * 99 / 100]),
        milliseconds(took[took.len() - 1]),
        milliseconds(mean(&laid_out)),
    );
    took[took.len() / 2]
}

fn main() {
    println!(
        "{EVENTS_A_SECOND} telemetry events a second, {FRAMES_A_SECOND} frames a second, after {SECONDS_BEFORE} s"
    );
    let mut worst = Duration::ZERO;
    for (name, size, open, pointer) in [
        ("1280×800, plan and timeline folded away", [1280.0, 800.0], false, false),
        ("1280×800, everything open", [1280.0, 800.0], true, false),
        ("1920×1080, everything open", [1920.0, 1080.0], true, false),
        ("1920×1080, the pointer over the timeline", [1920.0, 1080.0], true, true),
    ] {
        worst = worst.max(measure(name, size, open, pointer));
    }
    let verdict = if worst <= GOAL { "reached" } else { "missed" };
    println!("goal of {} ms a frame {verdict}", GOAL.as_millis());
    let worst = [
        toggle("the plan opened and closed", |open| Action::Set(Setting::PlanOpen(open))),
        toggle("the timeline opened and closed", |open| Action::Set(Setting::TimelineOpen(open))),
        toggle("the settings opened and closed", Action::ShowSettings),
        toggle("the gallery opened and closed", |open| GalleryAction::Open(open).into()),
        toggle("all models opened and closed", |open| Action::Library(LibraryAction::Show(open))),
    ]
    .into_iter()
    .fold(Duration::ZERO, Duration::max);
    let verdict = if worst <= TOGGLE_GOAL { "reached" } else { "missed" };
    println!("goal of {} ms a panel {verdict}", TOGGLE_GOAL.as_millis());
}
