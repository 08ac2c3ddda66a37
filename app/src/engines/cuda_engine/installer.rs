//! Finds, installs and removes the engine on a thread of its own, for a window.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use sluice_engine::session::Failure;

use super::{CudaEngineError, Offer, Step, Target, forget_downloads, install, remove};
use crate::{
    downloads::{Network, Stop},
    engines::Card,
};

/// What a thread reports.
#[derive(Debug)]
pub enum Report {
    /// What it does now.
    Step(Step),
    /// What can be installed.
    Offer(Box<Offer>),
    /// It is installed.
    Installed,
    /// It is removed.
    Removed,
    /// It was stopped.
    Stopped,
    /// It went wrong.
    Failed(Failure),
}

/// A thread that does one thing with the engine. Dropping it stops that; what has arrived is kept.
pub struct Installer {
    steps: Receiver<Step>,
    end: Receiver<Report>,
    stop: Stop,
    is_cancelled: Arc<AtomicBool>,
}

impl Installer {
    /// Finds out what an archive on this computer has for its cards.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn look_into(
        archive: PathBuf,
        cards: Vec<Card>,
        wake: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        Self::start(wake, move |_| Ok(Report::Offer(Box::new(Offer::of_file(&archive, &cards)?))))
    }

    /// Finds out what the release at an address has for a compute capability.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn look_up(
        network: Network,
        address: String,
        capability: u32,
        wake: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        Self::start(wake, move |work| {
            let offer = Offer::of_release(&network, &work.stop, &address, capability)?;
            Ok(Report::Offer(Box::new(offer)))
        })
    }

    /// Installs what is offered.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn install(
        network: Network,
        offer: Offer,
        target: Target,
        wake: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        Self::start(wake, move |work| {
            let done = install(&network, &offer, &target, &work.stop, &|step| work.tell(step));
            if work.is_cancelled.load(Ordering::Relaxed) && done.is_err() {
                forget_downloads(&target.engines)?;
            }
            done.map(|_| Report::Installed)
        })
    }

    /// Removes the engine.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn remove(target: Target, wake: impl Fn() + Send + 'static) -> io::Result<Self> {
        Self::start(wake, move |_| remove(&target.engines).map(|_| Report::Removed))
    }

    fn start(
        wake: impl Fn() + Send + 'static,
        run: impl FnOnce(&Work) -> Result<Report, CudaEngineError> + Send + 'static,
    ) -> io::Result<Self> {
        // The last step: a window that draws rarely sees no earlier ones.
        let (tell, steps) = bounded(1);
        let (report, end) = bounded(1);
        let (stop, is_cancelled) = (Stop::default(), Arc::<AtomicBool>::default());
        let work = Work {
            tell,
            told: steps.clone(),
            wake: Box::new(wake),
            stop: stop.clone(),
            is_cancelled: Arc::clone(&is_cancelled),
        };
        thread::Builder::new().name("sluice-cuda-engine".to_owned()).spawn(move || {
            let ended = run(&work).unwrap_or_else(|error| match error.is_stop() {
                true => Report::Stopped,
                false => Report::Failed(Failure { message: error.to_string(), advice: Some(error.advice()) }),
            });
            // Nobody waits for it any more if the receiver is gone.
            let _ = report.send(ended);
            (work.wake)();
        })?;
        Ok(Self { steps, end, stop, is_cancelled })
    }

    /// Stops it, and removes what has arrived.
    pub fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        self.stop.stop();
    }

    /// What it reports next, if there is something. The end comes last.
    pub fn try_recv(&self) -> Option<Report> {
        match self.steps.try_iter().last() {
            Some(step) => Some(Report::Step(step)),
            None => self.end.try_recv().ok(),
        }
    }
}

impl Drop for Installer {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// What a thread has to do its work with.
struct Work {
    tell: Sender<Step>,
    /// The other end, to take back what nobody has seen.
    told: Receiver<Step>,
    wake: Box<dyn Fn() + Send>,
    stop: Stop,
    is_cancelled: Arc<AtomicBool>,
}

impl Work {
    fn tell(&self, step: Step) {
        if let Err(TrySendError::Full(step)) = self.tell.try_send(step) {
            drop(self.told.try_recv());
            // There is room, for nobody else sends.
            drop(self.tell.try_send(step));
        }
        (self.wake)();
    }
}
