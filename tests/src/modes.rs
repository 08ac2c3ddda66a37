//! Properties of every family in every memory mode: identical results, budgets kept, copies as planned, and
//! accurate predictions.

use std::{ops::Range, path::Path};

use anyhow::{Context, Result, bail, ensure};
use sluice_engine::{
    checkpoint::Role,
    memory::{DeviceChoice, Estimate, Forecast, MemoryPreferences, OffloadMode, Outcome, Placement},
    request::{ComputeDtype, Request},
    session::{Command, Event, Job, PlanQuery, PlanSubject, Reports},
    telemetry::{PlanMark, TelemetryEvent, read_jsonl},
};

use crate::{
    checkpoint::{Fixture, load},
    golden::{compare, distance},
    original_names::Tensors,
    runner::Runner,
};

/// 16-bit activations are within a few percent of the reference, and differ from it.
pub fn check_half_precision(fixture: &Fixture, run: &str, names: &[&str]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let model = fixture.write_diffusers(folder.path())?;
    let run = fixture.run(run)?;
    let golden = run.golden()?;
    let mut runner = Runner::start()?;
    for (dtype, allowed) in [(ComputeDtype::Bf16, 0.1), (ComputeDtype::F16, 0.0125)] {
        let request = Request { dtype: Some(dtype), ..run.request(&model) };
        let (_, dump) = runner.dump(request, Some(&run.latents()?))?;
        for name in names {
            let distance = compare(name, &golden, &dump, allowed)?;
            println!("{dtype:?} {name}: {distance:.1e}");
            ensure!(distance > 1e-5, "{dtype:?} {name} is too close to be 16 bits: {distance}");
        }
    }
    Ok(())
}

/// What the engine predicts for a request.
pub fn forecast(runner: &Runner, request: &Request, memory: &MemoryPreferences) -> Result<Forecast> {
    let query =
        PlanQuery { id: 1, subject: PlanSubject::Model, request: request.clone(), memory: memory.clone() };
    runner.send(Command::Plan(Box::new(query)))?;
    loop {
        match runner.event()? {
            Event::Planned { forecast, .. } => return Ok(*forecast),
            Event::NotPlanned { failure, .. } => bail!("no plan: {}", failure.message),
            _ => {}
        }
    }
}

/// A simulated GPU in a mode of offloading.
pub fn card(mode: OffloadMode) -> MemoryPreferences {
    MemoryPreferences {
        mode,
        device: DeviceChoice::Simulated("rtx-4060".to_owned()),
        min_free_vram: 0,
        ..MemoryPreferences::default()
    }
}

/// The results of a run.
struct Drawn {
    /// The tensors of every stage.
    tensors: Tensors,
    outcome: Outcome,
    events: Vec<TelemetryEvent>,
}

fn draw(runner: &mut Runner, request: &Request, memory: &MemoryPreferences) -> Result<Drawn> {
    let folder = tempfile::tempdir()?;
    let [dump, telemetry] = ["dump.safetensors", "telemetry.jsonl"].map(|name| folder.path().join(name));
    let job = Job {
        memory: memory.clone(),
        dump: Some(dump.clone()),
        reports: Reports { telemetry: Some(telemetry.clone()), ..Reports::default() },
        ..runner.job(request.clone())
    };
    let ended = runner.run(job)?;
    let outcome = ended.events.iter().find_map(|event| match event {
        Event::Outcome { outcome, .. } => Some((**outcome).clone()),
        _ => None,
    });
    ended.pictures()?;
    let outcome = outcome.context("the engine does not say what a run took")?;
    Ok(Drawn { tensors: load(&dump)?, outcome, events: read_jsonl(&telemetry)?.events })
}

/// How often a run whose peak stayed below its forecast is repeated: on a busy machine the thread that loads ahead may
/// be late, so that a slot is still empty at the peak.
const RUNS_OF_LATE_LOADS: usize = 8;

/// Checks that predicted divided by measured peak memory is within these bounds, by formula and by dry run. No run may
/// take more than its forecast allows; one of a few has to come near it.
pub fn check_forecasts(
    fixture: &Fixture,
    run: &str,
    formula: Range<f64>,
    tried_out: Range<f64>,
) -> Result<()> {
    check_forecasts_of(fixture, run, formula, tried_out, |request| request)
}

