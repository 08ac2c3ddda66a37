//! `sluice inspect`: shows what a model consists of, or what files are.

mod files;
mod media;
mod model;

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;
use sluice_engine::{
    checkpoint::{CheckpointError, Role, is_diffusers, is_model_folder},
    models::{Inventory, content, inventory},
    request::{ModelSource, PromptFolders},
    session::precisions,
};

use super::{
    adapter,
    engine::Engine,
    exit::{Outcome, refuse},
    model_folders::ModelFolderArgs,
    stdout,
};

/// Show what a model consists of, or what files are.
///
/// For the folder or file of a model, this lists all its parts. For any other file, such as a LoRA, it says what the
/// file is. For an image or a clip, it shows the settings inside. For a folder with several models, it lists the files.
/// It reads only headers, so it is quick for models of any size.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The folder or file of a model, an image or a clip, a folder of files, or `starter` or `starter-clip` for the built-in models.
    #[arg(value_name = "PATH")]
    model: ModelSource,
    #[command(flatten)]
    folders: ModelFolderArgs,
    /// List every block. By default, consecutive blocks of the same size share a line.
    #[arg(long)]
    blocks: bool,
    /// Show the size and the error of the weights in each type, measured on a sample of them; see `--weight-type` of
    /// `generate`.
    #[arg(long, conflicts_with = "blocks")]
    precisions: bool,
    /// Print the result as JSON.
    #[arg(long, conflicts_with = "blocks")]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.precisions {
        let precisions = precisions(&args.model, &args.folders.all())
            .map_err(|failure| refuse(failure.message, failure.advice.unwrap_or_default()))?;
        return say(args, &precisions, || model::precision_table(&precisions).join("\n"));
    }
    if !args.folders.engines().is_here() {
        return model(args);
    }
    match &args.model {
        ModelSource::Path(path) if path.is_dir() && !is_model_folder(path) => list(path, args),
        ModelSource::Path(path) if path.is_dir() => folder(path, args),
        ModelSource::Path(path) if path.is_file() => file(path, args),
        _ => model(args),
    }
}

fn model(args: &Args) -> anyhow::Result<Outcome> {
    let Some(summary) =
        Engine::start(None, &args.folders, PromptFolders::default())?.load(args.model.clone())?
    else {
        return Ok(Outcome::Cancelled);
    };
    say(args, &summary, || model::describe(&summary, args.blocks))
}

/// Describes an adapter as such, and a file with a denoiser as a model. If the model lacks a part, the file itself is
/// described first.
fn file(path: &Path, args: &Args) -> anyhow::Result<Outcome> {
    if media::is_media(path) {
        let restored = media::read(path)?;
        return say(args, &media::Found::new(&restored), || media::describe(path, &restored));
    }
    if let Some(summary) = adapter::summary(path)? {
        return say(args, &summary, || adapter::describe(&summary));
    }
    let content = content(path).map_err(|error| explained(&error))?;
    if !content.roles.contains(&Role::Denoiser) {
        return say(args, &content, || files::describe(path, &content));
    }
    let outcome = model(args);
    if outcome.is_err() {
        say(args, &content, || files::describe(path, &content))?;
    }
    outcome
}

/// A folder that is laid out as one model may hold many: if it cannot be opened as one, its files are listed.
fn folder(folder: &Path, args: &Args) -> anyhow::Result<Outcome> {
    let outcome = model(args);
    if outcome.is_err() && !is_diffusers(folder) {
        list(folder, args)?;
    }
    outcome
}

fn list(folder: &Path, args: &Args) -> anyhow::Result<Outcome> {
    let inventory = inventory(folder);
    if inventory.items.is_empty() {
        return Err(explained(&CheckpointError::NoModel { path: folder.to_owned() }));
    }
    say(args, &inventory, || files::list(folder, &inventory))
}

/// The contents of several folders as text.
pub(super) fn listed(folders: &[PathBuf], inventory: &Inventory) -> String {
    let part = |folder: &PathBuf| {
        let items = inventory.items.iter().filter(|item| item.path.starts_with(folder)).cloned().collect();
        let part = Inventory { items, others: 0 };
        let rows = if part.items.is_empty() { "nothing".to_owned() } else { files::list(folder, &part) };
        let rows: Vec<String> = rows.lines().map(|line| format!("  {line}")).collect();
        format!("{}\n{}", folder.display(), rows.join("\n"))
    };
    folders.iter().map(part).collect::<Vec<_>>().join("\n\n")
}

fn explained(error: &CheckpointError) -> anyhow::Error {
    refuse(error.to_string(), error.advice())
}

fn say(args: &Args, value: &impl Serialize, words: impl FnOnce() -> String) -> anyhow::Result<Outcome> {
    if args.json {
        stdout::line(
            &serde_json::to_string_pretty(value).context("the result cannot be converted to JSON")?,
        )?;
    } else {
        stdout::line(&words())?;
    }
    Ok(Outcome::Done)
}
