//! Asks servers and the keyring, on a thread of its own.

use std::{
    path::{Path, PathBuf},
    thread,
};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use sluice_engine::session::Failure;

use crate::{
    downloads::{
        DownloadError, Found, Link, Network, Offer, Release, Site, Stop, Token, keep_token, kept_token,
        look_up, newer_release, search,
    },
    window::files::Wake,
};

/// Maximum number of waiting tasks, and of waiting results.
const TASKS: usize = 16;

/// A task for the worker.
#[derive(Debug)]
pub enum GetTask {
    /// Finds out what a link leads to, or searches for words.
    Ask(Box<Network>, String),
    /// Reads how much is free in a folder.
    Free(Box<Network>, PathBuf),
    /// Looks whether there is a site's token in the keyring.
    HasToken(Site),
    /// Keeps a site's token, or removes it.
    KeepToken(Site, Option<Token>),
    /// Looks for a newer release at an address.
    Release(Box<Network>, String),
}

/// A result of the worker.
#[derive(Debug)]
pub enum GetEvent {
    /// What a link leads to.
    Offer(Box<Offer>),
    /// Repositories that were found for words.
    Found(String, Vec<Found>),
    /// It cannot be had.
    Failed {
        /// What was asked for.
        what: String,
        /// Why.
        failure: Failure,
        /// Whether there is no connection.
        is_offline: bool,
    },
    /// Bytes that are free in the folder, if that can be read.
    Free(Option<u64>),
    /// Whether there is a site's token in the keyring now, or what is wrong.
    Token(Site, Result<bool, String>),
    /// A newer release, if there is one.
    Release(Result<Option<Release>, Failure>),
}

/// The worker and its results.
pub struct GetWorker {
    tasks: Sender<GetTask>,
    results: Receiver<GetEvent>,
    stop: Stop,
}

impl GetWorker {
    /// Starts the worker. It ends when this is dropped. Without a thread it takes no tasks.
    pub fn start(wake: Wake) -> Self {
        let (tasks, queue) = bounded::<GetTask>(TASKS);
        let (report, results) = bounded(TASKS);
        let stop = Stop::default();
        let own = stop.clone();
        let work = move || {
            for task in queue {
                if own.is_stopped() || report.send(perform(task, &own)).is_err() {
                    break;
                }
                wake();
            }
        };
        if let Err(error) = thread::Builder::new().name("sluice-look-up".to_owned()).spawn(work) {
            tracing::error!(%error, "the thread that asks servers cannot be started");
        }
        Self { tasks, results, stop }
    }

    /// Queues a task. Returns `false` if too many are waiting.
    pub fn request(&self, task: GetTask) -> bool {
        match self.tasks.try_send(task) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => false,
            Err(TrySendError::Disconnected(_)) => {
                tracing::warn!("the thread that asks servers has ended");
                false
            }
        }
    }

    /// The next result, if there is one.
    pub fn try_recv(&self) -> Option<GetEvent> {
        self.results.try_recv().ok()
    }
}

impl Drop for GetWorker {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn perform(task: GetTask, stop: &Stop) -> GetEvent {
    match task {
        GetTask::Ask(network, what) => ask(&network, what, stop),
        GetTask::Free(network, folder) => GetEvent::Free(free(&network, &folder)),
        GetTask::HasToken(site) => GetEvent::Token(site, Ok(kept_token(site).is_some())),
        GetTask::KeepToken(site, token) => {
            GetEvent::Token(site, keep_token(site, token.as_ref()).map(|()| token.is_some()))
        }
        GetTask::Release(network, address) => {
            let newer = newer_release(&network, stop, &address, env!("CARGO_PKG_VERSION"));
            GetEvent::Release(newer.map_err(|error| failure(&error)))
        }
    }
}

/// What looks like a link is one; anything else is searched.
fn ask(network: &Network, what: String, stop: &Stop) -> GetEvent {
    let answer = match Link::parse(&what, &network.endpoint) {
        Ok(link) => look_up(network, stop, &link).map(|offer| GetEvent::Offer(Box::new(offer))),
        Err(error) if is_link(&what) => Err(DownloadError::Link(error)),
        Err(_) => search(network, stop, &what).map(|found| GetEvent::Found(what.clone(), found)),
    };
    answer.unwrap_or_else(|error| {
        let error = without_answer(error);
        GetEvent::Failed { what, failure: failure(&error), is_offline: error.is_offline() }
    })
}

/// A server that does not answer to the end is not connected: nothing has arrived that could be kept.
fn without_answer(error: DownloadError) -> DownloadError {
    match error {
        DownloadError::Dropped { host } | DownloadError::Stalled { host } => DownloadError::Offline { host },
        other => other,
    }
}

fn failure(error: &DownloadError) -> Failure {
    Failure { message: error.to_string(), advice: Some(error.advice()) }
}

/// Whether words are meant as a link, even if they lead nowhere.
fn is_link(what: &str) -> bool {
    what.contains("://") || (what.contains('/') && !what.trim().contains(' '))
}

/// Bytes that are free where a folder is or will be.
fn free(network: &Network, folder: &Path) -> Option<u64> {
    let above = folder.ancestors().find(|folder| folder.exists())?;
    (network.free_space)(above)
        .inspect_err(|error| tracing::debug!(%error, "the free space is not known"))
        .ok()
}