/// Width and height of the results of [`check_forecasts`]: large enough that what a thread takes besides counts for little, and
/// small enough that decoding them in many tiles does not take minutes.
const FORECAST_SIZE: [u32; 2] = [384, 256];

/// With tiles this small, the denoiser has the peak.
const SMALL_TILE: u32 = 16;

/// The same for runs whose requests are changed.
pub fn check_forecasts_of(
    fixture: &Fixture,
    run: &str,
    formula: Range<f64>,
    tried_out: Range<f64>,
    change: impl Fn(Request) -> Request,
) -> Result<()> {
    check_forecasts_with(fixture, run, SMALL_TILE, [formula, tried_out], change, |_| true)
}

/// The same in f32 alone.
pub fn check_forecasts_in_f32(
    fixture: &Fixture,
    run: &str,
    formula: Range<f64>,
    tried_out: Range<f64>,
    change: impl Fn(Request) -> Request,
) -> Result<()> {
    let is_wide = |dtype| dtype == ComputeDtype::F32;
    check_forecasts_with(fixture, run, SMALL_TILE, [formula, tried_out], change, is_wide)
}

/// The same with tiles of this side.
pub fn check_forecasts_in_tiles(
    fixture: &Fixture,
    run: &str,
    tile: u32,
    formula: Range<f64>,
    tried_out: Range<f64>,
) -> Result<()> {
    check_forecasts_with(fixture, run, tile, [formula, tried_out], |request| request, |_| true)
}

fn check_forecasts_with(
    fixture: &Fixture,
    run: &str,
    tile: u32,
    [formula, tried_out]: [Range<f64>; 2],
    change: impl Fn(Request) -> Request,
    is_checked: impl Fn(ComputeDtype) -> bool,
) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let model = fixture.write_diffusers(folder.path())?;
    let run = fixture.run(run)?;
    run.write_beside(&model)?;
    let own = run.request(&model);
    let mut runner = Runner::of_two_threads()?;
    for (mode, batch, dtype) in [
        (OffloadMode::None, 1, ComputeDtype::F32),
        (OffloadMode::Aggressive, 2, ComputeDtype::F32),
        (OffloadMode::Aggressive, 1, ComputeDtype::Bf16),
    ] {
        if !is_checked(dtype) {
            continue;
        }
        // Each run may have its own prompt.
        let request = || {
            let [width, height] = FORECAST_SIZE;
            change(Request { width, height, steps: 2, batch, dtype: Some(dtype), ..own.clone() })
        };
        let by = |estimate| MemoryPreferences { tile: Some(tile), estimate, ..card(mode) };
        let first = draw(&mut runner, &request(), &by(Estimate::Formula))?;
        let tried = planned(&mut runner, &request(), &by(Estimate::Dryrun))?;
        // A run takes the same by both plans if they are the same: everything that a stage uses is there, and there is only one
        // way to do its work. Then it is compared with both forecasts, but for the first, which runs by both.
        let mut blocks = tried.components.iter().flat_map(|component| &component.blocks);
        let is_same = plan_of(&first.events)?.components == tried.components
            && blocks.all(|block| block.placement == Placement::Resident)
            && request().windows.is_none()
            && !matches!(mode, OffloadMode::None);
        let bytes = tried.stages.iter().map(|stage| stage.predicted).max().unwrap_or(0);
        let other = is_same.then_some((bytes, &tried_out));
        check_peak(&mut runner, (&request, &by(Estimate::Formula)), first.outcome, &formula, other)?;
        if !is_same {
            let first = draw(&mut runner, &request(), &by(Estimate::Dryrun))?;
            check_peak(&mut runner, (&request, &by(Estimate::Dryrun)), first.outcome, &tried_out, None)?;
        }
    }
    Ok(())
}

