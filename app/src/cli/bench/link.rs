//! `sluice bench link`: measures the limits of the device.

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

/// The default dtype.
pub(super) const USUAL_DTYPE: ComputeDtype = ComputeDtype::Bf16;

/// Measure how fast weights can be copied to the device, and how fast it multiplies matrices.
///
/// No run can be faster than these two figures allow. On the CPU, weights are copied within RAM. A simulated GPU has the
/// link speed of its profile.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Data type of the matrices.
    #[arg(long, value_name = "NAME", default_value = USUAL_DTYPE.name(), value_parser = named(&ComputeDtype::ALL, ComputeDtype::name))]
    dtype: ComputeDtype,
    /// Number of CPU threads; all by default.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Write the results to this file as JSON.
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
            serde_json::to_string_pretty(&measured).context("the results cannot be converted to JSON")?;
        fs::write(file, text + "\n").with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(Outcome::Done)
}

/// The limits of the device that an engine would use. A GPU is measured in a separate process, which frees
/// its memory when it ends.
pub(super) fn device_ceilings(
    preferences: &MemoryPreferences,
    threads: Option<u16>,
    dtype: ComputeDtype,
) -> anyhow::Result<Ceilings> {
    let engines = Engines::find().context("the path of this program is unknown")?;
    let card = engines.programs.first().filter(|_| engines.without_gpus.is_none());
    let gpu = match &preferences.device {
        DeviceChoice::Auto => Some(None),
        DeviceChoice::Gpu(number) => Some(Some(number.to_string())),
        DeviceChoice::Processor | DeviceChoice::Simulated(_) => None,
    };
    let measured_apart = card.zip(gpu).filter(|_| env::var_os(INSIDE).is_none());
    if let Some((program, gpu)) = measured_apart {
        let folder = tempfile::tempdir().context("a temporary folder cannot be created")?;
        let file = folder.path().join("link.json");
        let mut measure = process::Command::new(&program.path);
        measure.envs(program.variables.iter().cloned());
        measure.env(INSIDE, "1").args(["bench", "link", "--dtype", dtype.name(), "--json"]).arg(&file);
        measure.args(gpu.iter().flat_map(|number| ["--gpu", number]));
        let ended = measure.stdout(process::Stdio::null()).status();
        match ended {
            Ok(status) if status.success() => return Ok(serde_json::from_slice(&fs::read(&file)?)?),
            // The engine also falls back to the CPU.
            ended => tracing::warn!(?ended, "the GPU could not be measured"),
        }
    }
    Ok(ceilings(preferences, threads.map(usize::from), dtype).map_err(Explained)?)
}

/// Set in the process that measures the GPU.
const INSIDE: &str = "SLUICE_BENCH_INSIDE";

/// The results as text.
pub(super) fn lines(measured: &Ceilings) -> Vec<String> {
    let gigabytes = |rate: f64| format!("{:.1} GB/s", rate / 1e9);
    let mut lines = vec![measured.device.clone()];
    if measured.unified {
        lines.push(format!("copies within RAM: {}", gigabytes(measured.pageable_bytes_per_second)));
    } else {
        lines.push(format!("copies from pinned memory: {}", gigabytes(measured.pinned_bytes_per_second)));
        lines.push(format!("copies from pageable memory: {}", gigabytes(measured.pageable_bytes_per_second)));
    }
    lines.push(format!(
        "{} matrix products of {side}×{side}: {:.2} TFLOPS",
        measured.dtype,
        measured.operations_per_second / 1e12,
        side = measured.matrix_side,
    ));
    lines
}
