//! Better prompts: the same words under every plan, budgets that hold, accurate predictions, seeds, and texts that grow.

use std::path::Path;

use sluice_engine::{
    memory::{MemoryPreferences, OffloadMode, Outcome},
    precision::Format,
    request::{ModelSource, Request, RequestError, Writing},
    session::{Command, Event, JobId, StageKind},
};
use sluice_tests::{
    runner::{self, End, Runner},
    writer::{INSTRUCTION, PROMPT, write},
};

use super::support::{attempt, card, forecast};

fn request(folder: &Path, format: Format) -> Request {
    let file = folder.join("tiny.gguf");
    write(&file, format).unwrap();
    let enhance = Writing { instruction: INSTRUCTION.to_owned(), longest: 60, ..Writing::default() };
    let model = ModelSource::Path(file);
    Request { model, prompt: PROMPT.to_owned(), seed: 7, enhance: Some(enhance), ..Request::default() }
}

pub fn outcome(ended: &runner::Outcome) -> Outcome {
    let found = ended.events.iter().find_map(|event| match event {
        Event::Outcome { outcome, .. } => Some((**outcome).clone()),
        Event::Replanned { reason, .. } => panic!("{reason}"),
        _ => None,
    });
    found.unwrap()
}

/// What was written, and what of it was told before.
pub fn written(ended: &runner::Outcome) -> (String, Vec<String>) {
    let texts = ended.events.iter().filter_map(|event| match event {
        Event::Text { text, is_whole, .. } => Some((text.clone(), *is_whole)),
        _ => None,
    });
    let (whole, parts): (Vec<_>, Vec<_>) = texts.partition(|(_, is_whole)| *is_whole);
    assert_eq!(whole.len(), 1, "{:?}", ended.end);
    assert!(matches!(&ended.end, End::Finished(pictures) if pictures.is_empty()));
    (whole[0].0.clone(), parts.into_iter().map(|(text, _)| text).collect())
}

#[test]
fn every_mode_gives_the_same_words_within_its_budget() {
    for format in [Format::F16, Format::Q8_0] {
        let folder = tempfile::tempdir().unwrap();
        let request = request(folder.path(), format);
        let mut runner = Runner::start().unwrap();
        let (want, _) = written(&attempt(&mut runner, &request, &card()));
        assert!(want.len() > 40, "{want}");
        for &mode in OffloadMode::ALL {
            let plenty = MemoryPreferences { mode, ..card() };
            let least = forecast(&runner, &request, &plenty).least_device.unwrap();
            let memory = MemoryPreferences { vram_budget: Some(least), ..plenty };
            let ended = attempt(&mut runner, &request, &memory);
            let held = outcome(&ended).measured_device;
            assert!(held <= least, "{format:?}, {mode:?}: {held} bytes of {least} were held");
            assert_eq!(written(&ended).0, want, "{format:?}, {mode:?}");
        }
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    let folder = tempfile::tempdir().unwrap();
    let mut request = request(folder.path(), Format::F16);
    // So much to read that everything else is little beside it, and an answer that may end early as well.
    let told = |enhance: Writing| Writing { instruction: INSTRUCTION.repeat(100), longest: 20, ..enhance };
    request.enhance = request.enhance.map(told);
    let mut runner = Runner::of_two_threads().unwrap();
    let plan = forecast(&runner, &request, &card()).plan.unwrap();
    assert_eq!((plan.stages.len(), plan.stages[0].stage.kind), (1, StageKind::Write));
    let ended = attempt(&mut runner, &request, &card());
    written(&ended);
    let outcome = outcome(&ended);
    let ratio = outcome.predicted_activations as f64 / outcome.measured_activations as f64;
    println!("{ratio:.3}, {outcome:?}");
    assert!(outcome.measured_device <= outcome.predicted_device, "{outcome:?}");
    assert!((0.98..1.1).contains(&ratio), "{ratio:.3}, {outcome:?}");
}

#[test]
fn a_seed_gives_the_same_words_and_adapters_stay_named() {
    let folder = tempfile::tempdir().unwrap();
    let request = request(folder.path(), Format::F16);
    let mut runner = Runner::start().unwrap();
    let mut words = |request: &Request| written(&attempt(&mut runner, request, &card())).0;
    let first = words(&request);
    assert_eq!(words(&request), first);
    assert_ne!(words(&Request { seed: 8, ..request.clone() }), first);
    let greedy = |seed| {
        let enhance = request.enhance.clone().map(|enhance| Writing { temperature: 0.0, ..enhance });
        Request { seed, enhance, ..request.clone() }
    };
    assert_eq!(words(&greedy(1)), words(&greedy(2)), "nothing is left to the seed");
    let named = Request { prompt: format!("{PROMPT} <lora:ink:0.8>"), ..request.clone() };
    assert_eq!(words(&named), format!("{first} <lora:ink:0.8>"));
}

#[test]
fn a_text_is_told_as_it_grows_and_ends_when_it_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let mut request = request(folder.path(), Format::F16);
    request.enhance = request.enhance.map(|enhance| Writing { longest: 4000, ..enhance });
    let mut runner = Runner::start().unwrap();
    let job = runner.job(request);
    let id = job.id;
    runner.send(Command::Generate(Box::new(job))).unwrap();
    let mut last = String::new();
    while last.len() < 50 {
        if let Event::Text { text, is_whole, .. } = runner.event().unwrap() {
            assert!(
                !is_whole && text.starts_with(last.trim_end_matches('\u{fffd}')),
                "{last:?} became {text:?}"
            );
            last = text;
        }
    }
    runner.send(Command::Cancel { job: id }).unwrap();
    assert!(matches!(runner.wait(id).unwrap().end, End::Cancelled));
    assert_ne!(id, JobId(0));
}

#[test]
fn what_cannot_be_written_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let request = request(folder.path(), Format::F16);
    let mut runner = Runner::start().unwrap();
    let mut said = |request: &Request| {
        attempt(&mut runner, request, &MemoryPreferences::default()).failure().unwrap().message
    };
    let empty = Request { prompt: " ".to_owned(), ..request.clone() };
    assert!(said(&empty).contains(&RequestError::NothingToEnhance.to_string()));
    let with = |change: fn(Writing) -> Writing| Request {
        enhance: request.enhance.clone().map(change),
        ..request.clone()
    };
    let wild = with(|enhance| Writing { temperature: 3.0, ..enhance });
    assert!(said(&wild).contains("the temperature 3 is not between 0 and 2"));
    let dumb = with(|enhance| Writing { instruction: String::new(), ..enhance });
    assert!(said(&dumb).contains(&RequestError::NoInstruction.to_string()));
    let other = Request { model: ModelSource::Upscaler, ..request.clone() };
    let message = said(&other);
    assert!(
        message.contains("cannot write prompts: it is no language model of Qwen3, Qwen2.5-VL or Qwen3-VL"),
        "{message}"
    );
}
