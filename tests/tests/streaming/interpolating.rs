//! Frame interpolation: the same pixels under every plan, budgets that hold, accurate predictions, cuts, and what is kept.

use std::path::{Path, PathBuf};

use sluice_engine::{
    memory::{MemoryPreferences, OffloadMode, PartChoice, Residence},
    output::{Clip, Codec, Image, Media, Output, Settings, read_settings, write_media},
    request::{ComputeDtype, Interpolate, Interpolation, ModelSource, Request, Smooth},
    session::{Command, Event, Job, StageKind},
    source::ClipInfo,
};
use sluice_tests::{
    interpolators::{Case, moving},
    runner::{End, Runner},
};

use super::support::{attempt, card, forecast};

/// How often a run whose peak stayed below its forecast is repeated, because threads come late.
const RUNS_OF_LATE_THREADS: usize = 8;

fn model(folder: &Path) -> ModelSource {
    ModelSource::Path(Case::latest().write(folder).unwrap())
}

/// A clip of these frames.
fn clip(folder: &Path, name: &str, frames: Vec<Image>, rate: f32) -> PathBuf {
    let path = folder.join(name);
    let settings = Settings::new(&Request { prompt: "a boat".to_owned(), ..Request::default() }, "", "", 0);
    write_media(&path, &Media::Clip(Clip::silent(frames, rate)), &settings, Codec::H264).unwrap();
    path
}

fn request(model: &ModelSource, path: &Path, how: Interpolation) -> Request {
    let interpolate = Some(Interpolate { path: path.to_owned(), how });
    Request { model: model.clone(), interpolate, ..Request::default() }
}

fn made(runner: &mut Runner, request: &Request, memory: &MemoryPreferences) -> Clip {
    let pictures = attempt(runner, request, memory).pictures().unwrap();
    let [picture] = &pictures[..] else { panic!("{} pictures", pictures.len()) };
    let Media::Clip(clip) = &picture.media else { panic!("no clip") };
    clip.clone()
}

/// Tiles of this many pixels a side, which are chosen in latents.
fn tiles(side: u32) -> MemoryPreferences {
    MemoryPreferences { tile: Some(side / 8), ..card() }
}

#[test]
fn every_mode_gives_the_same_bytes_within_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(folder.path());
    let frames = vec![moving(90, 70, 0), moving(90, 70, 4)];
    let path = clip(folder.path(), "clip.mp4", frames, 8.0);
    let request = request(&model, &path, Interpolation::times(2));
    let mut runner = Runner::start().unwrap();
    let want = made(&mut runner, &request, &card());
    assert_eq!((want.frames.len(), want.rate), (4, 16.0));
    assert!(want.frames[1] != want.frames[0] && want.frames[1] != want.frames[2], "nothing is between");
    assert!(want.frames[3] == want.frames[2], "the last frame is repeated");
    assert!(want.frames.iter().all(|frame| (frame.width, frame.height) == (90, 70)));
    for &mode in OffloadMode::ALL {
        let plenty = MemoryPreferences { mode, ..card() };
        let least = forecast(&runner, &request, &plenty).least_device.unwrap();
        for budget in [least, least + least / 8] {
            let memory = MemoryPreferences { vram_budget: Some(budget), ..plenty.clone() };
            let ended = attempt(&mut runner, &request, &memory);
            let held = ended.events.iter().find_map(|event| match event {
                Event::Outcome { outcome, .. } => Some(outcome.measured_device),
                _ => None,
            });
            let held = held.unwrap();
            assert!(held <= budget, "{mode:?}: {held} bytes of {budget} were held");
            let got = ended.pictures().unwrap().remove(0).media;
            assert!(got == Media::Clip(want.clone()), "{mode:?}: other pixels");
        }
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(folder.path());
    let path = clip(folder.path(), "clip.mp4", vec![moving(300, 230, 0), moving(300, 230, 6)], 8.0);
    let streamed = MemoryPreferences {
        parts: [(
            "interpolators".to_owned(),
            PartChoice { residence: Some(Residence::Streamed), keep: None },
        )]
        .into(),
        ..card()
    };
    let ways = [
        (card(), ComputeDtype::F32),
        (tiles(128), ComputeDtype::F32),
        (tiles(128), ComputeDtype::Bf16),
        (streamed, ComputeDtype::F16),
    ];
    let mut runner = Runner::of_two_threads().unwrap();
    for (memory, dtype) in &ways {
        let request = Request { dtype: Some(*dtype), ..request(&model, &path, Interpolation::times(2)) };
        let plan = forecast(&runner, &request, memory).plan.unwrap();
        let mut ratio = f64::INFINITY;
        let mut last = None;
        for _ in 0..RUNS_OF_LATE_THREADS {
            let ended = attempt(&mut runner, &request, memory);
            let outcome = ended.events.into_iter().find_map(|event| match event {
                Event::Outcome { outcome, .. } => Some(outcome),
                Event::Replanned { reason, .. } => panic!("{reason}"),
                _ => None,
            });
            let outcome = outcome.unwrap();
            ratio = ratio.min(outcome.predicted_device as f64 / outcome.measured_device as f64);
            println!("{dtype:?} {:?}: {ratio:.3}", memory.tile);
            assert!(ratio >= 0.98, "{dtype:?} {memory:?}: {ratio:.3}, {outcome:?}");
            last = Some(outcome);
            if ratio < 1.05 {
                break;
            }
        }
        let outcome = last.unwrap();
        assert!(ratio < 1.05, "{dtype:?} {memory:?}: {ratio:.3} at best, {outcome:?}");
        assert_eq!(plan.peak_device(), outcome.predicted_device);
        assert_eq!(plan.stages.len(), 1);
        assert_eq!(plan.stages[0].stage.kind, StageKind::Interpolate);
    }
}

