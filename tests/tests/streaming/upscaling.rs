//! Enlarging: the same pixels under every plan, budgets that hold, accurate predictions.

use std::path::{Path, PathBuf};

use sluice_engine::{
    memory::{MemoryPreferences, OffloadMode, Residence},
    models::open_upscaler,
    output::{Clip, Codec, Image, Media, Output, Settings, read_settings, write_media, write_png},
    request::{ComputeDtype, ModelSource, Request, Upscale},
    session::{Event, Job, StageKind},
};
use sluice_tests::{
    checkpoint::{fixtures, manifest_tensors, save},
    runner::{Runner, story},
};

use super::support::{attempt, card, forecast};

/// How often a run whose peak stayed below its forecast is repeated: in images this small the scratch memory of each
/// thread counts, and on a busy machine the two threads may not have theirs at the same time.
const RUNS_OF_LATE_THREADS: usize = 8;

/// An upscaler of the fixtures, in a file.
fn upscaler(folder: &Path, name: &str) -> ModelSource {
    let tensors = manifest_tensors(&fixtures().join("upscale").join(name)).unwrap().pop_first().unwrap().1;
    let path = folder.join(format!("{name}.safetensors"));
    save(&tensors, &path).unwrap();
    ModelSource::Path(path)
}

/// An image with gradients and edges.
fn image(width: u32, height: u32) -> Image {
    let pixel = |place: u32| {
        let (x, y) = (place % width, place / width);
        [(x * 3 + y) as u8, (y * 5) as u8, if (x / 9 + y / 7) % 2 == 0 { 220 } else { 30 }]
    };
    Image::opaque(width, height, (0..width * height).flat_map(pixel).collect())
}

fn picture(folder: &Path, width: u32, height: u32) -> PathBuf {
    let path = folder.join(format!("{width}x{height}.png"));
    image::save_buffer(&path, &image(width, height).pixels, width, height, image::ColorType::Rgb8).unwrap();
    path
}

fn request(model: &ModelSource, path: &Path, scale: f32) -> Request {
    let upscale = Some(Upscale { path: path.to_owned(), scale });
    Request { model: model.clone(), upscale, ..Request::default() }
}

fn enlarged(runner: &mut Runner, request: &Request, memory: &MemoryPreferences) -> Image {
    let pictures = attempt(runner, request, memory).pictures().unwrap();
    let [picture] = &pictures[..] else { panic!("{} pictures", pictures.len()) };
    picture.media.first().unwrap().clone()
}

/// Tiles of this many pixels a side, which are chosen in latents.
fn tiles(side: u32) -> MemoryPreferences {
    MemoryPreferences { tile: Some(side / 8), ..card() }
}

#[test]
fn every_mode_and_every_tile_gives_the_same_bytes_within_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let path = picture(folder.path(), 75, 61);
    let mut runner = Runner::start().unwrap();
    for name in ["compact_x4", "esrgan_numbered_x2", "esrgan_squares_x2", "span_x2", "swinir_x4"] {
        let request = request(&upscaler(folder.path(), name), &path, 2.0);
        let want = enlarged(&mut runner, &request, &card());
        assert_eq!((want.width, want.height), (150, 122));
        assert!(enlarged(&mut runner, &request, &tiles(32)) == want, "{name} in tiles");
        check_modes(&mut runner, &request, (&want, card()));
    }
}

/// Those that see all of an image give other pixels in tiles.
#[test]
fn upscalers_that_see_everything_give_the_same_bytes_in_every_mode() {
    let folder = tempfile::tempdir().unwrap();
    let path = picture(folder.path(), 43, 29);
    let mut runner = Runner::start().unwrap();
    for name in ["dat_x4", "dat_at_once_x2", "plksr_x4", "plksr_resampled_x2", "hat_x4", "hat_x2"] {
        let request = request(&upscaler(folder.path(), name), &path, 2.0);
        let want = enlarged(&mut runner, &request, &tiles(64));
        check_modes(&mut runner, &request, (&want, tiles(64)));
    }
}

/// Checks that an image is the one that is wanted in every mode, within budgets that hold.
fn check_modes(runner: &mut Runner, request: &Request, (want, memory): (&Image, MemoryPreferences)) {
    for &mode in OffloadMode::ALL {
        let plenty = MemoryPreferences { mode, ..memory.clone() };
        let least = forecast(runner, request, &plenty).least_device.unwrap();
        for budget in [least, least + least / 8] {
            let memory = MemoryPreferences { vram_budget: Some(budget), ..plenty.clone() };
            let ended = attempt(runner, request, &memory);
            let held = ended.events.iter().find_map(|event| match event {
                Event::Outcome { outcome, .. } => Some(outcome.measured_device),
                _ => None,
            });
            let held =
                held.unwrap_or_else(|| panic!("{} {mode:?} within {budget}: {:?}", request.model, ended.end));
            assert!(held <= budget, "{mode:?}: {held} bytes of {budget} were held");
            let got = ended.pictures().unwrap().remove(0).media;
            assert!(got == Media::Image(want.clone()), "{mode:?}: other pixels");
        }
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["compact_x4", "esrgan_x4", "esrgan_squares_x2", "span_x4", "span_whole_x2"];
    let models = names.map(|name| upscaler(folder.path(), name));
    check_forecasts(&[&[ModelSource::Upscaler][..], &models[..]].concat());
}

#[test]
fn forecasts_of_the_peak_of_upscalers_with_windows_come_true() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["swinir_x4", "swinir_at_once_x2", "swinir_jpeg_x1", "hat_x4", "hat_x2"];
    check_forecasts(&names.map(|name| upscaler(folder.path(), name)));
}

