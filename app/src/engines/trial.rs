//! Tries whether an engine answers, and what it has.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use sluice_engine::{
    hardware::HardwareSample,
    session::{Event, Failure, Serving, SessionOptions},
};

use super::{Place, start};

/// How often a trial looks whether it was given up.
const LOOK: Duration = Duration::from_millis(100);

/// What an engine says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Introduction {
    /// Its process, with its device.
    pub serving: Serving,
    /// Its computer.
    pub hardware: HardwareSample,
}

impl Introduction {
    /// The version, the device and its memory. An engine of another version does not get so far.
    pub fn words(&self, memory: impl Fn(u64) -> String) -> String {
        let HardwareSample { cpu, ram_total, gpus, .. } = &self.hardware;
        let version = format!("Sluice {}, {}", env!("CARGO_PKG_VERSION"), self.serving.engine);
        let cards = gpus.iter().map(|gpu| format!("{}, {}", gpu.name, memory(gpu.vram_total)));
        let cards: Vec<String> = cards.filter(|_| super::computes_on_gpus(&self.serving.engine)).collect();
        let machine = match (cards.is_empty(), cpu.is_empty()) {
            (false, _) => cards.join(", "),
            (true, false) => format!("{cpu}, {}", memory(*ram_total)),
            (true, true) => memory(*ram_total),
        };
        format!("{version}: {machine}")
    }
}

/// An engine that is being tried. Dropping it gives that up.
pub struct Trial {
    answer: Receiver<Result<Introduction, Failure>>,
    started: Instant,
    /// Its end ends the thread.
    _keeps: crossbeam_channel::Sender<()>,
}

impl Trial {
    /// Starts an engine on a thread of its own, which calls `wake` when there is an answer.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(place: Place, wake: impl Fn() + Send + 'static) -> io::Result<Self> {
        let (report, answer) = bounded(1);
        let (keeps, kept) = bounded::<()>(0);
        thread::Builder::new().name("sluice-try-engine".to_owned()).spawn(move || {
            if let Some(result) = introduce(&place, &kept) {
                // Nobody waits for it any more if the receiver is gone.
                let _ = report.send(result);
                wake();
            }
        })?;
        Ok(Self { answer, started: Instant::now(), _keeps: keeps })
    }

    /// The answer, once.
    pub fn try_recv(&self) -> Option<Result<Introduction, Failure>> {
        self.answer.try_recv().ok()
    }

    /// How long it has been tried.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Waits until an engine serves and has told about its computer; `None` once nobody waits.
fn introduce(place: &Place, kept: &Receiver<()>) -> Option<Result<Introduction, Failure>> {
    let options =
        |_: &Place| SessionOptions { hardware: true, keeps_jobs: false, ..SessionOptions::default() };
    let session = match start(std::slice::from_ref(place), options) {
        Ok(session) => session,
        Err(error) => return Some(Err(Failure { message: error.to_string(), advice: None })),
    };
    let (mut serving, mut hardware, mut failed) = (None, None, None);
    loop {
        if kept.try_recv().is_err_and(|error| error.is_disconnected()) {
            return None;
        }
        match session.events().recv_timeout(LOOK) {
            Ok(Event::Serving(now)) => serving = Some(now),
            Ok(Event::Hardware(sample)) => hardware = Some(sample),
            Ok(Event::Failed { job: None, failure }) => failed = Some(failure),
            Ok(Event::ShutDown) | Err(RecvTimeoutError::Disconnected) => {
                let unknown =
                    || Failure { message: "the engine ended unexpectedly".to_owned(), advice: None };
                return Some(Err(failed.unwrap_or_else(unknown)));
            }
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
        }
        if let (Some(serving), Some(hardware)) = (&serving, &hardware) {
            return Some(Ok(Introduction { serving: serving.clone(), hardware: hardware.clone() }));
        }
    }
}
