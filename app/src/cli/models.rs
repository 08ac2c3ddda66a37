//! `sluice models`: lists what is in the model folders.

use anyhow::Context as _;
use serde_json::{Value, json};
use sluice_engine::{request::PromptFolders, session::Failure};

use super::{
    engine::{Engine, ListedModels},
    exit::{Explained, Outcome, complain},
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
    let is_alone = names.len() == 1;
    let Some(answers) = engine.list_each(names.len())? else { return Ok(Outcome::Cancelled) };
    let mut outcome = Outcome::Done;
    let mut all = Vec::new();
    for (name, answer) in names.iter().zip(answers) {
        match answer {
            Ok(listed) => all.push((name, listed)),
            Err(failure) if is_alone => return Err(Explained(failure).into()),
            Err(Failure { message, advice }) => {
                let message = format!("the engine {name} cannot be used: {message}");
                complain(&Failure { message, advice });
                outcome = Outcome::Failed;
            }
        }
    }
    if all.is_empty() {
        return Ok(outcome);
    }
    if args.json {
        let values = all.iter().map(|(name, listed)| as_value(Some(*name).filter(|_| !is_alone), listed));
        let mut values: Vec<Value> = values.collect();
        let value = if is_alone { values.pop().unwrap_or_default() } else { Value::Array(values) };
        stdout::line(&serde_json::to_string_pretty(&value).context("the list cannot be written as JSON")?)?;
    } else {
        let parts = all.iter().map(|(name, listed)| {
            let rows = inspect::listed(&listed.folders, &listed.inventory);
            if is_alone { rows } else { format!("{name}\n\n{rows}") }
        });
        stdout::line(&parts.collect::<Vec<_>>().join("\n\n"))?;
    }
    Ok(outcome)
}

/// The list of an engine, which is named if it is one of several.
fn as_value(name: Option<&String>, listed: &ListedModels) -> Value {
    let ListedModels { folders, inventory } = listed;
    let mut value = json!({ "folders": folders, "items": inventory.items, "others": inventory.others });
    if let Some(name) = name {
        value["engine"] = json!(name);
    }
    value
}
