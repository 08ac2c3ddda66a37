//! Detailers: each box is inpainted as a request with a mask does, under every plan, and in two halves of a run.

use std::path::{Path, PathBuf};

use sluice_engine::{
    memory::{Estimate, MemoryPreferences, OffloadMode, Outcome},
    output::Image,
    request::{
        BoxOrder, ComputeDtype, Detailer, Enlarger, Hires, ModelSource, Request, RequestError, Sampler,
        SourceImage, SourceMask, Upscale,
    },
    session::{Command, Event, Job, StageKind},
};
use sluice_tests::{
    checkpoint::Fixture,
    detect::{write, write_plain},
    runner::{self, Runner},
};

use super::support::{Tiny, attempt, card, forecast, run, starter};

/// A folder with detectors of random weights, which find much in any image.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write_plain(&folder.path().join("face.safetensors")).unwrap();
        write(&folder.path().join("person-seg.safetensors")).unwrap();
        Self { folder }
    }

    fn detailer(&self, file: &str, most: u32) -> Detailer {
        Detailer { most, strength: 0.6, padding: 8, ..Detailer::new(self.folder.path().join(file)) }
    }

    fn face(&self, most: u32) -> Detailer {
        self.detailer("face.safetensors", most)
    }

    fn person(&self, most: u32) -> Detailer {
        self.detailer("person-seg.safetensors", most)
    }
}

fn images(runner: &mut Runner, request: &Request) -> Vec<Image> {
    let pictures = runner.draw(request.clone()).unwrap();
    pictures.iter().map(|picture| picture.media.first().unwrap().clone()).collect()
}

fn with(detailers: &[Detailer], request: Request) -> Request {
    Request { detailers: detailers.to_vec(), ..request }
}

fn saved(path: PathBuf, image: &Image) -> PathBuf {
    let Image { pixels, width, height, .. } = image;
    image::save_buffer(&path, pixels, *width, *height, image::ColorType::Rgb8).unwrap();
    path
}

/// The smallest box around the pixels that differ: left, top, right and bottom.
fn changed(one: &Image, other: &Image) -> [u32; 4] {
    let pairs = one.pixels.chunks(3).zip(other.pixels.chunks(3)).enumerate();
    let places = pairs.filter(|(_, (one, other))| one != other).map(|(place, _)| place as u32);
    places.fold([u32::MAX, u32::MAX, 0, 0], |[left, top, right, bottom], place| {
        let (x, y) = (place % one.width, place / one.width);
        [left.min(x), top.min(y), right.max(x + 1), bottom.max(y + 1)]
    })
}

/// Inpaints a box in a request of its own.
fn inpainted(
    runner: &mut Runner,
    folder: &Path,
    (image, [left, top, right, bottom]): (&Image, [u32; 4]),
    (request, detailer): (&Request, &Detailer),
) -> Image {
    let is_in = |x: u32, y: u32| (left..right).contains(&x) && (top..bottom).contains(&y);
    let shade = |x: u32, y: u32| image::Rgb([if is_in(x, y) { 255 } else { 0 }; 3]);
    let path = folder.join("mask.png");
    image::RgbImage::from_fn(image.width, image.height, shade).save(&path).unwrap();
    let only_masked = Some(detailer.padding);
    let mask = Some(SourceMask { path, blur: detailer.blur, only_masked, keeps_the_rest: true });
    let path = saved(folder.join("image.png"), image);
    let source = Some(SourceImage { path, strength: detailer.strength, mask, ..SourceImage::default() });
    images(runner, &Request { source, detailers: Vec::new(), ..request.clone() }).remove(0)
}