/// The forecast alone, with the widths of the published 4.26; the run itself takes minutes.
#[test]
fn a_full_hd_clip_fits_a_small_budget_in_tiles() {
    let folder = tempfile::tempdir().unwrap();
    let case = Case { widths: &[192, 128, 96, 64, 32], ..Case::latest() };
    let model = ModelSource::Path(case.write(folder.path()).unwrap());
    let frames = vec![moving(1920, 1080, 0), moving(1920, 1080, 8)];
    let path = clip(folder.path(), "clip.mp4", frames, 8.0);
    let request = request(&model, &path, Interpolation::times(2));
    let runner = Runner::start().unwrap();
    for (budget, is_cut) in [(2 << 30, false), (384 << 20, true)] {
        let memory = MemoryPreferences { vram_budget: Some(budget), ..MemoryPreferences::default() };
        let plan = forecast(&runner, &request, &memory).plan.unwrap();
        println!("{budget}: {} bytes, {:.1} s", plan.peak_device(), plan.seconds);
        assert!(plan.peak_device() <= budget, "{} of {budget}", plan.peak_device());
        assert_eq!(plan.stages[0].uses[0].tile.is_some(), is_cut, "{budget}");
    }
}

#[test]
fn frames_are_not_made_across_cuts_unless_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(folder.path());
    let inverted = |mut image: Image| {
        image.pixels.iter_mut().for_each(|value| *value = 255 - *value / 4);
        image
    };
    let frames =
        vec![moving(64, 64, 0), moving(64, 64, 2), inverted(moving(64, 64, 4)), inverted(moving(64, 64, 6))];
    let path = clip(folder.path(), "clip.mp4", frames, 10.0);
    let mut runner = Runner::start().unwrap();
    let kept = made(&mut runner, &request(&model, &path, Interpolation::times(4)), &card());
    assert_eq!((kept.frames.len(), kept.rate), (16, 40.0));
    // From the second frame to the third is the cut: the second is shown until then.
    for place in 5..8 {
        assert!(kept.frames[place] == kept.frames[4], "frame {place}");
    }
    for place in [1, 2, 3, 9, 10, 11] {
        assert!(kept.frames[place] != kept.frames[place - 1], "frame {place}");
    }
    let across = Interpolation { factor: 4, across_cuts: true };
    let across = made(&mut runner, &request(&model, &path, across), &card());
    assert!(across.frames[5] != across.frames[4]);
    assert!(across.frames[..5] == kept.frames[..5] && across.frames[8..] == kept.frames[8..]);
}

#[test]
fn a_clip_keeps_its_settings_and_a_cancelled_one_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(folder.path());
    let frames = (0..6).map(|number| moving(128, 128, 3 * number)).collect();
    let path = clip(folder.path(), "clip.mp4", frames, 12.0);
    let mut runner = Runner::start().unwrap();
    let output = folder.path().join("smooth.mp4");
    let job = |runner: &mut Runner| {
        let job = runner.job(request(&model, &path, Interpolation::times(2)));
        Job { output: Some(Output::File(output.clone())), ..job }
    };
    let stopped = job(&mut runner);
    let id = stopped.id;
    runner.send(Command::Generate(Box::new(stopped))).unwrap();
    while !matches!(runner.event().unwrap(), Event::Step { .. }) {}
    runner.send(Command::Cancel { job: id }).unwrap();
    assert!(matches!(runner.wait(id).unwrap().end, End::Cancelled));
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let ended = job(&mut runner);
    let ended = runner.run(ended).unwrap();
    let steps: Vec<_> = ended
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Step { step, steps, .. } => Some((*step, *steps)),
            _ => None,
        })
        .collect();
    assert_eq!(steps, (1..=5).map(|step| (step, 5)).collect::<Vec<_>>());
    let info = ClipInfo::open(&output).unwrap().unwrap();
    let before = ClipInfo::open(&path).unwrap().unwrap();
    assert_eq!((info.frames, info.rate), (12, 24.0));
    assert!((info.seconds - before.seconds).abs() < 1e-3, "{} of {} s", info.seconds, before.seconds);
    let settings = read_settings(&output).unwrap().settings;
    assert_eq!(settings.request.prompt, "a boat");
    assert_eq!((settings.interpolated[0].model.as_str(), settings.interpolated[0].factor), ("rife", 2));
    assert!(settings.parameters().contains("Frame interpolation by: 2, Frame interpolation model: rife"));
}

