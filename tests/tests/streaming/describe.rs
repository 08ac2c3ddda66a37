//! Descriptions of images: the same words under every plan, budgets that hold, accurate predictions, seeds, and texts that
//! grow.

use std::{fs, path::Path};

use sluice_engine::{
    memory::{MemoryPreferences, OffloadMode},
    request::{Describe, ModelSource, Request, Writing},
    session::{Command, Event, StageKind},
};
use sluice_tests::{
    describe::{INSTRUCTION, Seeing, write_images},
    runner::{End, Runner},
};

use super::{
    support::{attempt, card, forecast},
    writer::{outcome, written},
};

fn request(folder: &Path, seeing: Seeing) -> Request {
    let model = folder.join("model");
    seeing.write(&model).unwrap();
    let writing = Writing { instruction: INSTRUCTION.to_owned(), longest: 60, ..Writing::default() };
    let images = write_images(folder).unwrap();
    let describe = Describe { images, pixels: seeing.pixels(), writing };
    Request { model: ModelSource::Path(model), seed: 7, describe: Some(describe), ..Request::default() }
}

fn with(request: &Request, change: impl Fn(&mut Describe)) -> Request {
    let mut changed = request.clone();
    changed.describe.iter_mut().for_each(change);
    changed
}

#[test]
fn every_mode_gives_the_same_words_within_its_budget() {
    for seeing in Seeing::ALL {
        let folder = tempfile::tempdir().unwrap();
        let request = request(folder.path(), seeing);
        let mut runner = Runner::start().unwrap();
        let (want, _) = written(&attempt(&mut runner, &request, &card()));
        assert!(want.len() > 40, "{want}");
        for &mode in OffloadMode::ALL {
            let plenty = MemoryPreferences { mode, ..card() };
            let least = forecast(&runner, &request, &plenty).least_device.unwrap();
            let memory = MemoryPreferences { vram_budget: Some(least), ..plenty };
            let ended = attempt(&mut runner, &request, &memory);
            let held = outcome(&ended).measured_device;
            assert!(held <= least, "{seeing:?}, {mode:?}: {held} bytes of {least} were held");
            assert_eq!(written(&ended).0, want, "{seeing:?}, {mode:?}");
        }
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    for (seeing, pixels) in [(Seeing::Qwen25, 600_000), (Seeing::Qwen3, 900_000)] {
        let folder = tempfile::tempdir().unwrap();
        let large = folder.path().join("large.png");
        image::RgbImage::from_fn(1024, 1024, |x, y| image::Rgb([x as u8, y as u8, 7])).save(&large).unwrap();
        let request = with(&request(folder.path(), seeing), |describe| {
            (describe.images, describe.pixels) = (vec![large.clone()], pixels);
        });
        let mut runner = Runner::of_two_threads().unwrap();
        let plan = forecast(&runner, &request, &card()).plan.unwrap();
        assert_eq!((plan.stages.len(), plan.stages[0].stage.kind), (1, StageKind::Write));
        let ended = attempt(&mut runner, &request, &card());
        written(&ended);
        let outcome = outcome(&ended);
        let ratio = outcome.predicted_activations as f64 / outcome.measured_activations as f64;
        println!("{seeing:?}: {ratio:.3}, {outcome:?}");
        assert!(outcome.measured_device <= outcome.predicted_device, "{outcome:?}");
        assert!((0.98..1.1).contains(&ratio), "{seeing:?}: {ratio:.3}, {outcome:?}");
    }
}

#[test]
fn a_seed_gives_the_same_words_and_other_images_others() {
    let folder = tempfile::tempdir().unwrap();
    let request = request(folder.path(), Seeing::Qwen25);
    let mut runner = Runner::start().unwrap();
    let mut words = |request: &Request| written(&attempt(&mut runner, request, &card())).0;
    let first = words(&request);
    assert_eq!(words(&request), first);
    assert_ne!(words(&Request { seed: 8, ..request.clone() }), first);
    let turned = with(&request, |describe| describe.images.reverse());
    assert_ne!(words(&turned), first, "the order of images counts");
    let one = with(&request, |describe| describe.images.truncate(1));
    assert_ne!(words(&one), first);
}

#[test]
fn a_description_is_told_as_it_grows_and_ends_when_it_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let request = with(&request(folder.path(), Seeing::Qwen25), |describe| describe.writing.longest = 4000);
    // Without the tokens that end an answer.
    let tokenizer = folder.path().join("model/tokenizer.json");
    let text = fs::read_to_string(&tokenizer).unwrap();
    fs::write(&tokenizer, text.replace("<|im_end|>", "<|1|>").replace("<|endoftext|>", "<|2|>")).unwrap();
    let mut runner = Runner::start().unwrap();
    let job = runner.job(request);
    let id = job.id;
    runner.send(Command::Generate(Box::new(job))).unwrap();
    let mut length = 0;
    while length < 50 {
        if let Event::Text { text, is_whole, .. } = runner.event().unwrap() {
            assert!(!is_whole && text.len() >= length, "{text:?}");
            length = text.len();
        }
    }
    runner.send(Command::Cancel { job: id }).unwrap();
    assert!(matches!(runner.wait(id).unwrap().end, End::Cancelled));
}
