//! Hires fix: a second pass that is image to image with the enlarged image, under every plan, and in two halves of a run.

use std::path::{Path, PathBuf};

use sluice_engine::{
    memory::{Estimate, MemoryPreferences, OffloadMode, Outcome},
    output::Image,
    request::{
        ComputeDtype, Enlarger, Hires, ModelSource, Request, Sampler, SourceImage, Upscale, Variation,
    },
    session::{Command, Event, Job, StageKind},
};
use sluice_tests::{checkpoint::Fixture, runner::Runner};

use super::support::{Tiny, card, check_every_mode, forecast, mode, run, run_dumped, starter, streamed};

fn hires(scale: f32, strength: f64, enlarger: Enlarger) -> Option<Hires> {
    Some(Hires { scale, strength, steps: None, enlarger })
}

fn images(runner: &mut Runner, request: &Request) -> Vec<Image> {
    let pictures = runner.draw(request.clone()).unwrap();
    pictures.iter().map(|picture| picture.media.first().unwrap().clone()).collect()
}

fn saved(folder: &Path, name: &str, image: &Image) -> PathBuf {
    let path = folder.join(name);
    let Image { pixels, width, height, .. } = image;
    image::save_buffer(&path, pixels, *width, *height, image::ColorType::Rgb8).unwrap();
    path
}

/// By dry run, whose figures are those of the functions as they run.
#[test]
fn forecasts_by_dry_run_come_true() {
    let mut runner = Runner::of_two_threads().unwrap();
    let memory = MemoryPreferences { estimate: Estimate::Dryrun, ..card() };
    for enlarger in [Enlarger::default(), Enlarger::Latent] {
        let request = Request { hires: hires(2.0, 0.5, enlarger), ..starter(128, 4) };
        let Outcome { predicted_device, measured_device, .. } = run(&mut runner, &request, &memory).outcome;
        let ratio = predicted_device as f64 / measured_device as f64;
        println!("{ratio:.3}");
        assert!((0.9..1.15).contains(&ratio), "{predicted_device} and {measured_device}");
    }
}

/// Generates, enlarges and denoises again in three requests for each image.
fn step_by_step(runner: &mut Runner, request: &Request) -> Vec<Image> {
    let folder = tempfile::tempdir().unwrap();
    let hires = request.hires.clone().unwrap();
    let first = images(runner, &Request { hires: None, ..request.clone() });
    let again = |(index, image): (usize, &Image)| {
        let path = saved(folder.path(), "first.png", image);
        let upscale = Some(Upscale { path, scale: hires.scale });
        let model = hires.enlarger.upscaler().unwrap().clone();
        let larger = images(runner, &Request { model, upscale, ..Request::default() }).remove(0);
        let path = saved(folder.path(), "larger.png", &larger);
        let source = SourceImage { path, strength: hires.strength, ..SourceImage::default() };
        let second = Request {
            width: larger.width,
            height: larger.height,
            source: Some(source),
            hires: None,
            ..request.alone(index as u32)
        };
        images(runner, &second).remove(0)
    };
    first.iter().enumerate().map(again).collect()
}

#[test]
fn the_second_pass_is_image_to_image_with_the_enlarged_image() {
    let mut runner = Runner::start().unwrap();
    let plain = Request {
        batch: 2,
        sampler: Sampler::EulerAncestral,
        hires: hires(2.0, 0.6, Enlarger::default()),
        ..starter(64, 5)
    };
    let varied = Request { variation: Some(Variation { seed: 3, strength: 0.4 }), ..plain.clone() };
    for request in [plain, varied] {
        let whole = images(&mut runner, &request);
        assert_eq!((whole.len(), whole[0].width, whole[0].height), (2, 128, 128));
        assert!(whole[0] != whole[1]);
        assert!(whole == step_by_step(&mut runner, &request), "other pixels than in three steps");
    }
}

