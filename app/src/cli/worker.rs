//! `sluice worker`: the engine in its own process.

use std::io;

use anyhow::Context as _;

use super::exit::Outcome;

/// Run the engine for a window that talks to it through the standard input and output.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run() -> anyhow::Result<Outcome> {
    sluice_engine::session::ready().context("there is no usable NVIDIA GPU")?;
    sluice_engine::session::serve(io::stdin().lock(), io::stdout())
        .context("only Sluice's window can start this program")?;
    Ok(Outcome::Done)
}
