//! `sluice bench link`: what the device does at most.

use std::{fs, path::PathBuf};

use anyhow::Context;
use sluice_engine::{
    request::ComputeDtype,
    session::{Ceilings, ceilings},
};

use crate::cli::{
    exit::{Explained, Outcome},
    memory_args::MemoryArgs,
    names::named,
    stdout,
};

/// Measure how fast weights come to the device, and how fast it multiplies matrices.
///
/// No run is faster than these two figures allow. On the processor, weights are copied within the machine's memory; a
/// simulated card has the link that its profile says.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Precision of the matrices.
    #[arg(long, value_name = "NAME", default_value = ComputeDtype::Bf16.name(), value_parser = named(&ComputeDtype::ALL, ComputeDtype::name))]
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
    let measured =
        ceilings(&args.memory.preferences(), args.threads.map(usize::from), args.dtype).map_err(Explained)?;
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
