//! Regions: each prompt counts in its part of the image, in every family, under every plan.

use candle_core::Tensor;
use sluice_engine::{
    memory::{DeviceChoice, Estimate, MemoryPreferences, Outcome},
    output::Image,
    request::{Area, ComputeDtype, GuidanceOptions, Hires, Region, Regions, Request},
    session::Event,
};
use sluice_tests::{
    checkpoint::Fixture,
    modes::{check_every_mode_of, check_forecasts_of},
    runner::Runner,
};

use super::support::{attempt, card, forecast, run, starter};

const LEFT: Area = Area::Box([0.0, 0.0, 0.5, 1.0]);
const RIGHT: Area = Area::Box([0.5, 0.0, 0.5, 1.0]);

fn region(prompt: &str, area: Area) -> Region {
    Region { prompt: prompt.to_owned(), area, ..Region::default() }
}

/// Two regions that meet in the middle, sharply, in which the prompt of the image does not count.
fn halves() -> Regions {
    Regions { all: vec![region("a red fox", LEFT), region("two owls", RIGHT)], base: 0.0, fade: 0.0 }
}

fn images(runner: &mut Runner, request: &Request) -> Vec<Image> {
    let pictures = runner.draw(request.clone()).unwrap();
    pictures.iter().map(|picture| picture.media.first().unwrap().clone()).collect()
}

/// The left or the right half of latents.
fn half(latents: &Tensor, is_right: bool) -> Vec<u32> {
    let (last, width) = (latents.rank() - 1, latents.dim(latents.rank() - 1).unwrap());
    assert!(width.is_multiple_of(2), "{:?}", latents.dims());
    let part = latents.narrow(last, if is_right { width / 2 } else { 0 }, width / 2).unwrap();
    let values: Vec<f32> = part.flatten_all().unwrap().to_vec1().unwrap();
    values.into_iter().map(f32::to_bits).collect()
}

/// A step is what the two prompts alone give, half by half: with guidance, images beside the prompt, ControlNets and clips.
#[test]
fn each_half_is_that_of_its_own_prompt_in_every_family() {
    let mut runner = Runner::start().unwrap();
    for (family, case, run) in [
        ("stable_diffusion", "one", "guided"),
        ("stable_diffusion", "one", "steered/guided"),
        ("stable_diffusion", "one", "prompted/both"),
        ("stable_diffusion", "fills_in", "anew"),
        ("sdxl", "base", "guided"),
        ("sd3", "medium", "guided"),
        ("flux", "dev", "horse"),
        ("flux", "dev", "steered/two"),
        ("flux", "dev", "seen_one"),
        ("chroma", "default", "guided"),
        ("longcat", "default", "guided"),
        ("ernie_image", "default", "guided"),
        ("lens", "default", "guided"),
        ("anima", "default", "guided"),
        ("krea2", "default", "guided"),
        ("flux2", "base", "guided"),
        ("hidream", "default", "guided"),
        ("qwen_image", "default", "guided"),
        ("qwen_image_21", "default", "guided"),
        ("z_image", "default", "guided"),
        ("z_image", "default", "steered/guided"),
        ("stable_cascade", "default", "guided"),
        ("wuerstchen", "default", "guided"),
        ("wan", "default", "guided"),
        ("ltx", "default", "guided"),
    ] {
        let (fixture, folder) = (Fixture::new(family, case), tempfile::tempdir().unwrap());
        let model = fixture.write_diffusers(folder.path()).unwrap();
        let run = fixture.run(run).unwrap();
        run.write_beside(&model).unwrap();
        let own = run.request(&model);
        let guiding = GuidanceOptions { rescale: 0.0, ..own.guiding };
        let plain = Request { steps: 1, source: None, width: 64, height: 64, guiding, ..own };
        let mut after = |prompt: &str, regions: Regions| {
            let request = Request { prompt: prompt.to_owned(), regions, ..plain.clone() };
            let dump = runner.dump(request, None).unwrap_or_else(|error| panic!("{family} {case}: {error}"));
            dump.1["step.0.latents"].clone()
        };
        let alone = [after("a red fox", Regions::default()), after("two owls", Regions::default())];
        let both = after("a quiet wood", halves());
        for (is_right, alone) in [false, true].into_iter().zip(&alone) {
            assert!(half(&both, is_right) == half(alone, is_right), "{family} {case}: {is_right}");
        }
        assert!(half(&alone[0], true) != half(&alone[1], true), "{family} {case}: the prompts are alike");
    }
}

