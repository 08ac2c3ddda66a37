//! The clip starter follows the prompt, even for combinations missing from its training.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
};

use serde::Deserialize;
use sluice_engine::{
    request::{ModelSource, Request},
    session::{Command, Event, SessionOptions},
};
use sluice_tests::{checkpoint::read_json, motion::read_clip, pixels::Table, runner::Runner};

/// Number of generated clips.
const CLIPS: usize = 10;
/// Required share of correct clips in each respect.
const RIGHT: f64 = 0.8;

fn assets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets")
}

#[derive(Deserialize)]
struct Caption {
    prompt: String,
    seed: u64,
    time: String,
    terrain: String,
    motion: String,
    direction: String,
}

/// The model's own suggested request, so that the test generates what users see first.
fn suggested(runner: &Runner) -> Request {
    runner.send(Command::Load { model: ModelSource::StarterClip }).unwrap();
    let Event::ModelLoaded(summary) = runner.event().unwrap() else {
        panic!("the clip starter does not load")
    };
    let own = summary.defaults;
    assert_eq!((own.frames, own.frame_rate), (25, 8.0));
    Request {
        model: ModelSource::StarterClip,
        width: own.width,
        height: own.height,
        frames: own.frames,
        frame_rate: own.frame_rate,
        steps: own.steps,
        guidance: own.guidance,
        sampler: own.sampler,
        ..Request::default()
    }
}

/// In which respects the clips of these captions show what they say.
fn what_is_right(captions: &[Caption], table: &Table) -> Vec<(&'static str, bool)> {
    let one_thread = SessionOptions { threads: Some(1), ..SessionOptions::default() };
    let mut runner = Runner::with(one_thread).unwrap();
    let request = suggested(&runner);
    let mut all = Vec::new();
    for caption in captions {
        let request = Request { prompt: caption.prompt.clone(), seed: caption.seed, ..request.clone() };
        let clip = runner.draw(request).unwrap();
        let seen = read_clip(clip[0].media.frames(), &caption.motion, table).unwrap();
        for (what, is_right) in [
            ("time", seen.time == caption.time),
            ("terrain", seen.terrain == caption.terrain),
            ("direction", seen.direction.as_ref() == Some(&caption.direction)),
        ] {
            all.push((what, is_right));
            if !is_right {
                println!("{what} of {seen:?} for {:?}", caption.prompt);
            }
        }
    }
    all
}

#[test]
fn clips_show_what_the_words_say() {
    let captions: Vec<Caption> = read_json(&assets().join("starter-clip/held_out.json")).unwrap();
    assert_eq!(captions.len(), 60);
    let table = &Table::open(&assets().join("starter/training/pixels.json")).unwrap();
    // Two engines of one thread each take less time than one of two threads, which wait for each other.
    let halves: Vec<_> = thread::scope(|scope| {
        let show = |half| scope.spawn(move || what_is_right(half, table));
        let halves: Vec<_> = captions[..CLIPS].chunks(CLIPS / 2).map(show).collect();
        halves.into_iter().map(|half| half.join().unwrap()).collect()
    });
    let mut right: BTreeMap<&str, usize> = BTreeMap::new();
    for (what, is_right) in halves.into_iter().flatten() {
        *right.entry(what).or_default() += usize::from(is_right);
    }
    for (what, right) in right {
        let share = right as f64 / CLIPS as f64;
        println!("{what}: {share:.3}");
        assert!(share >= RIGHT, "{what}: only {share:.3} of {CLIPS} are right");
    }
}

#[test]
fn the_same_request_gives_the_same_clip() {
    let runner = Runner::start().unwrap();
    let request =
        Request { prompt: "a balloon rising over the hills".to_owned(), steps: 2, ..suggested(&runner) };
    let drawn = || Runner::start().unwrap().draw(request.clone()).unwrap();
    let (one, other) = (drawn(), drawn());
    assert_eq!(one[0].media.frames().len(), 25);
    assert_eq!(one[0].media.frames(), other[0].media.frames());
}
