//! Control of clips in Wan VACE: maps that are made of a control clip, and control in some of the steps.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sluice_engine::{
    memory::{MemoryPreferences, OffloadMode, Residence, StageKind},
    output::Image,
    request::{Control, MapOf, ModelSource, Preprocessor, Request},
    session::Job,
    source::{mapped, read},
};
use sluice_tests::{
    checkpoint::Fixture,
    clips::write_frames,
    estimators::write_all,
    golden::compare,
    modes::{check_every_mode_of, forecast},
    original_names::Tensors,
    runner::Runner,
};

/// What the network reads of a control clip, and the latents of both steps.
const READ: &str = "source.beside";
const STEPS: [&str; 2] = ["step.0.latents", "step.1.latents"];

/// The request of a run that a clip with edges and colours controls. Writes the model and the clip.
fn controlled(run: &str, folder: &Path) -> Request {
    let fixture = Fixture::new("wan", "control");
    let model = folder.join("model");
    fs::create_dir(&model).unwrap();
    let model = fixture.write_diffusers(&model).unwrap();
    let request = fixture.run(run).unwrap().request(&model);
    let clip = folder.join("clip");
    write_frames(&clip, request.frames, [request.width, request.height]).unwrap();
    changed(&request, |control| Control { video: Some(clip.clone()), ..control })
}

fn changed(request: &Request, change: impl Fn(Control) -> Control) -> Request {
    Request { control: request.control.clone().map(change), ..request.clone() }
}

/// The images of a clip that is a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

/// Writes a clip as a new folder of images.
fn write(folder: PathBuf, frames: &[Image]) -> PathBuf {
    fs::create_dir(&folder).unwrap();
    for (number, frame) in frames.iter().enumerate() {
        let file = folder.join(format!("{number:03}.png"));
        let colours = image::ColorType::Rgb8;
        image::save_buffer(file, &frame.pixels, frame.width, frame.height, colours).unwrap();
    }
    folder
}

/// The map of an image, made alone.
fn map(runner: &mut Runner, request: &Request, preprocessor: Preprocessor, image: &Path) -> Image {
    let Some(kind) = preprocessor.estimated() else { return mapped(read(image).unwrap(), preprocessor) };
    let model = ModelSource::Path(request.estimators[&kind].clone());
    let map_of = Some(MapOf { kind, image: image.to_owned() });
    let pictures = runner.draw(Request { model, map_of, ..Request::default() }).unwrap();
    pictures[0].media.first().unwrap().clone()
}

fn dump(runner: &mut Runner, request: &Request) -> Tensors {
    runner.dump(request.clone(), None).unwrap().1
}

