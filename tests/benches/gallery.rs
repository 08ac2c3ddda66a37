//! The gallery with 10 000 images: how long reading them takes, for the first time and again, and the cost of a frame
//! while it is scrolled, idle and searched. A frame is everything on the main thread and the copies of textures.
//!
//! `cargo bench --workspace --bench gallery`

#![allow(clippy::panic, clippy::unwrap_used, reason = "a measurement that cannot go on fails")]
#![allow(dead_code, reason = "shared with the tests of the window")]

#[path = "../tests/window/support.rs"]
mod support;
mod undrawn;

use std::{
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, unbounded};
use egui::{Event, Key, Modifiers};
use sluice::window::{app::Setup, collection::Places, files::Files, link::ChannelLink};
use sluice_engine::{
    output::{Media, Settings, write_png},
    request::Request,
    session::{Command, Event as EngineEvent},
};

use support::{landscape, starter};
use undrawn::{Undrawn, point, press, wheel};

const IMAGES: u64 = 10_000;
/// Measured frames of each kind.
const FRAMES: usize = 600;
/// A frame of a screen with 60 a second, half of it left to the GPU and other programs.
const GOAL: Duration = Duration::from_millis(8);
const PATIENCE: Duration = Duration::from_secs(300);

struct Bench {
    window: Undrawn,
    _engine: (Sender<EngineEvent>, Receiver<Command>),
    now: f64,
}

impl Bench {
    fn new(folder: &Path, places: &Path) -> Self {
        let (to_engine, commands) = unbounded();
        let (events, from_engine) = unbounded();
        let link = ChannelLink { commands: to_engine, events: from_engine };
        let mut setup = Setup::new(Box::new(link), Files::start(Arc::new(|| ())).unwrap());
        setup.folder = Some(folder.to_owned());
        setup.places = Places { data: Some(places.join("data")), cache: Some(places.join("cache")) };
        let window = Undrawn::new([1920.0, 1080.0], setup);
        events.send(EngineEvent::ModelLoaded(Box::new(starter()))).unwrap();
        let mut bench = Self { window, _engine: (events, commands), now: 0.0 };
        bench.frame(Vec::new());
        bench
    }

    /// Runs a frame. Returns its duration, and the time until the next one.
    fn frame(&mut self, events: Vec<Event>) -> (Duration, Duration) {
        self.now += 1.0 / 60.0;
        let frame = self.window.frame(self.now, events);
        (frame.took, frame.due)
    }

    fn press(&mut self, key: Key, modifiers: Modifiers) -> Duration {
        self.frame(press(key, modifiers)).0
    }

    /// Renders until all files are read. Returns the time, and the longest frame.
    fn open(&mut self) -> (Duration, Duration) {
        let start = Instant::now();
        let mut longest = self.press(Key::G, Modifiers::NONE);
        loop {
            let shelf = &self.window.app.gallery().shelf;
            if shelf.unread == Some(0) && shelf.count() as u64 == IMAGES {
                return (start.elapsed(), longest);
            }
            assert!(start.elapsed() < PATIENCE, "not all files are read");
            thread::sleep(Duration::from_millis(2));
            longest = longest.max(self.frame(Vec::new()).0);
        }
    }

    /// Scrolls by this many points in each frame.
    fn scroll(&mut self, points: f32) -> Vec<Duration> {
        self.frame(point(600.0, 600.0));
        (0..FRAMES).map(|_| self.frame(wheel(points)).0).collect()
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn report(name: &str, mut took: Vec<Duration>) -> Duration {
    took.sort();
    println!(
        "{name:<44} {:>6.2} ms median  {:>6.2} ms of 99 in 100  {:>6.2} ms most",
        milliseconds(took[took.len() / 2]),
        milliseconds(took[took.len() * 99 / 100]),
        milliseconds(took[took.len() - 1]),
    );
    took[took.len() * 99 / 100]
}

fn main() {
    let (folder, places) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for seed in 0..IMAGES {
        let words = ["boat", "house", "forest", "city", "harbour", "mountain", "river"];
        let word = words[seed as usize % words.len()];
        let prompt =
            format!("a {word} at dusk, number {seed}, {}", "highly detailed, soft light, ".repeat(8));
        let request = Request { prompt, seed, ..Request::default() };
        let settings = Settings::new(&request, ["flux1-dev", "sd_xl_base_1.0"][seed as usize % 2], "", 0);
        let image = landscape(48, 32, seed % 64, 1.0);
        write_png(&folder.path().join(format!("{seed:05}.png")), &Media::Image(image), &settings).unwrap();
    }
    println!("{IMAGES} images in a window of 1920×1080");
    let mut bench = Bench::new(folder.path(), places.path());
    let (took, longest) = bench.open();
    println!(
        "opened for the first time in {:.0} ms, longest frame {:.1} ms",
        milliseconds(took),
        milliseconds(longest)
    );
    drop(bench);
    let mut bench = Bench::new(folder.path(), places.path());
    let (took, longest) = bench.open();
    println!("opened again in {:.0} ms, longest frame {:.1} ms", milliseconds(took), milliseconds(longest));

    let slow = report("scrolled by 40 points a frame, no thumbnails yet", bench.scroll(40.0));
    let fast = report("scrolled by 600 points a frame", bench.scroll(600.0));
    let back = report("scrolled back by 40 points a frame", bench.scroll(-40.0));
    for _ in 0..60 {
        bench.frame(Vec::new());
        thread::sleep(Duration::from_millis(5));
    }
    report("nothing changes", (0..FRAMES).map(|_| bench.frame(Vec::new()).0).collect());
    let (_, due) = bench.frame(Vec::new());
    println!("the next frame is due in {:.0} s", due.as_secs_f64().min(1e6));

    bench.press(Key::F, Modifiers::COMMAND);
    bench.frame(Vec::new());
    let typed = "harbour -number model:flux".chars();
    report(
        "a letter typed into the search",
        typed.map(|letter| bench.frame(vec![Event::Text(letter.into())]).0).collect(),
    );
    println!("found {} of {IMAGES}", bench.window.app.gallery().shelf.shown().len());
    println!("{} thumbnails are kept on the GPU", bench.window.app.gallery().thumbnails.count());
    let verdict = if slow.max(fast).max(back) <= GOAL { "reached" } else { "missed" };
    println!("goal of {} ms for 99 in 100 frames while scrolling {verdict}", GOAL.as_millis());
}
