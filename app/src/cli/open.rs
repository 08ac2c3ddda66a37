//! `sluice open`: opens the window with files, as file managers do.

use std::path::PathBuf;

use anyhow::Context;

use super::exit::Outcome;
use crate::window::{self, WindowOptions};

/// Open the window with files: models are loaded, images and clips taken as if they were dropped on it.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Models, images, clips and LoRAs; without any, the window opens as it was closed
    files: Vec<PathBuf>,
}

pub(super) fn run(args: Args, in_process: bool) -> anyhow::Result<Outcome> {
    let absolute = |file: PathBuf| {
        std::path::absolute(&file).with_context(|| format!("{} cannot be found", file.display()))
    };
    let files = args.files.into_iter().map(absolute).collect::<anyhow::Result<_>>()?;
    window::run(WindowOptions { in_process, files, ..WindowOptions::default() })?;
    Ok(Outcome::Done)
}