#[test]
fn forecasts_of_the_peak_of_upscalers_with_products_come_true() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["dat_x4", "dat_at_once_x2", "plksr_x4", "plksr_resampled_x2"];
    check_forecasts(&names.map(|name| upscaler(folder.path(), name)));
}

fn check_forecasts(models: &[ModelSource]) {
    check_forecasts_in(models, &[ComputeDtype::F32, ComputeDtype::Bf16, ComputeDtype::F16]);
}

fn check_forecasts_in(models: &[ModelSource], dtypes: &[ComputeDtype]) {
    let folder = tempfile::tempdir().unwrap();
    let path = picture(folder.path(), 300, 230);
    let mut runner = Runner::of_two_threads().unwrap();
    let streamed = MemoryPreferences {
        parts: [(
            "upscalers".to_owned(),
            sluice_engine::memory::PartChoice { residence: Some(Residence::Streamed), keep: None },
        )]
        .into(),
        ..card()
    };
    let ways = [
        (card(), ComputeDtype::F32),
        (tiles(64), ComputeDtype::F32),
        (tiles(128), ComputeDtype::Bf16),
        (streamed, ComputeDtype::F16),
    ];
    for model in models {
        for (memory, dtype) in ways.iter().filter(|(_, dtype)| dtypes.contains(dtype)) {
            let request = Request { dtype: Some(*dtype), ..request(model, &path, 3.0) };
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
                println!("{model} {dtype:?} {:?}: {ratio:.3}", memory.tile);
                assert!(ratio >= 0.98, "{model} {dtype:?} {memory:?}: {ratio:.3}, {outcome:?}");
                last = Some(outcome);
                if ratio < 1.05 {
                    break;
                }
            }
            let outcome = last.unwrap();
            assert!(ratio < 1.05, "{model} {dtype:?} {memory:?}: {ratio:.3} at best, {outcome:?}");
            assert_eq!(plan.peak_device(), outcome.predicted_device);
            assert_eq!(plan.stages.len(), 1);
            assert_eq!(plan.stages[0].stage.kind, StageKind::Upscale);
        }
    }
}

/// Networks that see further than tiles do fade at their borders; the difference is small, and said in the plan.
#[test]
fn tiles_of_networks_that_see_far_fade_into_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let tensors =
        manifest_tensors(&fixtures().join("upscale").join("esrgan_x4")).unwrap().pop_first().unwrap().1;
    let mut deep = tensors.clone();
    for number in 1..4 {
        let block = tensors.iter().filter(|(name, _)| name.starts_with("body.0."));
        deep.extend(
            block.map(|(name, tensor)| (name.replace("body.0.", &format!("body.{number}.")), tensor.clone())),
        );
    }
    let file = folder.path().join("deep.safetensors");
    save(&deep, &file).unwrap();
    let network = open_upscaler(&file).unwrap().upscaler().unwrap().network;
    assert!(network.reach() > 48, "{}", network.reach());
    let request = request(&ModelSource::Path(file), &picture(folder.path(), 150, 130), 4.0);
    let mut runner = Runner::start().unwrap();
    let whole = enlarged(&mut runner, &request, &card());
    let tiled = enlarged(&mut runner, &request, &tiles(64));
    let differences = whole.pixels.iter().zip(&tiled.pixels).map(|(one, other)| one.abs_diff(*other));
    let most = differences.max().unwrap();
    println!("at most {most} of 255");
    assert!(most <= 2, "{most}");
    let said = forecast(&runner, &request, &tiles(64)).sentence;
    assert!(said.contains("enlarged in tiles of up to 64×64 pixels"), "{said}");
}