/// Checks that these tensors of two runs are the same.
fn assert_same(what: &str, names: &[&str], one: &Tensors, other: &Tensors) {
    for name in names {
        compare(name, one, other, 0.0).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
}

fn differ(name: &str, one: &Tensors, other: &Tensors) -> bool {
    compare(name, one, other, 1e-6).is_err()
}

#[test]
fn maps_of_a_control_clip_are_those_of_its_frames() {
    let folder = tempfile::tempdir().unwrap();
    let estimators = write_all(folder.path()).unwrap();
    let request = Request { estimators, ..controlled("references", folder.path()) };
    let frames = files(request.control.as_ref().unwrap().video.as_ref().unwrap());
    let mut runner = Runner::start().unwrap();
    let plain = dump(&mut runner, &request);
    for preprocessor in Preprocessor::of_clips().filter(|made| *made != Preprocessor::None) {
        let maps: Vec<Image> =
            frames.iter().map(|frame| map(&mut runner, &request, preprocessor, frame)).collect();
        let maps = write(folder.path().join(preprocessor.name()), &maps);
        let given = changed(&request, |control| Control { video: Some(maps.clone()), ..control });
        let made = changed(&request, |control| Control { preprocessor, ..control });
        let (given, made) = (dump(&mut runner, &given), dump(&mut runner, &made));
        let name = preprocessor.name();
        assert_same(name, &[READ, STEPS[0], STEPS[1]], &given, &made);
        assert!(differ(READ, &plain, &made), "{name} changes nothing");
    }
}

/// Where the mask is black, the pixels of the clip itself stay.
#[test]
fn a_mask_keeps_the_frames_and_not_their_maps() {
    let folder = tempfile::tempdir().unwrap();
    let estimators = write_all(folder.path()).unwrap();
    let request = Request { estimators, ..controlled("masked", folder.path()) };
    let control = request.control.clone().unwrap();
    let (frames, masks) = (files(&control.video.unwrap()), files(&control.mask.unwrap()));
    let mut runner = Runner::start().unwrap();
    for preprocessor in [Preprocessor::Canny, Preprocessor::Depth] {
        let mut mixed = |(frame, mask): (&PathBuf, &PathBuf)| {
            let (own, mask) = (read(frame).unwrap(), read(mask).unwrap());
            let mut map = map(&mut runner, &request, preprocessor, frame);
            assert_eq!([own.width, own.height], [mask.width, mask.height]);
            for (place, value) in map.pixels.iter_mut().enumerate() {
                if mask.pixels[place] < 128 {
                    *value = own.pixels[place];
                }
            }
            map
        };
        let mixed: Vec<Image> = frames.iter().zip(&masks).map(&mut mixed).collect();
        let mixed = write(folder.path().join(preprocessor.name()), &mixed);
        let given = changed(&request, |control| Control { video: Some(mixed.clone()), ..control });
        let made = changed(&request, |control| Control { preprocessor, ..control });
        let (given, made) = (dump(&mut runner, &given), dump(&mut runner, &made));
        assert_same(preprocessor.name(), &[READ, STEPS[0], STEPS[1]], &given, &made);
    }
}

/// Outside of its start and end, control is as if it had no strength.
#[test]
fn control_counts_between_its_start_and_end() {
    let folder = tempfile::tempdir().unwrap();
    let request = controlled("masked", folder.path());
    let mut runner = Runner::start().unwrap();
    let mut with = |strength: f32, [start, end]: [f64; 2]| {
        let request = changed(&request, |control| Control { strength, start, end, ..control });
        dump(&mut runner, &request)
    };
    let (whole, none) = (with(0.7, [0.0, 1.0]), with(0.0, [0.0, 1.0]));
    let (first, second, outside) = (with(0.7, [0.0, 0.5]), with(0.7, [0.5, 1.0]), with(0.7, [0.3, 0.4]));
    assert!(differ(STEPS[0], &whole, &none), "control has no effect");
    assert_same("up to the middle", &STEPS[..1], &whole, &first);
    assert!(differ(STEPS[1], &whole, &first), "the second step is controlled");
    assert_same("from the middle on", &STEPS[..1], &none, &second);
    assert!(differ(STEPS[1], &none, &second), "the second step is not controlled");
    assert_same("in no step", &STEPS, &none, &outside);
    let half = changed(&request, |control| Control { end: 0.5, ..control });
    let streamed = MemoryPreferences {
        mode: OffloadMode::LayerStreaming,
        denoiser: Some(Residence::OnDemand),
        ..MemoryPreferences::default()
    };
    let [whole, streamed] = [MemoryPreferences::default(), streamed].map(|memory| {
        let job = Job { memory, ..runner.job(half.clone()) };
        let pictures = runner.run(job).unwrap().pictures().unwrap();
        pictures[0].media.clone()
    });
    assert_eq!(whole, streamed, "blocks that a step leaves out are not streamed in it");
}

#[test]
fn forecasts_count_maps_and_the_steps_that_are_controlled() {
    let folder = tempfile::tempdir().unwrap();
    let estimators = write_all(folder.path()).unwrap();
    let request = Request { estimators, ..controlled("masked", folder.path()) };
    let runner = Runner::start().unwrap();
    let stages = |request: &Request| {
        let plan = forecast(&runner, request, &MemoryPreferences::default()).unwrap().plan.unwrap();
        plan.stages.iter().map(|stage| (stage.stage.kind, stage.seconds)).collect::<Vec<_>>()
    };
    let seconds = |request: &Request| stages(request).iter().map(|(_, seconds)| seconds).sum::<f64>();
    let half = changed(&request, |control| Control { end: 0.5, ..control });
    assert!(seconds(&half) < seconds(&request), "steps without control take as long");
    let depth = changed(&request, |control| Control { preprocessor: Preprocessor::Depth, ..control });
    let short = Request { frames: 5, ..depth.clone() };
    let maps = |request: &Request| match stages(request)[0] {
        (StageKind::Preprocess, seconds) => seconds,
        (other, _) => panic!("{other:?} is the first stage"),
    };
    let (short, long) = (maps(&short), maps(&depth));
    assert!(1.2 * short < long, "{short} s for 5 frames, {long} for 9");
}

#[test]
fn every_mode_draws_the_same_bytes_within_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let estimators = write_all(folder.path()).unwrap();
    let fixture = Fixture::new("wan", "control");
    let with = |request: Request, preprocessor| {
        let request = Request { estimators: estimators.clone(), ..request };
        changed(&request, |control| Control { preprocessor, ..control })
    };
    check_every_mode_of(&fixture, "masked", |request| with(request, Preprocessor::Canny)).unwrap();
    check_every_mode_of(&fixture, "references", |request| with(request, Preprocessor::SoftEdge)).unwrap();
}
