//! Completions for shells, and manual pages.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap_complete::Shell;

use super::{commands, exit::Outcome, stdout};

/// Print completions for a shell.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  sluice completions bash > ~/.local/share/bash-completion/completions/sluice"
)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Write manual pages, one for each command.
#[derive(Debug, clap::Args)]
pub struct Manual {
    /// The folder to write them to
    folder: PathBuf,
}

/// Prints the completions.
pub fn complete(args: &Completions) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut commands(), "sluice", &mut script);
    stdout::line(String::from_utf8(script).context("the completions are no text")?.trim_end())?;
    Ok(Outcome::Done)
}

/// Writes the manual.
pub fn write_manual(args: &Manual) -> Result<Outcome> {
    clap_mangen::generate_to(commands(), &args.folder)
        .with_context(|| format!("the manual cannot be written to {}", args.folder.display()))?;
    Ok(Outcome::Done)
}
