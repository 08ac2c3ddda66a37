//! `sluice bench`: measures this machine, and writes checkpoints for that.

mod digest;
mod kernels;
mod link;
mod make_checkpoint;
mod measurement;
mod report;
mod run;
mod way;

use clap::Subcommand;

use super::exit::Outcome;

/// Measure the speed of this machine, and write checkpoints for such measurements.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Kernels(kernels::Args),
    Link(link::Args),
    MakeCheckpoint(make_checkpoint::Args),
    Run(Box<run::Args>),
}

pub(super) fn run(args: Args) -> anyhow::Result<Outcome> {
    match args.command {
        Command::Kernels(args) => kernels::run(&args),
        Command::Link(args) => link::run(&args),
        Command::MakeCheckpoint(args) => make_checkpoint::run(&args),
        Command::Run(args) => run::run(&args),
    }
}