#[test]
fn opacity_is_kept_and_settings_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let (width, height) = (33, 20);
    let opacity: Vec<u8> =
        (0..width * height).map(|place| if place % width < 16 { 255 } else { 40 }).collect();
    let before = Image { opacity, ..image(width, height) };
    let path = folder.path().join("fox.png");
    let made = Request { prompt: "a fox".to_owned(), seed: 77, ..Request::default() };
    let settings = Settings::new(&made, "Starter", "z_image", 0);
    write_png(&path, &Media::Image(before), &settings).unwrap();
    let mut runner = Runner::start().unwrap();
    let output = folder.path().join("fox-large.png");
    let model = upscaler(folder.path(), "compact_x4");
    let job = runner.job(request(&model, &path, 1.5));
    let id = job.id;
    let ended = runner.run(Job { output: Some(Output::File(output.clone())), ..job }).unwrap();
    let told = story(&ended.events, id);
    assert!(told.contains(&"step 1 of 1".to_owned()), "{told:?}");
    let read = image::open(&output).unwrap();
    assert!(read.color().has_alpha());
    let read = read.into_rgba8();
    assert_eq!(read.dimensions(), (50, 30));
    assert_eq!([read.get_pixel(5, 20)[3], read.get_pixel(45, 20)[3]], [255, 40]);
    let kept = read_settings(&output).unwrap().settings;
    assert_eq!(kept.request, made);
    assert_eq!(kept.seed, 77);
    let [enlargement] = &kept.enlarged[..] else { panic!("{:?}", kept.enlarged) };
    assert_eq!((enlargement.upscaler.as_str(), enlargement.scale), ("compact_x4", 1.5));
    assert!(kept.parameters().contains("Postprocess upscale by: 1.5, Postprocess upscaler: compact_x4"));
    // A second time, from the result.
    let again = folder.path().join("again.png");
    let job = runner.job(request(&model, &output, 2.0));
    runner.run(Job { output: Some(Output::File(again.clone())), ..job }).unwrap().pictures().unwrap();
    assert_eq!(read_settings(&again).unwrap().settings.enlarged.len(), 2);
}

#[test]
fn clips_are_enlarged_frame_by_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clip.mp4");
    let frames: Vec<Image> = (0..5)
        .map(|number| {
            let mut frame = image(64, 48);
            frame.pixels.iter_mut().for_each(|pixel| *pixel = pixel.saturating_add(10 * number));
            frame
        })
        .collect();
    let clip = Media::Clip(Clip::silent(frames, 12.5));
    let settings = Settings::new(&Request::default(), "", "", 0);
    write_media(&path, &clip, &settings, Codec::H264).unwrap();
    let mut runner = Runner::of_two_threads().unwrap();
    let request = request(&upscaler(folder.path(), "compact_x4"), &path, 2.0);
    let plan = forecast(&runner, &request, &tiles(32)).plan.unwrap();
    assert!(plan.seconds > 0.0);
    let ended = attempt(&mut runner, &request, &tiles(32));
    let last = ended.events.iter().rev().find_map(|event| match event {
        Event::Step { step, steps, .. } => Some((*step, *steps)),
        _ => None,
    });
    assert_eq!(last, Some((20, 20)), "four tiles of five frames");
    let Media::Clip(clip) = ended.pictures().unwrap().remove(0).media else { panic!("no clip") };
    assert_eq!((clip.frames.len(), clip.rate), (5, 12.5));
    assert!(clip.frames.iter().all(|frame| (frame.width, frame.height) == (128, 96)));
    assert!(clip.frames[0] != clip.frames[4]);
}

#[test]
fn what_cannot_be_enlarged_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = picture(folder.path(), 40, 30);
    let model = upscaler(folder.path(), "span_x2");
    let mut runner = Runner::start().unwrap();
    let mut refused = |request: &Request| {
        let failure = attempt(&mut runner, request, &card()).failure().unwrap();
        format!("{} {}", failure.message, failure.advice.unwrap_or_default())
    };
    let said = refused(&request(&model, &path, 5.0));
    assert!(said.contains("between 1 and 4"), "{said}");
    let said = refused(&Request { model: model.clone(), ..Request::default() });
    assert!(said.contains("enlarges images and generates none"), "{said}");
    let said = refused(&request(&model, &folder.path().join("no.png"), 2.0));
    assert!(said.contains("no.png"), "{said}");
    std::fs::write(folder.path().join("x4.pth"), b"PK").unwrap();
    let pickle = ModelSource::Path(folder.path().join("x4.pth"));
    let said = refused(&request(&pickle, &path, 2.0));
    assert!(said.contains("pickle") && said.contains("convert"), "{said}");
    let said = refused(&request(&ModelSource::Starter, &path, 2.0));
    assert!(said.contains("it is a folder"), "{said}");
    let large = picture(folder.path(), 5000, 1);
    let said = refused(&request(&model, &large, 4.0));
    assert!(said.contains("width 20000 is too large"), "{said}");
}

/// The forecast alone: the run itself takes minutes, and docs/benchmarks.md has what it measured.
#[test]
fn an_8k_image_fits_two_gigabytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = picture(folder.path(), 1920, 1080);
    let runner = Runner::start().unwrap();
    let request = request(&ModelSource::Upscaler, &path, 4.0);
    for (budget, is_cut) in [(2 << 30, false), (512 << 20, true)] {
        let memory = MemoryPreferences { vram_budget: Some(budget), ..MemoryPreferences::default() };
        let plan = forecast(&runner, &request, &memory).plan.unwrap();
        assert!(plan.peak_device() <= budget, "{} of {budget}", plan.peak_device());
        assert_eq!(plan.stages[0].uses[0].tile.is_some(), is_cut, "{budget}");
    }
}
