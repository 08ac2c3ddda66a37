//! `sluice engine`: installs the engine for NVIDIA GPUs for the user, removes it, and says which one is used.

use std::{path::PathBuf, thread};

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use sluice_engine::units;

use super::{
    exit::{self, Outcome, refuse, stderr_line},
    stdout,
};
use crate::{
    downloads::{Network, Stop, releases_page},
    engines::{
        CUDA, Engines, cards,
        cuda_engine::{CudaEngineError, Installed, Offer, Origin, Step, Target, install, remove},
    },
};

const EXAMPLES: &str = "\
Examples:
  sluice engine install sluice-cuda-0.1.0-linux-x86_64-sm80.tar.xz
      Installs the engine from an archive; its list, sluice-cuda-0.1.0.json, is beside it.
  sluice engine install
      Installs it from the release of this version, for the GPU of this computer.
  sluice engine status
      Says which engine is used.

The program is checked against its SHA-256 and started once before it is used. NVIDIA's libraries come from PyPI. What
was interrupted goes on when the same command is given again.";

/// Install the engine for NVIDIA GPUs, remove it, or say which one is used.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Install the engine in the user's data folder.
    Install(Install),
    /// Remove the engine from the user's data folder, with NVIDIA's libraries.
    Remove,
    /// Say which engine for NVIDIA GPUs is used, and what the GPUs of this computer can do.
    Status(Status),
}

#[derive(Debug, clap::Args)]
struct Install {
    /// An archive that packaging/cuda/package made, with its list beside it; that of the release if absent.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The compute capability to choose an archive for, times ten, such as 75 or 86; that of this computer's GPU by
    /// default.
    #[arg(long, value_name = "NUMBER", conflicts_with = "file")]
    capability: Option<u32>,
    /// A proxy, such as http://host:port, instead of HTTPS_PROXY.
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// Do not show progress.
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Debug, clap::Args)]
struct Status {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    match &args.what {
        What::Install(args) => args.run(),
        What::Remove => {
            let target = Target::of_user().map_err(explained)?;
            let was_there = remove(&target.engines).map_err(explained)?;
            stderr_line(if was_there { "The engine is removed." } else { "No engine was installed." });
            Ok(Outcome::Done)
        }
        What::Status(args) => args.run(),
    }
}

impl Install {
    fn run(&self) -> anyhow::Result<Outcome> {
        let target = Target::of_user().map_err(explained)?;
        let network = Network::of_user(None, self.proxy.as_deref());
        let stop = stopped_by_ctrl_c()?;
        let installed = self.offer(&network, &stop).and_then(|offer| {
            if !self.quiet {
                stderr_line(&words(&offer, &target));
            }
            let bar = if self.quiet { ProgressBar::hidden() } else { bar() };
            let installed = install(&network, &offer, &target, &stop, &|step| show(&bar, step));
            bar.finish_and_clear();
            installed
        });
        match installed {
            Ok(installed) => {
                stdout::line(&installed.program().display().to_string())?;
                Ok(Outcome::Done)
            }
            Err(error) if error.is_stop() => {
                stderr_line("What has arrived is kept: the same command goes on from there.");
                Ok(Outcome::Cancelled)
            }
            Err(error) => Err(explained(error)),
        }
    }

    fn offer(&self, network: &Network, stop: &Stop) -> Result<Offer, CudaEngineError> {
        if let Some(file) = &self.file {
            return Offer::of_file(file, &cards());
        }
        let address = releases_page().ok_or(CudaEngineError::NoReleases)?;
        let capability = match self.capability {
            Some(capability) => capability,
            None => Offer::capability_of(&cards())?,
        };
        Offer::of_release(network, stop, &address, capability)
    }
}

/// Ends when Ctrl-C is pressed.
fn stopped_by_ctrl_c() -> anyhow::Result<Stop> {
    let interrupts = exit::interrupts()?;
    let stop = Stop::default();
    let own = stop.clone();
    thread::Builder::new()
        .name("sluice-interrupts".to_owned())
        .spawn(move || {
            if interrupts.recv().is_ok() {
                own.stop();
            }
        })
        .context("the thread for Ctrl-C cannot be started")?;
    Ok(stop)
}

/// What is fetched, and from where.
fn words(offer: &Offer, target: &Target) -> String {
    let program = match offer.origin {
        Origin::File(_) => offer.package.file.clone(),
        Origin::Address(_) => {
            format!("{}, {} from {}", offer.package.file, units::memory(offer.package.bytes), offer.source())
        }
    };
    match offer.libraries.is_empty() {
        true => program,
        false => format!(
            "{program}; NVIDIA's libraries, {} from {}",
            units::memory(offer.library_bytes()),
            target.host()
        ),
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("  {bar:32} {percent:>3}%  {msg}");
    let bar = ProgressBar::new(1);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn show(bar: &ProgressBar, step: Step) {
    match step {
        Step::Fetching { done, bytes } => {
            bar.set_length(bytes);
            bar.set_position(done);
            bar.set_message("");
        }
        Step::Retrying { why } => bar.set_message(format!("{why}; trying again")),
        Step::Unpacking => bar.set_message("unpacking"),
        Step::Starting => bar.set_message("starting it once"),
    }
}

impl Status {
    fn run(&self) -> anyhow::Result<Outcome> {
        let engines = Engines::find().context("the path of this program is unknown")?;
        let program = engines.programs.iter().find(|program| program.engine == CUDA);
        let installed = Target::of_user().ok().and_then(|target| Installed::find(&target.engines));
        let cards = cards();
        if self.json {
            let cards = cards.iter().map(|card| json!({ "name": card.name, "capability": card.capability }));
            let value = json!({
                "program": program.map(|program| &program.path),
                "installed": installed.map(|installed| installed.folder),
                "gpus": cards.collect::<Vec<_>>(),
            });
            stdout::line(&value.to_string())?;
            return Ok(Outcome::Done);
        }
        stdout::line(&match program {
            Some(program) => format!("engine: {}", program.path.display()),
            None => "engine: not installed".to_owned(),
        })?;
        for card in &cards {
            let capability = card.capability.map_or_else(
                || "an unknown compute capability".to_owned(),
                |found| format!("compute capability {}.{}", found / 10, found % 10),
            );
            stdout::line(&format!("{}: {capability}", card.name))?;
        }
        if cards.is_empty() {
            stdout::line("no NVIDIA GPU was found")?;
        }
        Ok(Outcome::Done)
    }
}

fn explained(error: CudaEngineError) -> anyhow::Error {
    let advice = match error {
        CudaEngineError::UnknownCapability => {
            format!("{} Or name the capability with --capability.", error.advice())
        }
        _ => error.advice(),
    };
    refuse(error.to_string(), advice)
}
