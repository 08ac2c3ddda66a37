//! The starter model follows the prompt, even for combinations missing from its training.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use sluice_engine::{
    output::Image,
    request::{ModelSource, Request},
    session::{Command, Event},
};
use sluice_tests::{
    checkpoint::read_json,
    pixels::{Reading, Table},
    runner::Runner,
};

/// Number of generated images.
const PICTURES: usize = 64;
/// Required share of correct images in each respect.
const RIGHT: f64 = 0.9;

fn starter() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/starter")
}

fn table() -> Table {
    Table::open(&starter().join("training/pixels.json")).unwrap()
}

#[derive(Deserialize)]
struct Example {
    file: String,
    #[serde(flatten)]
    shows: Reading,
}

#[derive(Deserialize)]
struct Caption {
    prompt: String,
    seed: u64,
    time: String,
    terrain: String,
    /// What the prompt asks for; `None` if it leaves it open.
    celestial: Option<String>,
}

/// The rules recognize the contents of known images.
#[test]
fn the_rules_read_known_pictures() {
    let (folder, table) = (starter(), table());
    let examples: Vec<Example> = read_json(&folder.join("examples.json")).unwrap();
    assert!(examples.len() >= 12);
    for example in examples {
        let picture = image::open(folder.join(&example.file)).unwrap().into_rgb8();
        let image = Image::opaque(picture.width(), picture.height(), picture.into_raw());
        assert_eq!(table.read(&image).unwrap(), example.shows, "{}", example.file);
    }
}

/// The model's own suggested request, so that the test generates what users see first.
fn suggested(runner: &Runner) -> Request {
    runner.send(Command::Load { model: ModelSource::Starter }).unwrap();
    let Event::ModelLoaded(summary) = runner.event().unwrap() else { panic!("the starter does not load") };
    let own = summary.defaults;
    Request {
        model: ModelSource::Starter,
        width: own.width,
        height: own.height,
        steps: own.steps,
        guidance: own.guidance,
        ..Request::default()
    }
}

#[test]
fn pictures_show_what_the_words_say() {
    let captions: Vec<Caption> = read_json(&starter().join("held_out.json")).unwrap();
    assert!(captions.len() >= PICTURES);
    let (table, mut runner) = (table(), Runner::start().unwrap());
    let request = suggested(&runner);
    let mut asked: BTreeMap<&str, usize> = BTreeMap::new();
    let mut right: BTreeMap<&str, usize> = BTreeMap::new();
    for caption in &captions[..PICTURES] {
        let request = Request { prompt: caption.prompt.clone(), seed: caption.seed, ..request.clone() };
        let seen = table.read(&runner.draw(request).unwrap()[0].media.frames()[0]).unwrap();
        let mut count = |what, wanted: Option<&str>, found: Option<&str>| {
            if wanted.is_some() {
                *asked.entry(what).or_default() += 1;
                *right.entry(what).or_default() += usize::from(wanted == found);
                if wanted != found {
                    println!("{what} {found:?} for {:?}", caption.prompt);
                }
            }
        };
        count("time", Some(&caption.time), Some(&seen.time));
        count("terrain", Some(&caption.terrain), Some(&seen.terrain));
        count("celestial", caption.celestial.as_deref(), seen.celestial.as_deref());
    }
    assert_eq!(asked.len(), 3);
    for (what, asked) in asked {
        let share = right[what] as f64 / asked as f64;
        println!("{what}: {share:.3} of {asked}");
        assert!(asked >= PICTURES / 3 && share >= RIGHT, "{what}: only {share:.3} of {asked} are right");
    }
}
