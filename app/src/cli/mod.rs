//! The command line. Each subcommand is a file with an `Args` and a `run`.

mod adapter;
mod bench;
mod convert;
mod engine;
mod exit;
mod forecast;
mod generate;
mod guidance_args;
mod inspect;
mod listener;
mod measured;
mod memory_args;
mod model_folders;
mod names;
mod offload_log;
mod plan;
mod probe;
mod progress;
mod request_args;
mod size;
mod source_args;
mod stdout;
mod table;
mod worker;

use std::{
    io::{self, IsTerminal as _},
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use tracing_subscriber::{EnvFilter, filter::LevelFilter};

use crate::units;
use exit::Outcome;

const EXAMPLES: &str = "\
Examples:
  sluice
      Opens the window.
  sluice generate --prompt \"a red circle above a blue square\"
      Draws with the small model that comes with the program.
  sluice generate --model ~/models/z-image --prompt \"a fox in the snow\" --output fox.png
      Draws with a model of yours.
  sluice inspect ~/models/z-image
      Says what a model is made of, or what every file of a folder is.
  sluice convert z_image.safetensors z_image-Q8_0.gguf --type q8_0
      Stores weights in another format.
  sluice plan --model flux.1-dev --card rtx-3060
      Says what a run would take, before anything is downloaded.
  sluice probe
      Says what this machine has, and which cards can be simulated.";

const EXIT_CODES: &str = "\
Exit codes:
  0    it worked
  1    it failed; what happened and what to do is on the standard error
  2    the command line was not understood
  130  it was cancelled with Ctrl-C

Environment:
  SLUICE_LOG            what is logged to the standard error, such as `info` or `sluice_engine=debug`
  SLUICE_MODEL_FOLDERS  folders that models are kept in, separated as in PATH";

/// Generates images on the graphics card you already own.
///
/// Without a command, the window opens.
#[derive(Debug, Parser)]
#[command(name = "sluice", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
struct CommandLine {
    /// Keeps the window's engine in the window's own process: it takes the window along when it dies. For debugging.
    #[arg(long)]
    in_process: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Generate(Box<generate::Args>),
    Plan(Box<plan::Args>),
    Inspect(inspect::Args),
    Convert(convert::Args),
    Probe(probe::Args),
    Bench(bench::Args),
    #[command(hide = true)]
    Worker(worker::Args),
}

/// Does what the program's arguments say.
pub fn run() -> ExitCode {
    let (command, in_process) = match CommandLine::try_parse() {
        Ok(CommandLine { command, in_process }) => (command, in_process),
        Err(message) => return exit::usage(&message),
    };
    log_to_stderr();
    exit::report(match command {
        None => open_window(in_process),
        Some(Command::Generate(args)) => generate::run(*args),
        Some(Command::Plan(args)) => plan::run(&args),
        Some(Command::Inspect(args)) => inspect::run(&args),
        Some(Command::Convert(args)) => convert::run(&args),
        Some(Command::Probe(args)) => probe::run(&args),
        Some(Command::Bench(args)) => bench::run(args),
        Some(Command::Worker(_)) => worker::run(),
    })
}

#[cfg(feature = "window")]
fn open_window(in_process: bool) -> anyhow::Result<Outcome> {
    crate::window::run(crate::window::WindowOptions { in_process, ..Default::default() })?;
    Ok(Outcome::Done)
}

#[cfg(not(feature = "window"))]
fn open_window(_: bool) -> anyhow::Result<Outcome> {
    anyhow::bail!("this is the engine for NVIDIA cards; the window is the program `sluice` beside it")
}

fn log_to_stderr() {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::WARN.into());
    tracing_subscriber::fmt()
        .with_env_filter(filter.with_env_var("SLUICE_LOG").from_env_lossy())
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .init();
}
