//! `sluice worker`: the engine at the other end of the window's pipes.

use std::io;

use anyhow::Context as _;

use super::exit::Outcome;

/// Serves as the engine of a window that talks to it through its standard input and output.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run() -> anyhow::Result<Outcome> {
    sluice_engine::session::ready().context("there is no NVIDIA card that can be used")?;
    sluice_engine::session::serve(io::stdin().lock(), io::stdout())
        .context("this program is started by Sluice's window")?;
    Ok(Outcome::Done)
}
