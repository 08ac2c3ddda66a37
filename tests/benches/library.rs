//! The place of models with 2 000 files: how long searching them takes, for the first time and with what was kept from the
//! last start, and the cost of a frame meanwhile and while the list is scrolled and searched. Headers are like those of
//! real files, with 400 tensors each; the weights behind them are holes.
//!
//! `cargo bench --workspace --bench library`

#![allow(clippy::panic, clippy::unwrap_used, reason = "a measurement that cannot go on fails")]
#![allow(dead_code, reason = "shared with the tests of the window")]

#[path = "../tests/window/support.rs"]
mod support;
mod undrawn;

use std::{
    fs::{self, File},
    io::Write as _,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Sender, unbounded};
use egui::{Event, Key, Modifiers};
use sluice::window::{app::Setup, files::Files, library::LibraryOptions, link::ChannelLink, state::Search};
use sluice_engine::session::{Command, Event as EngineEvent};

use support::starter;
use undrawn::{Undrawn, point, press, wheel};

const FILES: usize = 2000;
const TENSORS: u64 = 400;
/// Measured frames of each kind.
const FRAMES: usize = 600;
/// For a search of all files whose headers were never read.
const GOAL: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder of ComfyUI, the name of a tensor before and after its number, and its shape.
const KINDS: [(&str, [&str; 2], &[u64]); 6] = [
    ("checkpoints", ["model.diffusion_model.input_blocks.", ".0.in_layers.2.weight"], &[320, 320, 3, 3]),
    ("loras", ["lora_unet_down_blocks_", "_attentions_0_proj_in.lora_down.weight"], &[16, 320]),
    ("diffusion_models", ["layers.", ".attention.qkv.weight"], &[3840, 1280]),
    ("vae", ["decoder.up.", ".block.0.conv1.weight"], &[128, 128, 3, 3]),
    ("text_encoders", ["model.layers.", ".self_attn.q_proj.weight"], &[2560, 2560]),
    ("controlnet", ["control_model.input_blocks.", ".0.in_layers.2.weight"], &[320, 320, 3, 3]),
];

fn write(models: &Path, number: usize) {
    let (folder, [before, after], shape) = KINDS[number % KINDS.len()];
    let folder = models.join(folder);
    fs::create_dir_all(&folder).unwrap();
    let bytes = 2 * shape.iter().product::<u64>();
    let tensors = (0..TENSORS).map(|tensor| {
        let [from, to] = [tensor * bytes, (tensor + 1) * bytes];
        format!(
            r#""{before}{tensor}{after}":{{"dtype":"F16","shape":{shape:?},"data_offsets":[{from},{to}]}}"#
        )
    });
    let header = format!("{{{}}}", tensors.collect::<Vec<_>>().join(","));
    let mut file = File::create(folder.join(format!("model-{number:04}.safetensors"))).unwrap();
    file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
    file.write_all(header.as_bytes()).unwrap();
    file.set_len(8 + header.len() as u64 + TENSORS * bytes).unwrap();
}

struct Bench {
    window: Undrawn,
    _engine: (Sender<EngineEvent>, Receiver<Command>),
    now: f64,
}

impl Bench {
    fn new(folder: &Path, cache: &Path) -> Self {
        let (to_engine, commands) = unbounded();
        let (events, from_engine) = unbounded();
        let link = ChannelLink { commands: to_engine, events: from_engine };
        let mut setup = Setup::new(Box::new(link), Files::start(Arc::new(|| ())).unwrap());
        setup.library = LibraryOptions {
            folders: vec![folder.to_owned()],
            finds_programs: false,
            cache: Some(cache.to_owned()),
        };
        let window = Undrawn::new([1280.0, 800.0], setup);
        events.send(EngineEvent::ModelLoaded(Box::new(starter()))).unwrap();
        Self { window, _engine: (events, commands), now: 0.0 }
    }

    /// Runs a frame. Returns its duration.
    fn frame(&mut self, events: Vec<Event>) -> Duration {
        self.now += 1.0 / 60.0;
        self.window.frame(self.now, events).took
    }

    /// Renders until all files are listed. Returns the time, and the longest frame.
    fn open(&mut self) -> (Duration, Duration) {
        let start = Instant::now();
        let mut longest = self.frame(press(Key::M, Modifiers::COMMAND));
        loop {
            let library = &self.window.app.state().library;
            if matches!(library.search, Search::Ended(_)) {
                assert_eq!(library.inventory.items.len(), FILES);
                return (start.elapsed(), longest);
            }
            assert!(start.elapsed() < PATIENCE, "not all files are read");
            thread::sleep(Duration::from_millis(2));
            longest = longest.max(self.frame(Vec::new()));
        }
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn report(name: &str, mut took: Vec<Duration>) {
    took.sort();
    println!(
        "{name:<44} {:>6.2} ms median  {:>6.2} ms of 99 in 100  {:>6.2} ms most",
        milliseconds(took[took.len() / 2]),
        milliseconds(took[took.len() * 99 / 100]),
        milliseconds(took[took.len() - 1]),
    );
}

fn main() {
    let (folder, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (models, cache) = (folder.path().join("ComfyUI/models"), data.path().join("models"));
    (0..FILES).for_each(|number| write(&models, number));
    println!("{FILES} files with {TENSORS} tensors each, in a window of 1280×800");
    let mut first = Duration::MAX;
    for name in ["searched for the first time", "searched again, after a restart"] {
        let mut bench = Bench::new(&models, &cache);
        let (took, longest) = bench.open();
        first = if first == Duration::MAX { took } else { first };
        println!("{name} in {:.0} ms, longest frame {:.1} ms", milliseconds(took), milliseconds(longest));
    }
    let mut bench = Bench::new(&models, &cache);
    bench.open();
    bench.frame(point(500.0, 500.0));
    report("scrolled by 40 points a frame", (0..FRAMES).map(|_| bench.frame(wheel(40.0))).collect());
    let typed = "model-0123".chars();
    report(
        "a letter typed into the search",
        typed.map(|letter| bench.frame(vec![Event::Text(letter.into())])).collect(),
    );
    let verdict = if first <= GOAL { "reached" } else { "missed" };
    println!("goal of {} s for the first search {verdict}", GOAL.as_secs());
}
