//! `sluice models`: lists what is in the model folders.

use anyhow::Context as _;
use serde_json::json;
use sluice_engine::request::PromptFolders;

use super::{engine::Engine, exit::Outcome, inspect, model_folders::ModelFolderArgs, stdout};

const EXAMPLES: &str = "\
Examples:
  sluice models
      Lists the models of this computer.
  sluice models --engine \"ssh -T host sluice worker\"
      Lists those of the computer that the command leads to.";

/// List what is in the model folders.
///
/// These are the folders in SLUICE_MODEL_FOLDERS and the one for downloads. It reads only headers.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    #[command(flatten)]
    folders: ModelFolderArgs,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let engine = Engine::start(None, &args.folders, PromptFolders::default())?;
    let Some((folders, inventory)) = engine.list()? else { return Ok(Outcome::Cancelled) };
    if args.json {
        let all = json!({ "folders": folders, "items": inventory.items, "others": inventory.others });
        stdout::line(&serde_json::to_string_pretty(&all).context("the list cannot be written as JSON")?)?;
    } else {
        stdout::line(&inspect::listed(&folders, &inventory))?;
    }
    Ok(Outcome::Done)
}