#[test]
fn a_box_is_inpainted_as_a_request_with_its_mask_does() {
    let (files, mut runner) = (Files::new(), Runner::start().unwrap());
    for (order, sampler) in [
        (BoxOrder::Largest, Sampler::EulerAncestral),
        (BoxOrder::Surest, Sampler::Euler),
        (BoxOrder::MiddleFirst, Sampler::Euler),
    ] {
        let detailer = Detailer { order, grow: 0, blur: 0, ..files.face(1) };
        let plain = Request { sampler, ..starter(128, 5) };
        let before = images(&mut runner, &plain).remove(0);
        let after = images(&mut runner, &with(std::slice::from_ref(&detailer), plain.clone())).remove(0);
        let area = changed(&before, &after);
        println!("{order:?}: {area:?}");
        assert!(area[0] < area[2], "nothing was inpainted");
        let alone = inpainted(&mut runner, files.folder.path(), (&before, area), (&plain, &detailer));
        assert!(alone == after, "{order:?}: other pixels than in a request of its own");
    }
}

#[test]
fn what_is_found_grows_and_has_a_shape() {
    let (files, mut runner) = (Files::new(), Runner::start().unwrap());
    let plain = starter(128, 4);
    let before = images(&mut runner, &plain).remove(0);
    let mut area = |detailer: Detailer| {
        let after = images(&mut runner, &with(&[detailer], plain.clone())).remove(0);
        let places = before.pixels.chunks(3).zip(after.pixels.chunks(3));
        (changed(&before, &after), places.filter(|(one, other)| one != other).count() as u32)
    };
    let small = |detailer| Detailer { grow: 0, blur: 0, order: BoxOrder::LeftToRight, ..detailer };
    let (narrow, _) = area(small(files.face(1)));
    let (wide, _) = area(Detailer { grow: 3, ..small(files.face(1)) });
    let grown = [0, 1].map(|side: usize| narrow[side].saturating_sub(3));
    let ends = [2, 3].map(|side: usize| (narrow[side] + 3).min(128));
    assert_eq!(wide, [grown[0], grown[1], ends[0], ends[1]], "{narrow:?}");
    let ((_, boxes), (_, shapes)) = (area(small(files.face(10))), area(small(files.person(10))));
    println!("{narrow:?}; boxes have {boxes} pixels, shapes {shapes}");
    assert!(0 < shapes && shapes < boxes, "shapes have fewer pixels than their boxes");
}

#[test]
fn nothing_that_is_found_leaves_the_image_as_it_is() {
    let (files, mut runner) = (Files::new(), Runner::start().unwrap());
    let plain = Request { batch: 2, ..starter(64, 4) };
    let never = Detailer { confidence: 0.999_999, ..files.face(3) };
    let before = images(&mut runner, &plain);
    assert!(images(&mut runner, &with(&[never.clone(), never], plain)) == before);
}

#[test]
fn each_image_of_a_batch_is_the_one_that_is_made_alone() {
    let (files, mut runner) = (Files::new(), Runner::start().unwrap());
    let detailers = [files.face(2), Detailer { prompt: "a smiling face".to_owned(), ..files.person(1) }];
    let request = with(&detailers, Request { batch: 2, sampler: Sampler::EulerAncestral, ..starter(64, 4) });
    let whole = images(&mut runner, &request);
    for (index, image) in whole.iter().enumerate() {
        assert!(images(&mut runner, &request.alone(index as u32))[0] == *image, "image {index}");
    }
    let plain = Detailer { prompt: String::new(), ..detailers[1].clone() };
    let other = with(&[detailers[0].clone(), plain], request);
    assert!(images(&mut runner, &other) != whole, "its own prompt counts");
}

#[test]
fn boxes_are_found_in_the_enlarged_image() {
    let (files, mut runner) = (Files::new(), Runner::start().unwrap());
    let folder = files.folder.path();
    let hires = Some(Hires { scale: 2.0, strength: 0.5, steps: None, enlarger: Enlarger::default() });
    let detailer = Detailer { grow: 0, blur: 0, ..files.face(1) };
    let plain = Request { hires, ..starter(64, 4) };
    let before = images(&mut runner, &plain).remove(0);
    let after = images(&mut runner, &with(std::slice::from_ref(&detailer), plain.clone())).remove(0);
    assert_eq!((after.width, after.height), (128, 128));
    let own = Request { hires: None, ..plain };
    let area = changed(&before, &after);
    assert!(inpainted(&mut runner, folder, (&before, area), (&own, &detailer)) == after);
}

