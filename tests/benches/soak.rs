//! A window with an engine that draws image after image with the starter, beside a gallery that grows and is looked at: the
//! memory of the process must not grow with it. Both are in one process here.
//!
//! `cargo bench --workspace --bench soak -- 2000`

#![allow(clippy::panic, clippy::unwrap_used, reason = "a measurement that cannot go on fails")]

mod undrawn;

use std::{
    env, thread,
    time::{Duration, Instant},
};

use egui::{Event, Key, Modifiers};
use sluice::window::{
    app::{Setup, SluiceApp},
    collection::Places,
    files::Files,
    settings::Settings,
};
use sluice_engine::session::{Session, SessionOptions};
use sysinfo::{ProcessRefreshKind, ProcessesToUpdate, System, get_current_pid};

use undrawn::{Undrawn, point, press, wheel};

/// Jobs of a run of which nothing else is said.
const JOBS: usize = 2000;
/// Jobs that wait in the queue together.
const TOGETHER: usize = 20;
/// Jobs between two looks at the gallery.
const LOOK: usize = 100;
const SIDE: u32 = 64;
const STEPS: u32 = 1;
const FRAME: Duration = Duration::from_millis(4);
const PATIENCE: Duration = Duration::from_secs(120);

struct Soak {
    window: Undrawn,
    started: Instant,
}

impl Soak {
    fn frame(&mut self, events: Vec<Event>) {
        self.window.frame(self.started.elapsed().as_secs_f64(), events);
    }

    fn until(&mut self, what: &str, done: impl Fn(&SluiceApp) -> bool) {
        let start = Instant::now();
        while !done(&self.window.app) {
            assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
            let failures = &self.window.app.state().messages.failures;
            assert!(failures.is_empty(), "{failures:?}");
            thread::sleep(FRAME);
            self.frame(Vec::new());
        }
    }

    fn draw(&mut self) {
        for _ in 0..TOGETHER {
            self.frame(press(Key::Enter, Modifiers::COMMAND));
        }
        self.until("the images", |app| app.state().jobs.is_empty());
    }

    /// Opens the gallery, scrolls through it and closes it; returns how many images it has.
    fn look(&mut self, images: usize) -> usize {
        self.frame(press(Key::G, Modifiers::NONE));
        self.until("the gallery", |app| {
            app.gallery().shelf.unread == Some(0) && app.gallery().shelf.count() >= images
        });
        self.frame(point(640.0, 500.0));
        for _ in 0..100 {
            self.frame(wheel(200.0));
            thread::sleep(FRAME);
        }
        let count = self.window.app.gallery().shelf.count();
        self.frame(press(Key::G, Modifiers::NONE));
        count
    }
}

/// Bytes of RAM that this process takes.
fn resident(system: &mut System) -> u64 {
    let own = get_current_pid().unwrap();
    let what = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[own]), true, what);
    system.process(own).unwrap().memory()
}

fn main() {
    let jobs = env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(JOBS);
    let folder = tempfile::tempdir().unwrap();
    let images = folder.path().join("images");
    std::fs::create_dir(&images).unwrap();
    let session = Session::start(SessionOptions::default()).unwrap();
    let files = Files::start(std::sync::Arc::new(|| ())).unwrap();
    let mut setup = Setup::new(Box::new(session), files);
    let mut settings = Settings::default();
    let request = &mut settings.draft.request;
    (request.width, request.height, request.steps) = (SIDE, SIDE, STEPS);
    request.prompt = "a small red boat on a calm sea".to_owned();
    setup.settings = Some(settings);
    setup.folder = Some(images);
    setup.places =
        Places { data: Some(folder.path().join("data")), cache: Some(folder.path().join("cache")) };
    let mut soak = Soak { window: Undrawn::new([1280.0, 800.0], setup), started: Instant::now() };
    soak.until("the starter", |app| app.state().can_generate());

    let mut system = System::new().unwrap();
    println!("{:>6} {:>8} {:>9} {:>9}", "jobs", "gallery", "RAM (MB)", "time (s)");
    let mut done = 0;
    while done < jobs {
        soak.draw();
        done += TOGETHER;
        if done % LOOK == 0 {
            let shown = soak.look(done);
            let taken = resident(&mut system) as f64 / 1e6;
            println!("{done:>6} {shown:>8} {taken:>9.1} {:>9.0}", soak.started.elapsed().as_secs_f64());
        }
    }
}
