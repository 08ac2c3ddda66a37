//! `sluice models`: lists what is in the model folders.

use std::collections::BTreeMap;

use anyhow::Context as _;
use serde_json::{Value, json};
use sluice_engine::request::PromptFolders;

use super::{
    engine::{Engine, ListedModels},
    exit::{Outcome, stderr_line},
    inspect,
    model_folders::ModelFolderArgs,
    stdout,
};

const EXAMPLES: &str = "\
Examples:
  sluice models
      Lists the models of this computer.
  sluice models --engine \"ssh -T host sluice worker\"
      Lists those of the computer that the command leads to; with several --engine, those of each.";

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
    let names = args.folders.engines().names();
    let mut all = BTreeMap::new();
    for lane in 0..names.len() {
        let Some(listed) = engine.list_of(lane)? else { return Ok(Outcome::Cancelled) };
        all.insert(listed.lane, listed);
    }
    for (_, name) in names.iter().enumerate().filter(|(lane, _)| !all.contains_key(lane)) {
        stderr_line(&format!("the engine {name} cannot be used"));
    }
    let is_alone = names.len() == 1;
    let all = all.into_values().filter_map(|listed| Some((names.get(listed.lane)?, listed)));
    if args.json {
        let values = all.map(|(name, listed)| as_value(Some(name).filter(|_| !is_alone), &listed));
        let mut values: Vec<Value> = values.collect();
        let value = if is_alone { values.pop().unwrap_or_default() } else { Value::Array(values) };
        stdout::line(&serde_json::to_string_pretty(&value).context("the list cannot be written as JSON")?)?;
    } else {
        let parts = all.map(|(name, listed)| {
            let rows = inspect::listed(&listed.folders, &listed.inventory);
            if is_alone { rows } else { format!("{name}\n\n{rows}") }
        });
        stdout::line(&parts.collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(Outcome::Done)
}

/// The list of an engine, which is named if it is one of several.
fn as_value(name: Option<&String>, listed: &ListedModels) -> Value {
    let ListedModels { folders, inventory, .. } = listed;
    let mut value = json!({ "folders": folders, "items": inventory.items, "others": inventory.others });
    if let Some(name) = name {
        value["engine"] = json!(name);
    }
    value
}