#[test]
fn an_image_that_exists_is_changed_where_something_is_found() {
    let (files, mut runner) = (Files::new(), Runner::start().unwrap());
    let folder = files.folder.path();
    let plain = starter(128, 5);
    let before = images(&mut runner, &plain).remove(0);
    let path = saved(folder.join("before.png"), &before);
    let detailers = [files.face(2), files.person(1)];
    let request = with(&detailers, Request { detail_of: Some(path), ..plain.clone() });
    let plan = forecast(&runner, &request, &card()).plan.unwrap();
    let names: Vec<&str> = plan.stages.iter().map(|stage| stage.stage.name.as_str()).collect();
    let each = ["Detect", "Encode image", "Encode", "Detail", "Decode"];
    assert_eq!(names, [each, each].concat());
    assert!(images(&mut runner, &request) == images(&mut runner, &with(&detailers, plain)));
    // Boxes are inpainted in the size of the request, whatever the size of the image.
    let larger = Upscale { path: folder.join("before.png"), scale: 2.0 };
    let upscale = Request { model: ModelSource::Upscaler, upscale: Some(larger), ..Request::default() };
    let larger = images(&mut runner, &upscale).remove(0);
    let path = saved(folder.join("larger.png"), &larger);
    let after = images(&mut runner, &Request { detail_of: Some(path), ..request }).remove(0);
    assert_eq!((after.width, after.height), (256, 256));
    assert!(after != larger);
}

