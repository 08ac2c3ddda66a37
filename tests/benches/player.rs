//! The cost of one frame of a playing clip: converting its pixels, laying out the window, and what is handed to the
//! GPU. Two cores have to do it well within a frame of 30 a second, while one of them generates.
//!
//! `cargo bench --workspace --bench player`

#![allow(clippy::panic, clippy::unwrap_used, reason = "a measurement that cannot go on fails")]
#![allow(dead_code, reason = "shared with the tests of the window")]

#[path = "../tests/window/support.rs"]
mod support;
mod undrawn;

use std::{sync::Arc, time::Duration};

use crossbeam_channel::unbounded;
use egui::{Key, Modifiers};
use sluice::window::{app::Setup, files::Files, link::ChannelLink};
use sluice_engine::session::{Event, JobId};

use support::{moving, starter};
use undrawn::{Undrawn, press};

const JOB: JobId = JobId(1);
const RATE: f32 = 30.0;
/// Number of measured frames after the warm-up.
const FRAMES: usize = 300;
/// A quarter of the time that a frame is shown.
const GOAL: Duration = Duration::from_millis(8);

struct Bench {
    window: Undrawn,
    now: f64,
    uploads: usize,
}

impl Bench {
    fn new([width, height]: [u32; 2]) -> Self {
        let (to_engine, commands) = unbounded();
        let (events, from_engine) = unbounded();
        let link = ChannelLink { commands: to_engine, events: from_engine };
        let setup = Setup::new(Box::new(link), Files::start(Arc::new(|| ())).unwrap());
        let mut bench = Self { window: Undrawn::new([1920.0, 1080.0], setup), now: 0.0, uploads: 0 };
        events.send(Event::ModelLoaded(Box::new(starter()))).unwrap();
        bench.frame(Vec::new());
        bench.frame(press(Key::Enter, Modifiers::COMMAND));
        events.send(Event::Started { job: JOB }).unwrap();
        let pictures = vec![moving(width, height, 30, RATE)];
        events.send(Event::Finished { job: JOB, pictures, seconds: 1.0 }).unwrap();
        bench.frame(Vec::new());
        assert!(bench.window.app.state().player.current().is_some());
        drop(commands);
        bench
    }

    /// Runs one frame. Returns its duration, and the time until the window wants the next one.
    fn frame(&mut self, events: Vec<egui::Event>) -> (Duration, Duration) {
        let frame = self.window.frame(self.now, events);
        self.uploads += frame.uploads;
        (frame.took, frame.due)
    }
}

fn measure(name: &str, size: [u32; 2]) -> Duration {
    let mut bench = Bench::new(size);
    for _ in 0..10 {
        bench.now += 1.0 / f64::from(RATE);
        bench.frame(Vec::new());
    }
    bench.uploads = 0;
    let mut took = Vec::new();
    for _ in 0..FRAMES {
        let (time, due) = bench.frame(Vec::new());
        assert!(due <= Duration::from_millis(34), "the next frame is due in {due:?}");
        bench.now += due.as_secs_f64();
        took.push(time);
    }
    assert!((FRAMES - 1..=FRAMES).contains(&bench.uploads), "{} frames were shown", bench.uploads);
    took.sort();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let mean = took.iter().sum::<Duration>() / took.len() as u32;
    println!(
        "{name:<12} {:>6.2} ms mean  {:>6.2} ms median  {:>6.2} ms of 99 in 100  {:>6.2} ms most",
        milliseconds(mean),
        milliseconds(took[took.len() / 2]),
        milliseconds(took[took.len() * 99 / 100]),
        milliseconds(took[took.len() - 1]),
    );
    took[took.len() / 2]
}

fn main() {
    println!("a clip of {RATE} frames a second in a window of 1920×1080");
    let mut worst = Duration::ZERO;
    for (name, size) in [("832×480", [832, 480]), ("1280×704", [1280, 704]), ("1920×1088", [1920, 1088])] {
        let took = measure(name, size);
        if size[0] <= 1280 {
            worst = worst.max(took);
        }
    }
    let verdict = if worst <= GOAL { "reached" } else { "missed" };
    println!("goal of {} ms a frame up to 1280×704 {verdict}", GOAL.as_millis());
}
