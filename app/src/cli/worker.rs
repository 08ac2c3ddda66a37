//! `sluice worker`: the engine in its own process.

use std::io;

use anyhow::Context as _;

use sluice_engine::{
    request::PromptFolders,
    session::{Own, ready, serve},
};

use super::exit::Outcome;
use crate::{
    engines::{CUDA, METAL, computes_on_gpus, hand_over},
    folders::{data_folder, downloads_folder, model_folders, wildcard_folder},
};

/// Run the engine for a caller that talks to it through the standard input and output; see `--engine`.
///
/// If the engine for NVIDIA GPUs is next to this program, or installed, and starts, it goes on in the place of this program.
/// If not, the caller hears why.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Stay with the engine of this program, which computes on the CPU.
    #[arg(long)]
    own: bool,
}

/// The name of the engine of this program.
const ENGINE: &str = if cfg!(feature = "cuda") {
    CUDA
} else if cfg!(feature = "metal") {
    METAL
} else {
    "CPU"
};

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let instead_of = if args.own || computes_on_gpus(ENGINE) { None } else { hand_over() };
    ready().context(if ENGINE == METAL {
        "there is no usable Apple GPU"
    } else {
        "there is no usable NVIDIA GPU"
    })?;
    let own = Own {
        engine: ENGINE.to_owned(),
        instead_of,
        data: data_folder(),
        model_folders: model_folders(),
        downloads: downloads_folder(),
        prompt_folders: PromptFolders {
            wildcards: wildcard_folder().into_iter().collect(),
            ..PromptFolders::default()
        },
    };
    serve(io::stdin().lock(), io::stdout(), own)
        .context("only Sluice can talk to this program: it is the command behind --engine")?;
    Ok(Outcome::Done)
}