#[test]
fn every_mode_gives_the_same_pixels_within_its_budget() {
    let (tiny, files) = (Tiny::new(), Files::new());
    let mut runner = Runner::start().unwrap();
    let detailers = [files.person(2), Detailer { prompt: "a hand".to_owned(), ..files.face(1) }];
    let request = with(&detailers, Request { batch: 2, ..tiny.request.clone() });
    let image = |ended: runner::Outcome| -> Vec<Image> {
        let pictures = ended.pictures().unwrap();
        pictures.iter().map(|picture| picture.media.first().unwrap().clone()).collect()
    };
    let want = image(attempt(&mut runner, &request, &card()));
    for &mode in OffloadMode::ALL {
        let plenty = MemoryPreferences { mode, ..card() };
        let least = forecast(&runner, &request, &plenty).least_device.unwrap();
        let memory = MemoryPreferences { vram_budget: Some(least), ..plenty };
        let ended = attempt(&mut runner, &request, &memory);
        let held = ended.events.iter().find_map(|event| match event {
            Event::Outcome { outcome, .. } => Some(outcome.measured_device),
            _ => None,
        });
        assert!(held.unwrap() <= least, "{mode:?}: {held:?} bytes of {least} were held");
        assert!(image(ended) == want, "{mode:?}: other pixels");
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    let files = Files::new();
    let mut runner = Runner::of_two_threads().unwrap();
    for (estimate, dtype, batch) in [
        (Estimate::Formula, ComputeDtype::F32, 1),
        (Estimate::Formula, ComputeDtype::Bf16, 2),
        (Estimate::Dryrun, ComputeDtype::F32, 1),
    ] {
        let memory = MemoryPreferences { estimate, ..card() };
        let request = with(&[files.face(3)], Request { dtype: Some(dtype), batch, ..starter(128, 4) });
        let ran = run(&mut runner, &request, &memory);
        for peak in &ran.outcome.stages {
            println!("{estimate:?} {dtype:?} {}: {} of {}", peak.stage.name, peak.measured, peak.predicted);
            assert!(peak.measured <= peak.predicted + (peak.predicted >> 6), "{peak:?}");
        }
        let Outcome { predicted_device, measured_device, .. } = ran.outcome;
        let ratio = predicted_device as f64 / measured_device as f64;
        println!("{ratio:.3}");
        assert!((0.98..1.15).contains(&ratio), "{predicted_device} and {measured_device}");
        assert_eq!(ran.replanned(), Vec::<String>::new(), "the plan should have held");
    }
}

#[test]
fn detailers_are_stages_of_one_plan_and_their_steps_count() {
    let (files, mut runner) = (Files::new(), Runner::start().unwrap());
    let detailers = [files.face(3), Detailer { prompt: "a hand".to_owned(), ..files.person(2) }];
    let request = with(&detailers, starter(64, 5));
    let plan = forecast(&runner, &request, &card()).plan.unwrap();
    let names: Vec<&str> = plan.stages.iter().map(|stage| stage.stage.name.as_str()).collect();
    let first = ["Encode", "Denoise", "Decode", "Detect", "Encode image", "Detail", "Decode"];
    let second = ["Detect", "Encode image", "Encode", "Detail", "Decode"];
    assert_eq!(names, [&first[..], &second[..]].concat());
    let plain = forecast(&runner, &starter(64, 5), &card()).plan.unwrap();
    assert!(plan.seconds > plain.seconds);

    let job = Job { previews: true, ..runner.job(request) };
    let ended = runner.run(job).unwrap();
    let (mut count, mut last, mut sizes) = (0, 0, Vec::new());
    for event in &ended.events {
        match event {
            Event::Step { step, steps, seconds_left, .. } => {
                count += 1;
                assert_eq!(*step, count);
                assert!(*step <= *steps && seconds_left.is_finite(), "{event:?}");
                last = *steps;
            }
            Event::Preview { step, media, .. } if *step > 5 => {
                sizes.push((media.len(), media[0].first().unwrap().width));
            }
            _ => {}
        }
    }
    // Three steps of five for each of three and two boxes.
    assert_eq!((count, last), (5 + 3 * (3 + 2), 5 + 3 * (3 + 2)));
    assert!(sizes.iter().all(|size| *size == (1, 64)), "previews are of the whole image: {sizes:?}");
    let count = |kind: StageKind| {
        let is_it = |event: &&Event| matches!(event, Event::StageStarted { stage, .. } if stage.kind == kind);
        let ends = |event: &&Event| matches!(event, Event::StageFinished { stage, .. } if stage.kind == kind);
        [ended.events.iter().filter(is_it).count(), ended.events.iter().filter(ends).count()]
    };
    assert_eq!([count(StageKind::Denoise), count(StageKind::Detect)], [[3, 3], [2, 2]]);
}

#[test]
fn a_run_that_was_stopped_while_boxes_were_inpainted_goes_on_to_the_same_image() {
    let (files, mut runner) = (Files::new(), Runner::start().unwrap());
    let detailers = [files.face(3), files.person(2)];
    let request = with(&detailers, Request { sampler: Sampler::EulerAncestral, ..starter(64, 10) });
    let want = images(&mut runner, &request);
    for stop in [5, 14, 30] {
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
        let first = ended.events.iter().find_map(|event| match event {
            Event::Step { step, .. } => Some(*step),
            _ => None,
        });
        assert!(first.is_none_or(|first| first > stop), "{stop}: {first:?}");
        assert_eq!(ended.pictures().unwrap()[0].media.first(), want.first(), "{stop}");
    }
}

#[test]
fn every_family_that_inpaints_has_them() {
    let (files, mut runner) = (Files::new(), Runner::start().unwrap());
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
        let plain =
            Request { width: 64, height: 64, steps: 4, batch: 1, dtype: Some(ComputeDtype::F32), ..own };
        let plain = Request { refiner: None, ..plain };
        let detailer = Detailer { grow: 0, blur: 0, ..files.face(1) };
        let before = images(&mut runner, &plain).remove(0);
        let after = images(&mut runner, &with(std::slice::from_ref(&detailer), plain.clone())).remove(0);
        let area = changed(&before, &after);
        assert!(area[0] < area[2], "{family}: nothing was inpainted");
        let alone = inpainted(&mut runner, folder.path(), (&before, area), (&plain, &detailer));
        assert!(alone == after, "{family}: other pixels than in a request of its own");
    }
}

