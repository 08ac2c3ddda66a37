//! Depth maps: the same pixels under every plan, budgets that hold, accurate predictions.

use std::path::{Path, PathBuf};

use sluice_engine::{
    memory::{MemoryPreferences, OffloadMode},
    output::{Image, Media},
    request::{ModelSource, Request, RequestError},
    session::{Event, StageKind},
};
use sluice_tests::{
    depth::{write, write_wide},
    runner::Runner,
};

use super::support::{attempt, card, forecast};

/// How often a run whose peak stayed below its forecast is repeated, because threads may not have their scratch memory at
/// the same time.
const RUNS_OF_LATE_THREADS: usize = 8;

fn request(folder: &Path, write: fn(&Path) -> anyhow::Result<()>, [width, height]: [u32; 2]) -> Request {
    let file = folder.join("depth.safetensors");
    write(&file).unwrap();
    let path = folder.join(format!("{width}x{height}.png"));
    let shade = |x: u32, y: u32| image::Rgb([(x * 3 + y) as u8, (y * 5) as u8, 200]);
    image::RgbImage::from_fn(width, height, shade).save(&path).unwrap();
    Request { model: ModelSource::Path(file), depth_of: Some(path), ..Request::default() }
}

fn map(runner: &mut Runner, request: &Request, memory: &MemoryPreferences) -> Image {
    let pictures = attempt(runner, request, memory).pictures().unwrap();
    pictures[0].media.first().unwrap().clone()
}

#[test]
fn every_mode_gives_the_same_map_within_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let request = request(folder.path(), write, [90, 60]);
    let mut runner = Runner::start().unwrap();
    let want = map(&mut runner, &request, &card());
    assert_eq!((want.width, want.height), (90, 60));
    let shades: Vec<u8> = want.pixels.iter().copied().step_by(3).collect();
    let (least, most) = (shades.iter().min().unwrap(), shades.iter().max().unwrap());
    assert!(most - least > 150, "from {least} to {most}");
    assert!(want.pixels.chunks(3).all(|pixel| pixel[0] == pixel[1] && pixel[1] == pixel[2]));
    for &mode in OffloadMode::ALL {
        let plenty = MemoryPreferences { mode, ..card() };
        let least = forecast(&runner, &request, &plenty).least_device.unwrap();
        let memory = MemoryPreferences { vram_budget: Some(least), ..plenty };
        let ended = attempt(&mut runner, &request, &memory);
        let held = ended.events.iter().find_map(|event| match event {
            Event::Outcome { outcome, .. } => Some(outcome.measured_device),
            _ => None,
        });
        let held = held.unwrap();
        assert!(held <= least, "{mode:?}: {held} bytes of {least} were held");
        assert!(
            ended.pictures().unwrap().remove(0).media == Media::Image(want.clone()),
            "{mode:?}: other pixels"
        );
    }
}

#[test]
fn forecasts_of_the_peak_come_true() {
    for (name, write) in [("tiny", write as fn(&Path) -> anyhow::Result<()>), ("wide", write_wide)] {
        for size in [[300, 300], [300, 200]] {
            let folder = tempfile::tempdir().unwrap();
            let request = request(folder.path(), write, size);
            let mut runner = Runner::of_two_threads().unwrap();
            let plan = forecast(&runner, &request, &card()).plan.unwrap();
            assert_eq!((plan.stages.len(), plan.stages[0].stage.kind), (1, StageKind::Preprocess));
            let mut ratio = f64::INFINITY;
            for _ in 0..RUNS_OF_LATE_THREADS {
                let ended = attempt(&mut runner, &request, &card());
                let outcome = ended.events.into_iter().find_map(|event| match event {
                    Event::Outcome { outcome, .. } => Some(outcome),
                    Event::Replanned { reason, .. } => panic!("{reason}"),
                    _ => None,
                });
                let outcome = outcome.unwrap();
                ratio = ratio.min(outcome.predicted_device as f64 / outcome.measured_device as f64);
                println!("{name} {size:?}: {ratio:.3}");
                assert!(ratio >= 0.98, "{name} {size:?}: {ratio:.3}, {outcome:?}");
                if ratio < 1.05 {
                    break;
                }
            }
            assert!(ratio < 1.05, "{name} {size:?}: {ratio:.3} at best");
        }
    }
}

#[test]
fn a_map_without_what_makes_it_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let request = request(folder.path(), write, [20, 20]);
    let mut runner = Runner::start().unwrap();
    let failure = |runner: &mut Runner, request: &Request| {
        attempt(runner, request, &MemoryPreferences::default()).failure().unwrap().message
    };
    let other = Request { model: ModelSource::Upscaler, ..request.clone() };
    let said = failure(&mut runner, &other);
    assert!(said.contains("cannot make depth maps: it is no Depth Anything network"), "{said}");
    let generates = Request { depth_of: None, ..request.clone() };
    let said = failure(&mut runner, &generates);
    assert!(said.contains(&RequestError::OnlyMakesDepth.to_string()), "{said}");
    let missing = Request { depth_of: Some(PathBuf::from("/nowhere/fox.png")), ..request };
    assert!(failure(&mut runner, &missing).contains("fox.png"));
}