/// Checks that predicted divided by measured peak memory of runs, the first of which is over, is within these bounds, and that
/// of `other` runs by the same plan, of which that many bytes were predicted.
fn check_peak(
    runner: &mut Runner,
    (request, memory): (&dyn Fn() -> Request, &MemoryPreferences),
    first: Outcome,
    near: &Range<f64>,
    other: Option<(u64, &Range<f64>)>,
) -> Result<()> {
    let mut outcome = first;
    let mut least = [f64::INFINITY; 2];
    for number in 1..=RUNS_OF_LATE_LOADS {
        let (own, bytes) = ((outcome.predicted_device, near), outcome.measured_device);
        let mut are_near = true;
        for ((predicted, near), least) in [Some(own), other].into_iter().flatten().zip(&mut least) {
            let ratio = predicted as f64 / bytes as f64;
            let what = format!(
                "{:?} {:?}: {ratio:.3} of {bytes} bytes, {:?}",
                memory.mode, memory.estimate, outcome.run
            );
            println!("{what}");
            ensure!(ratio >= near.start, "{what}, {outcome:?}");
            *least = least.min(ratio);
            are_near &= *least < near.end;
        }
        if are_near {
            return Ok(());
        }
        if number < RUNS_OF_LATE_LOADS {
            outcome = draw(runner, &request(), memory)?.outcome;
        }
    }
    bail!("{:?} {:?}: {least:?} at best, {outcome:?}", memory.mode, memory.estimate)
}

/// The plan of a run, which is stopped as soon as it has one.
fn planned(runner: &mut Runner, request: &Request, memory: &MemoryPreferences) -> Result<PlanMark> {
    let folder = tempfile::tempdir()?;
    let telemetry = folder.path().join("telemetry.jsonl");
    let job = Job {
        memory: memory.clone(),
        reports: Reports { telemetry: Some(telemetry.clone()), ..Reports::default() },
        ..runner.job(request.clone())
    };
    let id = job.id;
    runner.send(Command::Generate(Box::new(job)))?;
    loop {
        match runner.event()? {
            Event::StageStarted { job, .. } if job == id => runner.send(Command::Cancel { job })?,
            Event::Cancelled { job } | Event::Finished { job, .. } if job == id => break,
            Event::Failed { failure, .. } => bail!("no plan: {}", failure.message),
            _ => {}
        }
    }
    Ok(plan_of(&read_jsonl(&telemetry)?.events)?.clone())
}

/// The first plan of a run.
fn plan_of(events: &[TelemetryEvent]) -> Result<&PlanMark> {
    let mut plans = events.iter().filter_map(|event| match event {
        TelemetryEvent::Plan(mark) => Some(mark),
        _ => None,
    });
    plans.next().context("there was no plan")
}

/// Checks that in every memory mode the tensors of every stage are bit-identical, no budget is exceeded, and
/// the bytes moved match the plan.
pub fn check_every_mode(fixture: &Fixture, run: &str) -> Result<()> {
    check_every_mode_of(fixture, run, |request| request)
}

/// The same for a run that starts from a picture and a mask, in families for which diffusers has no such pipeline.
pub fn check_every_mode_filled_in(fixture: &Fixture, run: &str) -> Result<()> {
    let given = Fixture::new("qwen_image", "default").run("filled_in")?.request(Path::new("")).source;
    check_every_mode_of(fixture, run, |request| Request { source: given.clone(), ..request })
}

/// The same for runs whose requests are changed.
pub fn check_every_mode_of(fixture: &Fixture, run: &str, change: impl Fn(Request) -> Request) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let model = fixture.write_diffusers(folder.path())?;
    let run = fixture.run(run)?;
    run.write_beside(&model)?;
    let own = run.request(&model);
    // Some models need multiples of 32.
    let width = if own.width.is_multiple_of(32) && own.height.is_multiple_of(32) { 64 } else { 48 };
    let request = change(Request { batch: 2, width, height: 32, steps: 2, ..own });
    let mut runner = Runner::start()?;
    let mut want = draw(&mut runner, &request, &card(OffloadMode::None))?.tensors;
    // What a text encoder sees is not computed again for a known prompt.
    let is_seen =
        |name: &String| (0..request.references.len()).any(|number| *name == format!("vision.{number}"));
    want.retain(|name, _| !is_seen(name));
    for &mode in OffloadMode::ALL {
        let plenty = card(mode);
        let least = forecast(&runner, &request, &plenty)?.least_device.context("there is no least budget")?;
        for budget in [least, least + least / 8] {
            let memory = MemoryPreferences { vram_budget: Some(budget), ..plenty.clone() };
            let mut got = draw(&mut runner, &request, &memory)?;
            got.tensors.retain(|name, _| !is_seen(name));
            let peak = got.outcome.measured_device;
            ensure!(peak <= budget, "{mode:?}: peak of {peak} bytes exceeds the budget of {budget}");
            ensure!(got.tensors.len() == want.len(), "{mode:?}: other tensors");
            for (name, want) in &want {
                distance(name, want, &got.tensors[name], 0.0).with_context(|| format!("{mode:?}"))?;
            }
            let windows = if request.windows.is_some() { MOST_WINDOWS } else { 1 };
            let branches = request.positive_prompts().count() as u64 + 1;
            check_moved(&got.events, fixture.decoder_passes(&request), branches * windows)
                .with_context(|| format!("{mode:?} within {budget} bytes"))?;
        }
    }
    Ok(())
}

