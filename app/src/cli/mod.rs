//! The command line. Each subcommand is a file with `Args` and a `run` function.

mod adapter;
pub mod batch;
mod bench;
mod changes;
mod control_net_args;
mod convert;
mod deploy;
mod describe;
mod detail;
mod detailer_args;
#[cfg(feature = "download")]
mod download;
mod engine;
mod engine_args;
#[cfg(feature = "download")]
mod engine_package;
mod enhance;
mod exit;
mod flags_elsewhere;
mod forecast;
mod generate;
mod grid_args;
mod guidance_args;
mod hires_args;
mod image_prompt_args;
mod inspect;
mod interpolate;
mod jobs;
mod listener;
mod map;
mod mask;
#[cfg(feature = "serve")]
mod mcp;
mod measured;
mod memory_args;
mod model_folders;
mod models;
mod names;
mod offload_log;
#[cfg(feature = "window")]
mod open;
mod part_args;
mod plan;
mod probe;
mod progress;
mod region_args;
mod request_args;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod serving_args;
mod shell;
mod size;
mod smooth_args;
mod source_args;
mod stdout;
mod table;
mod tool_args;
mod unsaved;
mod upscale;
mod worker;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use exit::Outcome;

const EXAMPLES: &str = "\
Examples:
  sluice
      Opens the window.
  sluice generate --prompt \"a red circle above a blue square\"
      Generates an image with the built-in starter model.
  sluice generate --model ~/models/z-image --prompt \"a fox in the snow\" --output fox.png
      Generates an image with a model of your own.
  sluice upscale photo.jpg --scale 2
      Enlarges an image with the upscaler that comes with Sluice.
  sluice interpolate boat.mp4 --model ~/models/rife_v4.26.safetensors
      Makes the motion of a clip smoother, with twice as many frames.
  sluice detail photo.png --detailer ~/models/face_yolov8n.safetensors --model ~/models/z-image
      Inpaints the faces of an image again, each at full resolution.
  sluice enhance \"a cat\" --for ~/models/z-image
      Writes a longer prompt with a language model of your own.
  sluice describe photo.jpg --model ~/models/Qwen2.5-VL-3B-Instruct
      Writes a prompt for an image like this one.
  sluice inspect ~/models/z-image
      Shows what a model consists of, or what the files in a folder are.
  sluice convert z_image.safetensors z_image-Q8_0.gguf --type q8_0
      Converts weights to another format.
  sluice plan --model flux.1-dev --card rtx-3060
      Predicts memory and time before you download anything.
  sluice download z-image
      Downloads a model; `sluice download --list` shows which there are.
  sluice engine install sluice-cuda-0.1.0-linux-x86_64-sm80.tar.xz
      Installs the engine for NVIDIA GPUs.
  sluice probe
      Shows your hardware and the GPUs that can be simulated.";

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    failure; the standard error says what happened and what to do
  2    invalid command line
  130  cancelled with Ctrl-C

Environment:
  SLUICE_LOG            what to log to the standard error, such as `info` or `sluice_engine=debug`
  SLUICE_ENGINE         the command of an engine elsewhere, see `--engine`
  SLUICE_MODEL_FOLDERS  folders to search for parts of models, separated as in PATH
  SLUICE_TOKEN          the token that clients of `sluice serve` have to send
  HF_TOKEN              a token for models whose conditions have to be accepted
  HF_ENDPOINT           a mirror of Hugging Face
  HTTPS_PROXY           a proxy for downloads";

