//! `sluice bench kernels`: tests the CUDA kernels and measures their speed.

use std::{fs, path::PathBuf};

use anyhow::Context;
use sluice_engine::request::ComputeDtype;
use sluice_tools::{Trial, kernel_trials};

use crate::cli::{
    exit::{Explained, Outcome},
    names::named,
    stdout,
    table::{Align, table},
};

/// Test and measure every CUDA kernel on the GPU of this machine.
///
/// The result of a kernel is compared with that of the CPU in f32, and its time with that of the operations that it
/// replaces, which normal runs use if `SLUICE_CUDA_KERNELS=0` is set. The exit code is 1 if an error is larger than rounding
/// explains.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Data type of the computation; all by default. May be given several times.
    #[arg(long = "dtype", value_name = "NAME", value_parser = named(&ComputeDtype::ALL, ComputeDtype::name))]
    dtypes: Vec<ComputeDtype>,
    /// Number of rows in the measured operations. The default is the number of tokens of a 1024×1024 image.
    #[arg(long, value_name = "COUNT", default_value_t = 4096, value_parser = clap::value_parser!(u16).range(1..))]
    rows: u16,
    /// Write the results to this file as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let dtypes = if args.dtypes.is_empty() { ComputeDtype::ALL.to_vec() } else { args.dtypes.clone() };
    let mut trials = Vec::new();
    for dtype in dtypes {
        trials.extend(kernel_trials(dtype, args.rows.into()).map_err(Explained)?);
    }
    for line in lines(&trials) {
        stdout::line(&line)?;
    }
    if let Some(file) = &args.json {
        let text =
            serde_json::to_string_pretty(&trials).context("the results cannot be converted to JSON")?;
        fs::write(file, text + "\n").with_context(|| format!("{} cannot be written", file.display()))?;
    }
    Ok(if trials.iter().all(|trial| trial.is_right) { Outcome::Done } else { Outcome::Failed })
}

fn lines(trials: &[Trial]) -> Vec<String> {
    let columns = [
        ("kernel", Align::Left),
        ("dtype", Align::Left),
        ("error", Align::Right),
        ("error without", Align::Right),
        ("correct", Align::Left),
        ("time", Align::Right),
        ("time without", Align::Right),
        ("speedup", Align::Right),
    ];
    let microseconds = |seconds: f64| format!("{:.0} µs", 1e6 * seconds);
    let rows: Vec<_> = trials
        .iter()
        .map(|trial| {
            [
                trial.name.clone(),
                trial.dtype.clone(),
                format!("{:.1e}", trial.error),
                format!("{:.1e}", trial.plain_error),
                if trial.is_right { "yes" } else { "NO" }.to_owned(),
                microseconds(trial.seconds),
                microseconds(trial.plain_seconds),
                format!("{:.2}", trial.plain_seconds / trial.seconds),
            ]
        })
        .collect();
    table(columns, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_a_row() {
        let trial = Trial {
            name: "gated sum".to_owned(),
            dtype: "bf16".to_owned(),
            error: 0.0023,
            plain_error: 0.0041,
            is_right: false,
            seconds: 2e-5,
            plain_seconds: 9e-5,
        };
        assert_eq!(
            lines(&[trial]),
            [
                "kernel     dtype   error  error without  correct   time  time without  speedup",
                "gated sum  bf16   2.3e-3         4.1e-3  NO       20 µs         90 µs     4.50",
            ]
        );
    }
}