#[test]
fn a_region_of_everything_is_the_prompt_of_the_image() {
    let mut runner = Runner::start().unwrap();
    let hires = Some(Hires { scale: 2.0, strength: 0.5, ..Hires::default() });
    let plain = Request { prompt: "a red circle".to_owned(), batch: 2, hires, ..starter(64, 5) };
    let regions = Regions {
        all: vec![region("a red circle", Area::Box([0.0, 0.0, 1.0, 1.0]))],
        base: 0.0,
        ..Regions::default()
    };
    let wanted = images(&mut runner, &plain);
    let with = Request { prompt: "a blue square".to_owned(), regions, ..plain.clone() };
    assert!(images(&mut runner, &with) == wanted);
    let partly = Regions { base: 0.5, ..with.regions.clone() };
    assert!(images(&mut runner, &Request { regions: partly, ..with }) != wanted, "the prompt has its part");
}

#[test]
fn every_mode_gives_the_same_tensors_within_its_budget() {
    for (family, case, run) in [
        ("stable_diffusion", "one", "batch"),
        ("sdxl", "base", "guided"),
        ("flux", "dev", "steered/two"),
        ("z_image", "default", "guided"),
        ("wan", "default", "guided"),
    ] {
        let change = |request: Request| Request { regions: halves(), ..request };
        check_every_mode_of(&Fixture::new(family, case), run, change).unwrap();
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    let change = |request: Request| Request { regions: halves(), ..request };
    for (family, case, run) in [("stable_diffusion", "one", "guided"), ("z_image", "default", "guided")] {
        check_forecasts_of(&Fixture::new(family, case), run, 0.98..1.05, 0.9..1.15, change).unwrap();
    }
    let mut runner = Runner::of_two_threads().unwrap();
    let memory = MemoryPreferences { estimate: Estimate::Formula, ..card() };
    let request = Request { dtype: Some(ComputeDtype::Bf16), regions: halves(), ..starter(128, 4) };
    let Outcome { predicted_device, measured_device, .. } = run(&mut runner, &request, &memory).outcome;
    let ratio = predicted_device as f64 / measured_device as f64;
    println!("{ratio:.3}");
    assert!((0.98..1.15).contains(&ratio), "{predicted_device} and {measured_device}");
}

/// A step has a prediction more for each region, and no weights come a second time.
#[test]
fn regions_take_time_and_no_copies() {
    let runner = Runner::start().unwrap();
    let plain = starter(256, 4);
    let with = Request { regions: halves(), ..plain.clone() };
    let denoise = |request: &Request, memory: &MemoryPreferences| {
        let plan = forecast(&runner, request, memory).plan.unwrap();
        let stage = plan.stages.iter().find(|stage| stage.stage.name == "Denoise").unwrap();
        (stage.seconds, stage.link_bytes)
    };
    let processor = MemoryPreferences { device: DeviceChoice::Processor, ..card() };
    let [(alone, _), (both, _)] = [&plain, &with].map(|request| denoise(request, &processor));
    println!("{alone:.4} s and {both:.4} s");
    assert!(both > 1.8 * alone, "four predictions instead of two");
    let [(_, moved), (_, also)] = [&plain, &with].map(|request| denoise(request, &card()));
    assert_eq!(moved, also, "bytes over the link");
}

#[test]
fn a_mask_that_cannot_be_read_or_is_black_is_said() {
    let (folder, mut runner) = (tempfile::tempdir().unwrap(), Runner::start().unwrap());
    let black = folder.path().join("black.png");
    image::GrayImage::new(8, 8).save(&black).unwrap();
    for (file, words) in
        [(folder.path().join("missing.png"), "cannot be read"), (black, "nothing of the image")]
    {
        let all = vec![region("a fox", Area::Mask(file))];
        let regions = Regions { all, ..Regions::default() };
        let ended = attempt(&mut runner, &Request { regions, ..starter(64, 2) }, &card());
        let failure = ended.events.iter().find_map(|event| match event {
            Event::Failed { failure, .. } => Some(failure.message.clone()),
            _ => None,
        });
        assert!(failure.as_ref().is_some_and(|failure| failure.contains(words)), "{failure:?}");
    }
}