/// Generate images and clips on the graphics card you already own.
///
/// Without a command, Sluice opens its window.
#[derive(Debug, Parser)]
#[command(name = "sluice", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
struct CommandLine {
    /// Run the engine inside the window's process, for debugging: if the engine crashes, the window closes too.
    #[arg(long)]
    in_process: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Generate(Box<generate::Args>),
    Plan(Box<plan::Args>),
    Batch(Box<batch::Args>),
    Upscale(Box<upscale::Args>),
    Interpolate(Box<interpolate::Args>),
    Detail(Box<detail::Args>),
    Map(Box<map::Args>),
    Mask(Box<mask::Args>),
    Enhance(Box<enhance::Args>),
    Describe(Box<describe::Args>),
    Inspect(inspect::Args),
    Models(models::Args),
    Convert(convert::Args),
    Deploy(deploy::Args),
    #[cfg(feature = "download")]
    Download(download::Args),
    #[cfg(feature = "download")]
    Engine(engine_package::Args),
    Probe(probe::Args),
    #[cfg(feature = "serve")]
    Serve(Box<serve::Args>),
    #[cfg(feature = "serve")]
    Mcp(Box<mcp::Args>),
    Bench(bench::Args),
    #[cfg(feature = "window")]
    Open(open::Args),
    Completions(shell::Completions),
    #[command(hide = true)]
    Manual(shell::Manual),
    Worker(worker::Args),
}

/// The program's commands. The well-known models in the help of `plan` are only read where that is built.
fn commands() -> clap::Command {
    CommandLine::command().mut_subcommand("plan", |plan| plan.defer(plan::with_known_models))
}

fn parse() -> Result<CommandLine, clap::Error> {
    let mut commands = commands();
    let mut matches = commands.try_get_matches_from_mut(std::env::args_os())?;
    CommandLine::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut commands))
}

/// Runs the command that the program's arguments name.
pub fn run() -> ExitCode {
    let (command, in_process) = match parse() {
        Ok(CommandLine { command, in_process }) => (command, in_process),
        Err(message) => return exit::usage(&flags_elsewhere::explain(message)),
    };
    let _logs = crate::logs::start(command.is_none());
    crate::lean::restart_under_limits();
    exit::report(match command {
        None => open_window(in_process),
        Some(Command::Generate(args)) => generate::run(*args),
        Some(Command::Plan(args)) => plan::run(&args),
        Some(Command::Batch(args)) => batch::run(&args),
        Some(Command::Upscale(args)) => upscale::run(&args),
        Some(Command::Interpolate(args)) => interpolate::run(&args),
        Some(Command::Detail(args)) => detail::run(&args),
        Some(Command::Map(args)) => map::run(&args),
        Some(Command::Mask(args)) => mask::run(&args),
        Some(Command::Enhance(args)) => enhance::run(&args),
        Some(Command::Describe(args)) => describe::run(&args),
        Some(Command::Inspect(args)) => inspect::run(&args),
        Some(Command::Models(args)) => models::run(&args),
        Some(Command::Convert(args)) => convert::run(&args),
        Some(Command::Deploy(args)) => deploy::run(&args),
        #[cfg(feature = "download")]
        Some(Command::Download(args)) => download::run(&args),
        #[cfg(feature = "download")]
        Some(Command::Engine(args)) => engine_package::run(&args),
        Some(Command::Probe(args)) => probe::run(&args),
        #[cfg(feature = "serve")]
        Some(Command::Serve(args)) => serve::run(&args),
        #[cfg(feature = "serve")]
        Some(Command::Mcp(args)) => mcp::run(&args),
        Some(Command::Bench(args)) => bench::run(args),
        #[cfg(feature = "window")]
        Some(Command::Open(args)) => open::run(args, in_process),
        Some(Command::Completions(args)) => shell::complete(&args),
        Some(Command::Manual(args)) => shell::write_manual(&args),
        Some(Command::Worker(args)) => worker::run(&args),
    })
}

#[cfg(feature = "window")]
fn open_window(in_process: bool) -> anyhow::Result<Outcome> {
    crate::window::run(crate::window::WindowOptions { in_process, ..Default::default() })?;
    Ok(Outcome::Done)
}

#[cfg(not(feature = "window"))]
fn open_window(_: bool) -> anyhow::Result<Outcome> {
    anyhow::bail!("this program is the engine for NVIDIA GPUs; run `sluice`, next to it, to open the window")
}