/// Checks that a run whose guidance branches go through tensors together, within the smallest budget that has such a
/// plan, gives the same tensors and moves each of those tensors once a pass. Returns whether there is such a plan.
pub fn check_shared_branches(fixture: &Fixture, run: &str) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let model = fixture.write_diffusers(folder.path())?;
    let run = fixture.run(run)?;
    run.write_beside(&model)?;
    let request = Request { batch: 1, width: 32, height: 32, steps: 2, ..run.request(&model) };
    let mut runner = Runner::start()?;
    let plenty = card(OffloadMode::Auto);
    let want = draw(&mut runner, &request, &plenty)?.tensors;
    let least = forecast(&runner, &request, &plenty)?.least_device.context("there is no least budget")?;
    let shares = |memory: &MemoryPreferences| -> Result<bool> {
        let plan = forecast(&runner, &request, memory)?.plan.ok();
        let blocks = plan.iter().flat_map(|plan| plan.uses()).flat_map(|part_use| &part_use.blocks);
        Ok(blocks.filter(|block| block.placement == Placement::SharedLeaves).count() > 0)
    };
    for budget in (0..16).map(|part| least + least / 16 * part) {
        let memory = MemoryPreferences { vram_budget: Some(budget), ..plenty.clone() };
        if !shares(&memory)? {
            continue;
        }
        let got = draw(&mut runner, &request, &memory)?;
        let Outcome { predicted_device, measured_device, .. } = got.outcome;
        ensure!(measured_device <= predicted_device, "{measured_device} of {predicted_device} bytes");
        for (name, want) in &want {
            distance(name, want, &got.tensors[name], 0.0)?;
        }
        check_moved(&got.events, fixture.decoder_passes(&request), GUIDED)?;
        return Ok(true);
    }
    Ok(false)
}

/// Predictions of a guided step: for the prompt and for the negative one.
const GUIDED: u64 = 2;
/// The most windows of a clip in these tests.
const MOST_WINDOWS: u64 = 4;

/// Each use of a streamed block moves its weights once; a resident block is moved at most once in total.
/// Blocks loaded tensor by tensor may be moved once for each of the `branches` of a prediction in each window of a clip, unless
/// these share them. A causal decoder takes up to `decoder_passes` frames through such a block, layer by layer,
/// and the first frame of a clip has no use for some layers.
fn check_moved(events: &[TelemetryEvent], decoder_passes: Option<u64>, branches: u64) -> Result<()> {
    let mut plan: Option<&PlanMark> = None;
    let mut uses = 0;
    for event in events {
        match event {
            TelemetryEvent::Plan(mark) => plan = Some(mark),
            TelemetryEvent::Block(used) => {
                let plan = plan.context("a block was used before there was a plan")?;
                let block = &plan.components[usize::from(used.component)].blocks[usize::from(used.block)];
                let stays = block.placement == Placement::Resident;
                let (moved, bytes) = (used.bytes, block.bytes);
                let in_leaves = block.placement == Placement::Leaves;
                let for_each_branch =
                    in_leaves && moved <= branches * bytes && bytes > 0 && moved.is_multiple_of(bytes);
                let is_decoder = plan.components[usize::from(used.component)].role == Role::Autoencoder;
                let most = decoder_passes.filter(|_| in_leaves && is_decoder).map(|passes| passes * bytes);
                let for_frames = most.is_some_and(|most| moved <= most);
                ensure!(
                    moved == bytes || for_each_branch || for_frames || (stays && moved == 0),
                    "{}, {:?}, moved {moved} bytes of {bytes}",
                    block.name,
                    block.placement,
                );
                uses += 1;
            }
            _ => {}
        }
    }
    ensure!(uses > 0, "no use of a block was recorded");
    Ok(())
}
