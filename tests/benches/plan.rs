//! Times a complete plan with all rows of the strategy table, as the window requests after each edit:
//! `cargo bench --workspace --bench plan`.
//!
//! Models are opened from their published configurations, and their forward passes are traced.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use sluice_engine::{
    hardware::card,
    memory::{Footprint, MemoryPreferences, Workload, forecast, machine_of},
    nn::{Computes, Trace},
    pipeline::{Resolved, footprint, workload},
    request::{ComputeDtype, Request},
};
use sluice_tests::known;

const REPEATS: usize = 15;
const CARD: &str = "rtx-3060";

fn main() -> Result<()> {
    // The window plans on one thread next to the engine's.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global()?;
    println!("{:<24} {:>10} {:>10} {:>10}", "milliseconds", "trace", "plan", "both");
    for (id, [width, height], frames) in [
        ("sd1.5", [512, 512], 1),
        ("sdxl", [1024, 1024], 1),
        ("z-image", [1024, 1024], 1),
        ("flux.1-dev", [1024, 1024], 1),
        ("wan-2.2-14b", [832, 480], 81),
    ] {
        let (_, model) = known::opened(id)?;
        let request = Request {
            prompt: "a red boat".to_owned(),
            width,
            height,
            frames,
            steps: 28,
            guidance: 5.0,
            ..Request::default()
        };
        let sizes = || footprint(&model, id, ComputeDtype::Bf16);
        let resolved = Resolved::new(&model, &request, ComputeDtype::Bf16)?;
        let work = || workload(&model, &resolved, &Trace::new(Computes::here()));
        let traced = median(|| {
            black_box((sizes(), work()?));
            Ok(())
        })?;
        row(&format!("{id} {width}x{height}"), traced, &sizes(), &work()?)?;
    }
    Ok(())
}

fn row(name: &str, traced: Duration, footprint: &Footprint, workload: &Workload) -> Result<()> {
    let machine = machine_of(card(CARD).context("the card is not known")?, 32 << 30, 0);
    let preferences = MemoryPreferences::default();
    let planned = median(|| {
        black_box(forecast(footprint, workload, &machine, &preferences, None));
        Ok(())
    })?;
    let [traced, planned] = [traced, planned].map(|time| time.as_secs_f64() * 1e3);
    println!("{name:<24} {traced:>10.2} {planned:>10.2} {:>10.2}", traced + planned);
    Ok(())
}

fn median(mut work: impl FnMut() -> Result<()>) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        let started = Instant::now();
        work()?;
        times.push(started.elapsed());
    }
    times.sort();
    Ok(times[REPEATS / 2])
}