/// A stage after decoding: the frames that were generated stay as they are, and those between are those of the clip alone.
#[test]
fn a_generated_clip_is_smoothed_in_its_own_run() {
    let folder = tempfile::tempdir().unwrap();
    let ModelSource::Path(model) = model(folder.path()) else { panic!("no file") };
    let how = Interpolation { factor: 2, across_cuts: true };
    let plain = Request {
        model: ModelSource::StarterClip,
        prompt: "a sailboat".to_owned(),
        width: 64,
        height: 64,
        frames: 5,
        frame_rate: 8.0,
        steps: 2,
        seed: 3,
        ..Request::default()
    };
    let smooth = Request { smooth: Some(Smooth { model, how }), ..plain.clone() };
    let mut runner = Runner::start().unwrap();
    let before = made(&mut runner, &plain, &card());
    let after = made(&mut runner, &smooth, &card());
    assert_eq!((after.frames.len(), after.rate), (10, 16.0));
    for (place, frame) in before.frames.iter().enumerate() {
        assert!(after.frames[2 * place] == *frame, "frame {place}");
    }
    assert!(after.frames[1] != after.frames[0] && after.frames[1] != after.frames[2]);
    let plan = forecast(&runner, &smooth, &card()).plan.unwrap();
    let stages: Vec<_> = plan.stages.iter().map(|stage| stage.stage.kind).collect();
    assert_eq!(stages.last(), Some(&StageKind::Interpolate));
    let least = forecast(&runner, &smooth, &card()).least_device.unwrap();
    let memory = MemoryPreferences { vram_budget: Some(least), ..card() };
    assert!(made(&mut runner, &smooth, &memory) == after, "other pixels within {least} bytes");
    let image = Request { frames: 1, ..smooth };
    let said = attempt(&mut runner, &image, &card()).failure().unwrap().message;
    assert!(said.contains("frame interpolation is for clips"), "{said}");
}

#[test]
fn what_cannot_be_interpolated_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(folder.path());
    let path = clip(folder.path(), "clip.mp4", vec![moving(64, 64, 0), moving(64, 64, 2)], 8.0);
    let one = clip(folder.path(), "one.mp4", vec![moving(64, 64, 0)], 8.0);
    let image = folder.path().join("image.png");
    image::save_buffer(&image, &moving(64, 64, 0).pixels, 64, 64, image::ColorType::Rgb8).unwrap();
    std::fs::write(folder.path().join("flownet.pkl"), b"PK").unwrap();
    let mut runner = Runner::start().unwrap();
    let mut refused = |request: &Request| {
        let failure = attempt(&mut runner, request, &card()).failure().unwrap();
        format!("{} {}", failure.message, failure.advice.unwrap_or_default())
    };
    let twice = Interpolation::times(2);
    let said = refused(&request(&model, &path, Interpolation::times(1)));
    assert!(said.contains("1 times as many frames are not possible; use 2 to 8"), "{said}");
    let said = refused(&request(&model, &one, twice));
    assert!(said.contains("the clip has one frame"), "{said}");
    let said = refused(&request(&model, &image, twice));
    assert!(said.contains("an image has no frames"), "{said}");
    let said = refused(&request(&model, &folder.path().join("no.mp4"), twice));
    assert!(said.contains("no.mp4"), "{said}");
    let said = refused(&Request { model: model.clone(), ..Request::default() });
    assert!(said.contains("generates none"), "{said}");
    let pickle = ModelSource::Path(folder.path().join("flownet.pkl"));
    let said = refused(&request(&pickle, &path, twice));
    assert!(said.contains("pickle") && said.contains("convert"), "{said}");
    let said = refused(&request(&ModelSource::Upscaler, &path, twice));
    assert!(said.contains("cannot interpolate frames: it is no RIFE 4"), "{said}");
}
