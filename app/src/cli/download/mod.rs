//! `sluice download`: fetches models, and lists those that can be fetched.

mod list;
mod progress;

use std::{collections::BTreeSet, path::PathBuf, sync::Arc, time::Duration};

use anyhow::Context;
use crossbeam_channel::RecvTimeoutError;
use serde_json::json;
use sluice_engine::{hardware::cards, units};

use super::{
    exit::{self, Outcome, refuse, stderr_line},
    names::nearest,
    stdout,
};
use crate::{
    downloads::{
        Choice, Download, DownloadError, DownloadId, Downloads, Link, Listed, Network, Offer, Order, Phase,
        Stop, Version, catalogue, look_up,
    },
    folders::downloads_folder,
};
use progress::Progress;

const EXAMPLES: &str = "\
Examples:
  sluice download --list --card rtx-3060
      Lists the models of the catalogue, with their sizes and how each runs on this GPU.
  sluice download z-image
      Downloads the smallest good version for this machine.
  sluice download flux.1-schnell --format Q4_K_S --to ~/ComfyUI/models
      Downloads another version, into the folders of ComfyUI.
  sluice download https://huggingface.co/owner/name/blob/main/model.safetensors
      Downloads one file. Links of repositories and of models on Civitai work too, and owner/name.

A download that was interrupted goes on when the same command is given again.";

/// Download models from Hugging Face, its mirrors and Civitai.
///
/// Each file arrives as NAME.part and gets its name when its SHA-256 is right.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Names of models in the catalogue, links, or owner/name.
    #[arg(value_name = "NAME|LINK", required_unless_present = "list")]
    what: Vec<String>,
    /// The folder for models; inside it, files go into folders such as `diffusion_models` and `vae`.
    #[arg(long, value_name = "FOLDER")]
    to: Option<PathBuf>,
    /// The version of a model in the catalogue, such as bf16, fp8 or Q4_K_S; the smallest good one by default.
    #[arg(long, value_name = "FORMAT", conflicts_with = "list")]
    format: Option<String>,
    /// List the models of the catalogue instead of downloading.
    #[arg(long)]
    list: bool,
    /// Choose versions for this GPU, and say how models run on it. `sluice probe` lists all of them.
    #[arg(long, value_name = "NAME", ignore_case = true, value_parser = card_names())]
    card: Option<String>,
    /// A mirror of Hugging Face, instead of HF_ENDPOINT.
    #[arg(long, value_name = "URL")]
    endpoint: Option<String>,
    /// A proxy, such as http://host:port, instead of HTTPS_PROXY.
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// Print JSON: the list, or a line for each step of a download.
    #[arg(long)]
    json: bool,
    /// Do not show progress.
    #[arg(short, long)]
    quiet: bool,
}

fn card_names() -> clap::builder::PossibleValuesParser {
    clap::builder::PossibleValuesParser::new(cards().iter().map(|card| card.id.as_str()))
}

/// How often progress is looked at.
const EVERY: Duration = Duration::from_millis(200);

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    if args.list {
        return list::run(args.card.as_deref(), args.json);
    }
    let folder =
        args.to.clone().or_else(downloads_folder).context("this user has no home folder; use --to")?;
    let network = Network::of_user(args.endpoint.as_deref(), args.proxy.as_deref());
    let interrupts = exit::interrupts()?;
    // What a person asks for is looked up before anything is fetched. Ctrl-C ends the program meanwhile.
    let mut orders = Vec::new();
    for what in &args.what {
        orders.extend(args.orders(what, &network, &folder)?);
    }
    let downloads = Downloads::start(network, None, Arc::new(|| ())).context("the threads for downloads")?;
    let ids: Vec<DownloadId> = orders.into_iter().map(|order| downloads.add(order)).collect();
    let mut progress = Progress::new(args.quiet, args.json);
    let mut ended = BTreeSet::new();
    let mut outcome = Outcome::Done;
    while ended.len() < ids.len() {
        let interrupted = match interrupts.recv_timeout(EVERY) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(EVERY);
                false
            }
        };
        let all = downloads.list();
        for download in &all {
            if !ended.contains(&download.id)
                && let Some(how) = told(download, args.json, &progress)?
            {
                ended.insert(download.id);
                outcome = outcome.max(how);
            }
        }
        progress.show(&all)?;
        if interrupted {
            drop(progress);
            stderr_line("What has arrived is kept: the same command goes on from there.");
            return Ok(Outcome::Cancelled);
        }
    }
    Ok(outcome)
}