#[test]
fn every_family_with_image_to_image_has_it() {
    let mut runner = Runner::start().unwrap();
    for (family, case) in [
        ("stable_diffusion", "one"),
        ("sdxl", "base"),
        ("sd3", "medium"),
        ("flux", "dev"),
        ("chroma", "default"),
        ("longcat", "default"),
        ("ernie_image", "default"),
        ("lens", "default"),
        ("anima", "default"),
        ("krea2", "default"),
        ("flux2", "base"),
        ("hidream", "default"),
        ("qwen_image", "default"),
        ("qwen_image_21", "default"),
        ("z_image", "default"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Fixture::new(family, case);
        let model = fixture.write_diffusers(folder.path()).unwrap();
        let runs = fixture.runs().unwrap();
        let mut requests = runs.iter().map(|run| run.request(&model));
        let own = requests.find(|own| own.source.is_none() && own.references.is_empty()).unwrap();
        let by = |enlarger| Request {
            width: 64,
            height: 32,
            steps: 4,
            batch: 1,
            refiner: None,
            dtype: Some(ComputeDtype::F32),
            hires: hires(2.0, 0.5, enlarger),
            ..own.clone()
        };
        let request = by(Enlarger::default());
        let whole = images(&mut runner, &request);
        assert!(whole == step_by_step(&mut runner, &request), "{family}: other pixels than in three steps");
        let [latent] = &images(&mut runner, &by(Enlarger::Latent))[..] else { panic!("{family}") };
        assert_eq!((latent.width, latent.height), (128, 64), "{family}");
        assert!(*latent != whole[0], "{family}: latents are not enlarged as pixels are");
    }
}

#[test]
fn a_refiner_does_its_share_of_both_passes() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::new("sdxl", "base");
    let model = fixture.write_diffusers(folder.path()).unwrap();
    let refined = fixture.run("refined/guided").unwrap();
    refined.write_beside(&model).unwrap();
    let own = refined.request(&model);
    assert!(own.refiner.is_some() && own.source.is_none());
    let mut runner = Runner::start().unwrap();
    let request = Request {
        width: 64,
        height: 32,
        steps: 6,
        batch: 2,
        dtype: Some(ComputeDtype::F32),
        hires: hires(2.0, 0.9, Enlarger::default()),
        ..own
    };
    let plan = forecast(&runner, &request, &card()).plan.unwrap();
    let names = plan.stages.iter().map(|stage| stage.stage.name.as_str());
    assert_eq!(names.filter(|name| *name == "Refine").count(), 2);
    let whole = images(&mut runner, &request);
    assert!(whole == step_by_step(&mut runner, &request), "other pixels than in three steps");
}

#[test]
fn nothing_is_left_of_latents_at_full_strength() {
    let mut runner = Runner::start().unwrap();
    let small = starter(64, 4);
    let again = Request { hires: hires(1.5, 1.0, Enlarger::Latent), ..small.clone() };
    let large = Request { width: 96, height: 96, ..small.clone() };
    assert!(images(&mut runner, &again) == images(&mut runner, &large));
    let less = Request { hires: hires(1.5, 0.5, Enlarger::Latent), ..small };
    assert!(images(&mut runner, &less) != images(&mut runner, &large));
}

