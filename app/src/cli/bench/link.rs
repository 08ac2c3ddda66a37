//! `sluice bench link`: what the device does at most.

use std::{env, fs, path::PathBuf, process};

use anyhow::Context;
use sluice_engine::{
    memory::{DeviceChoice, MemoryPreferences},
    request::ComputeDtype,
};
use sluice_tools::{Ceilings, ceilings};

use crate::{
    cli::{
        exit::{Explained, Outcome},
        memory_args::MemoryArgs,
        names::named,
        stdout,
    },
    engines::Engines,
};

/// What is measured in if nothing is said.
pub(super) const USUAL_DTYPE: ComputeDtype = ComputeDtype::Bf16;

/// Measure how fast weights come to the device, and how fast it multiplies matrices.
///
/// No run is faster than these two figures allow. On the processor, weights are copied within the machine's memory; a
/// simulated card has the link that its profile says.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Precision of the matrices.
    #[arg(long, value_name = "NAME", default_value = USUAL_DTYPE.name(), value_parser = named(&ComputeDtype::ALL, ComputeDtype::name))]
    dtype: ComputeDtype,
    /// Threads that compute; all of the machine's if absent.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// A file for the figures as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Memory")]
    memory: MemoryArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let measured = device_ceilings(&args.memory.preferences(), args.threads, args.dtype)?;
    for line in lines(&measured) {
        stdout::line(&line)?;
    }
    if let Some(file) = &args.json {
        let text =
            serde_json::to_string_pretty(&measured).context("the figures cannot be written as JSON")?;
        fs::write(file, text + "\n").with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(Outcome::Done)
}

/// What the device does at most on which an engine would draw. A card is measured by a process of its own, which takes
/// its memory along when it ends.
pub(super) fn device_ceilings(
    preferences: &MemoryPreferences,
    threads: Option<u16>,
    dtype: ComputeDtype,
) -> anyhow::Result<Ceilings> {
    let engines = Engines::find().context("this program does not know where it is")?;
    let card = engines.programs.first().filter(|_| engines.without_cuda.is_none());
    let card = card.filter(|_| preferences.device == DeviceChoice::Auto && env::var_os(INSIDE).is_none());
    if let Some(program) = card {
        let folder = tempfile::tempdir().context("there is no temporary folder")?;
        let file = folder.path().join("link.json");
        let mut measure = process::Command::new(&program.path);
        measure.env(INSIDE, "1").args(["bench", "link", "--dtype", dtype.name(), "--json"]).arg(&file);
        let ended = measure.stdout(process::Stdio::null()).status();
        match ended {
            Ok(status) if status.success() => return Ok(serde_json::from_slice(&fs::read(&file)?)?),
            // The engine goes on with the processor, too.
            ended => tracing::warn!(?ended, "the card could not be measured"),
        }
    }
    Ok(ceilings(preferences, threads.map(usize::from), dtype).map_err(Explained)?)
}

/// Set where a program is started to measure its own device.
const INSIDE: &str = "SLUICE_BENCH_INSIDE";

/// The figures in words.
pub(super) fn lines(measured: &Ceilings) -> Vec<String> {
    let gigabytes = |rate: f64| format!("{:.1} GB/s", rate / 1e9);
    let mut lines = vec![measured.device.clone()];
    if measured.unified {
        lines.push(format!("copies within the memory: {}", gigabytes(measured.pageable_bytes_per_second)));
    } else {
        lines.push(format!("from pinned memory: {}", gigabytes(measured.pinned_bytes_per_second)));
        lines.push(format!("from pageable memory: {}", gigabytes(measured.pageable_bytes_per_second)));
    }
    lines.push(format!(
        "{} products of {side}×{side}: {:.2} · 10¹² operations a second",
        measured.dtype,
        measured.operations_per_second / 1e12,
        side = measured.matrix_side,
    ));
    lines
}