/// Says how a download has ended, if it has.
fn told(download: &Download, as_json: bool, progress: &Progress) -> anyhow::Result<Option<Outcome>> {
    let Download { title, phase, arrived, .. } = download;
    Ok(match phase {
        Phase::Done { opens, is_verified } => {
            if as_json {
                let files = arrived.iter().map(|file| {
                    json!({ "path": file.path, "bytes": file.bytes, "sha256": file.sha256, "verified": file.is_verified, "was_here": file.was_here })
                });
                let line = json!({ "event": "done", "title": title, "opens": opens, "verified": is_verified, "files": files.collect::<Vec<_>>() });
                stdout::line(&line.to_string())?;
            } else {
                if !is_verified {
                    progress.write(&format!(
                        "{title}: nobody says what its SHA-256 should be, so only its size was checked"
                    ));
                }
                stdout::line(&opens.display().to_string())?;
            }
            Some(Outcome::Done)
        }
        Phase::Failed(failure) => {
            fail(title, &failure.message, failure.advice.as_deref(), as_json, progress)?;
            Some(Outcome::Failed)
        }
        Phase::Offline { why } => {
            let advice = "Check the connection, then give the same command again. What has arrived is kept.";
            fail(title, why, Some(advice), as_json, progress)?;
            Some(Outcome::Failed)
        }
        Phase::Waiting | Phase::Running | Phase::Checking | Phase::Retrying { .. } | Phase::Paused => None,
    })
}

fn fail(
    title: &str,
    message: &str,
    advice: Option<&str>,
    as_json: bool,
    progress: &Progress,
) -> anyhow::Result<()> {
    if as_json {
        let line = json!({ "event": "failed", "title": title, "message": message, "advice": advice });
        stdout::line(&line.to_string())?;
    }
    progress.write(&format!("error: {title}: {message}"));
    if let Some(advice) = advice {
        progress.write(&format!("help: {advice}"));
    }
    Ok(())
}

impl Args {
    /// What to download for a name or a link.
    fn orders(
        &self,
        what: &str,
        network: &Network,
        folder: &std::path::Path,
    ) -> anyhow::Result<Option<Order>> {
        if let Some(listed) = catalogue::catalogue().find(what) {
            let version = self.version(listed)?;
            if version.is_gated {
                stderr_line(&format!(
                    "{}: its conditions have to be accepted first, at https://huggingface.co/{}",
                    listed.name, listed.repository
                ));
            }
            if let Some(order) = listed.order(version, folder.to_owned()) {
                return Ok(Some(order));
            }
            let offer = look_up(network, &Stop::default(), &listed.link()).map_err(explained)?;
            let choice = offer.only().map_err(|error| refuse(error.to_string(), error.advice()))?;
            return Ok(Some(of_choice(&listed.name, choice, folder)));
        }
        let link = Link::parse(what, &network.endpoint).map_err(|error| {
            let ids = catalogue::catalogue().models.iter().map(|listed| listed.id.as_str());
            let advice = match nearest(what, ids) {
                Some(id) => format!("Did you mean {id}? `sluice download --list` shows all."),
                None => error.advice(),
            };
            refuse(error.to_string(), advice)
        })?;
        let offer: Offer = look_up(network, &Stop::default(), &link).map_err(explained)?;
        let choice = offer.only().map_err(|error| refuse(error.to_string(), error.advice()))?;
        Ok(Some(of_choice(&offer.title, choice, folder)))
    }

    fn version<'a>(&self, listed: &'a Listed) -> anyhow::Result<&'a Version> {
        let formats =
            || listed.versions.iter().map(|version| version.format.as_str()).collect::<Vec<_>>().join(", ");
        let found = match &self.format {
            Some(format) => listed.version(format),
            None => listed.version_for(list::memory_of(self.card.as_deref())?.unwrap_or(0)),
        };
        found.ok_or_else(|| {
            let format = self.format.as_deref().unwrap_or_default();
            refuse(
                format!("{} does not come as {format}", listed.name),
                format!("Use one of: {}.", formats()),
            )
        })
    }
}

fn of_choice(title: &str, choice: &Choice, folder: &std::path::Path) -> Order {
    let title = if choice.folder.is_some() { title.to_owned() } else { format!("{title}: {}", choice.name) };
    Order { title, files: choice.files.clone(), folder: folder.to_owned(), opens: choice.folder.clone() }
}

fn explained(error: DownloadError) -> anyhow::Error {
    refuse(error.to_string(), error.advice())
}

/// Bytes with a unit, or that they are not known.
fn size(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "unknown size".to_owned(), units::memory)
}