/// What is read beside the prompt acts in boxes, too; what is shaped like the whole image does not.
#[test]
fn image_prompts_act_in_boxes_and_control_nets_do_not() {
    let (files, mut runner) = (Files::new(), Runner::start().unwrap());
    for run in ["prompted/both", "prompted/plain", "steered/guided"] {
        let folder = tempfile::tempdir().unwrap();
        let fixture = Fixture::new("stable_diffusion", "one");
        let run = fixture.run(run).unwrap();
        let model = fixture.write_diffusers(folder.path()).unwrap();
        run.write_beside(&model).unwrap();
        let (steps, batch) = (4, 1);
        let plain = Request { width: 64, height: 64, steps, batch, source: None, ..run.request(&model) };
        let detailer = Detailer { grow: 0, blur: 0, ..files.face(1) };
        let before = images(&mut runner, &plain).remove(0);
        let after = images(&mut runner, &with(std::slice::from_ref(&detailer), plain.clone())).remove(0);
        let area = changed(&before, &after);
        assert!(area[0] < area[2], "nothing was inpainted");
        let own = Request { control_nets: Vec::new(), ..plain };
        let alone = inpainted(&mut runner, folder.path(), (&before, area), (&own, &detailer));
        assert!(alone == after, "other pixels than in a request of its own");
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let files = Files::new();
    let mut runner = Runner::start().unwrap();
    let mut failure = |request: Request| {
        let job = runner.job(request);
        runner.run(job).unwrap().failure().unwrap()
    };
    let pickle = files.folder.path().join("face_yolov8n.pt");
    std::fs::write(&pickle, b"PK\x03\x04archive").unwrap();
    let wrong = failure(with(&[Detailer::new(pickle)], starter(64, 4)));
    assert!(wrong.message.contains("is a pickle file"), "{wrong:?}");
    assert!(wrong.advice.unwrap().contains("docs/detailer.md"));
    let text = files.folder.path().join("notes.txt");
    std::fs::write(&text, "no detector").unwrap();
    let wrong = failure(with(&[Detailer::new(text)], starter(64, 4)));
    assert!(wrong.message.contains("notes.txt") && wrong.advice.is_some(), "{wrong:?}");
    let face = files.face(1);
    let clip = with(std::slice::from_ref(&face), starter(64, 4));
    let clip = failure(Request { model: ModelSource::StarterClip, ..clip });
    assert!(clip.message.contains(&RequestError::DetailerOfClip.to_string()), "{clip:?}");
    let alone = failure(Request { model: ModelSource::Path(face.model.clone()), ..starter(64, 4) });
    assert!(alone.message.contains(&RequestError::OnlyDetects.to_string()), "{alone:?}");
    let prompt = "a face <lora:nobody:0.5>".to_owned();
    let lora = failure(with(&[Detailer { prompt, ..face.clone() }], starter(64, 4)));
    assert!(lora.message.contains("names the LoRA nobody"), "{lora:?}");
    let fixture = Fixture::new("stable_diffusion", "one");
    let sd = fixture.write_diffusers(&files.folder.path().join("sd")).unwrap();
    let own = Request { steps: 4, ..fixture.run("guided").unwrap().request(&sd) };
    let faint = failure(with(&[Detailer { strength: 0.01, ..face.clone() }], own));
    assert!(faint.message.contains("leaves none of the 4 steps"), "{faint:?}");
    let missing = Request { detail_of: Some("/nowhere/fox.png".into()), ..starter(64, 4) };
    assert!(failure(with(std::slice::from_ref(&face), missing)).message.contains("fox.png"));
    let cascade = Fixture::new("stable_cascade", "default");
    let model = cascade.write_diffusers(&files.folder.path().join("cascade")).unwrap();
    let own = cascade.run("guided").unwrap().request(&model);
    let none = failure(with(&[face], own));
    assert!(none.message.contains(&RequestError::NoDetailing.to_string()), "{none:?}");
}