#[test]
fn every_mode_gives_the_same_bytes_within_its_budget() {
    let tiny = Tiny::new();
    let mut runner = Runner::start().unwrap();
    for enlarger in [Enlarger::default(), Enlarger::Latent] {
        let request = Request { batch: 2, hires: hires(2.0, 0.7, enlarger), ..tiny.request.clone() };
        let want = run_dumped(&mut runner, &request, &mode(OffloadMode::None));
        assert!(want.tensors.contains_key("denoiser.latents.start"), "{:?}", want.tensors.keys());
        check_every_mode(&mut runner, &request, &want);
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    let mut runner = Runner::of_two_threads().unwrap();
    for enlarger in [Enlarger::default(), Enlarger::Latent] {
        for (memory, dtype, batch) in [
            (card(), ComputeDtype::F32, 1),
            (streamed(card()), ComputeDtype::Bf16, 1),
            (MemoryPreferences { tile: Some(32), ..card() }, ComputeDtype::F32, 2),
        ] {
            let hires = hires(2.0, 0.5, enlarger.clone());
            let request = Request { dtype: Some(dtype), batch, hires, ..starter(256, 4) };
            let ran = run(&mut runner, &request, &memory);
            let ratio = ran.outcome.predicted_device as f64 / ran.outcome.measured_device as f64;
            println!("{enlarger:?} {dtype:?} {batch}: {ratio:.3}");
            for peak in &ran.outcome.stages {
                println!("  {}: {} of {}", peak.stage.name, peak.measured, peak.predicted);
                assert!(peak.measured <= peak.predicted + (peak.predicted >> 6), "{peak:?}");
            }
            assert!((0.98..1.05).contains(&ratio), "{dtype:?} {memory:?}: {ratio:.3}, {:?}", ran.outcome);
            assert_eq!(ran.replanned(), Vec::<String>::new(), "the plan should have held");
        }
    }
}

#[test]
fn both_passes_are_stages_of_one_plan_and_count_as_one_run() {
    let mut runner = Runner::start().unwrap();
    let plain = starter(64, 4);
    let hires = Some(Hires { steps: Some(10), ..hires(2.0, 0.5, Enlarger::default()).unwrap() });
    let request = Request { hires, ..plain.clone() };
    let [whole, first] = [&request, &plain].map(|request| forecast(&runner, request, &card()).plan.unwrap());
    let names: Vec<&str> = whole.stages.iter().map(|stage| stage.stage.name.as_str()).collect();
    assert_eq!(
        names,
        ["Encode", "Denoise", "Decode", "Upscale", "Encode enlarged image", "Denoise again", "Decode"]
    );
    let [small, large] = [1, 5].map(|stage| whole.stages[stage].seconds);
    assert!(large > small && whole.seconds > first.seconds + large, "{small} s and {large} s");
    assert!(whole.peak_device() > first.peak_device());

    let job = Job { previews: true, ..runner.job(request) };
    let ended = runner.run(job).unwrap();
    let (mut count, mut sides) = (0, Vec::new());
    for event in &ended.events {
        match event {
            Event::Step { step, steps, seconds_left, .. } => {
                count += 1;
                assert_eq!((*step, *steps), (count, 9));
                assert!(seconds_left.is_finite() && (*seconds_left > 0.0 || count == 9), "{event:?}");
            }
            Event::Preview { step, media, .. } => {
                sides.push((*step, media[0].first().unwrap().width));
            }
            _ => {}
        }
    }
    assert_eq!(count, 9);
    let width = |step: u32| sides.iter().find(|(own, _)| *own == step).map(|(_, width)| *width);
    if let (Some(small), Some(large)) = (width(4), width(9)) {
        assert_eq!(large, 2 * small, "previews of both passes: {sides:?}");
    }
    let kinds = ended.events.iter().filter_map(|event| match event {
        Event::StageStarted { stage, .. } => Some(stage.kind),
        _ => None,
    });
    assert_eq!(kinds.filter(|kind| *kind == StageKind::Denoise).count(), 2);
}

#[test]
fn a_run_that_was_stopped_in_either_pass_goes_on_to_the_same_image() {
    let mut runner = Runner::start().unwrap();
    for enlarger in [Enlarger::default(), Enlarger::Latent] {
        let request =
            Request { sampler: Sampler::EulerAncestral, hires: hires(2.0, 0.5, enlarger), ..starter(64, 20) };
        let want = images(&mut runner, &request);
        for stop in [5, 25] {
            let folder = tempfile::tempdir().unwrap();
            let journal = Some(folder.path().join("journal"));
            let job = Job { journal: journal.clone(), ..runner.job(request.clone()) };
            let id = job.id;
            runner.send(Command::Generate(Box::new(job))).unwrap();
            while !matches!(runner.event().unwrap(), Event::Step { step, .. } if step >= stop) {}
            runner.send(Command::Cancel { job: id }).unwrap();
            runner.wait(id).unwrap();
            let job = Job { journal, ..runner.job(request.clone()) };
            let ended = runner.run(job).unwrap();
            let steps: Vec<u32> = ended
                .events
                .iter()
                .filter_map(|event| match event {
                    Event::Step { step, .. } => Some(*step),
                    _ => None,
                })
                .collect();
            assert!(steps.first().is_none_or(|first| *first > stop), "{stop}: {steps:?}");
            assert_eq!(ended.pictures().unwrap()[0].media.first(), want.first(), "{stop}");
        }
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut runner = Runner::start().unwrap();
    let mut failure = |request: Request| {
        let job = runner.job(request);
        runner.run(job).unwrap().failure().unwrap()
    };
    let with = |hires| Request { hires: Some(hires), ..starter(64, 4) };
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "no upscaler").unwrap();
    let enlarger = Enlarger::Upscaler(ModelSource::Path(text));
    let wrong = failure(with(Hires { enlarger, ..Hires::default() }));
    assert!(wrong.message.contains("notes.txt") && wrong.advice.is_some(), "{wrong:?}");
    let none = failure(with(Hires { strength: 0.0, ..Hires::default() }));
    assert!(none.message.contains("denoising strength 0 is invalid"), "{none:?}");
    let fixture = Fixture::new("stable_diffusion", "one");
    let sd = fixture.write_diffusers(&folder.path().join("sd")).unwrap();
    let own = Request { steps: 4, ..fixture.run("guided").unwrap().request(&sd) };
    let faint = Some(Hires { strength: 0.01, ..Hires::default() });
    let faint = failure(Request { hires: faint, ..own });
    assert!(faint.message.contains("leaves none of the 4 steps"), "{faint:?}");
    let source = Some(SourceImage::default());
    let changed = failure(Request { source, ..with(Hires::default()) });
    assert!(changed.message.contains("hires fix starts from the prompt"), "{changed:?}");
    let clip = failure(Request { model: ModelSource::StarterClip, frames: 1, ..with(Hires::default()) });
    assert!(clip.message.contains("for images, not for clips"), "{clip:?}");
    let cascade = Fixture::new("stable_cascade", "default");
    let model = cascade.write_diffusers(&folder.path().join("cascade")).unwrap();
    let own = cascade.run("guided").unwrap().request(&model);
    let no_images = failure(Request { hires: Some(Hires::default()), ..own });
    assert!(no_images.message.contains("needs image to image"), "{no_images:?}");
}
