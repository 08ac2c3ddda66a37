//! Installs and removes the engine for NVIDIA GPUs, and starts the engines anew then.

use std::io;

use egui::Context;
use sluice_engine::session::Failure;

use super::SluiceApp;
use crate::{
    downloads::Network,
    engines::cuda_engine::{Installed, Installer, Offer, Report, Step, Target},
    language::tr,
    window::{
        action::CudaAction,
        state::{CudaInstall, CudaPhase},
    },
};

/// What the window needs to install the engine for NVIDIA GPUs.
#[derive(Debug, Clone)]
pub struct CudaOptions {
    /// Where it goes.
    pub target: Target,
    /// How servers are reached where no models are downloaded.
    pub network: Network,
    /// Whether there is one next to the program.
    pub is_beside: bool,
    /// The page that tells the latest release.
    pub releases: Option<String>,
}

/// The thread that installs it, and what it needs.
pub(super) struct CudaInstalling {
    options: Option<CudaOptions>,
    work: Option<Installer>,
    repaint: Context,
}

impl CudaInstalling {
    /// Nothing runs yet.
    pub fn with(repaint: &Context, options: Option<CudaOptions>) -> Self {
        Self { options, work: None, repaint: repaint.clone() }
    }

    /// What the window shows of it at first.
    pub fn state(&self) -> CudaInstall {
        let Some(options) = &self.options else { return CudaInstall::default() };
        CudaInstall {
            can_install: true,
            is_beside: options.is_beside,
            is_installed: Installed::find(&options.target.engines).is_some(),
            has_releases: options.releases.is_some(),
            host: options.target.host().to_owned(),
            phase: CudaPhase::Idle,
        }
    }
}

impl SluiceApp {
    pub(super) fn act_on_cuda(&mut self, action: CudaAction) {
        let Some(options) = self.cuda.options.clone() else { return };
        // A file may be chosen late.
        let is_busy = matches!(self.state.cuda.phase, CudaPhase::Installing(_) | CudaPhase::Removing);
        if is_busy && !matches!(action, CudaAction::Cancel) {
            return;
        }
        let repaint = self.cuda.repaint.clone();
        let wake = move || repaint.request_repaint();
        let network = self.getting.as_ref().map_or(options.network, |getting| getting.network());
        match action {
            CudaAction::LookUp => {
                let Some(address) = options.releases else { return };
                match Offer::capability_of(&self.state.surroundings.cards) {
                    Ok(capability) => {
                        let work = Installer::look_up(network, address, capability, wake);
                        self.work_on_cuda(CudaPhase::Asking, work);
                    }
                    Err(error) => {
                        let (message, advice) = (error.to_string(), Some(error.advice()));
                        self.state.cuda.phase = CudaPhase::Failed(Failure { message, advice });
                    }
                }
            }
            CudaAction::LookInto(path) => {
                let cards = self.state.surroundings.cards.clone();
                self.work_on_cuda(CudaPhase::Asking, Installer::look_into(path, cards, wake));
            }
            CudaAction::Install => {
                if !matches!(self.state.cuda.phase, CudaPhase::Offered(_)) {
                    return;
                }
                let CudaPhase::Offered(offer) = std::mem::take(&mut self.state.cuda.phase) else { return };
                let first = Step::Fetching { done: 0, bytes: offer.fetched() };
                let work = Installer::install(network, *offer, options.target, wake);
                self.work_on_cuda(CudaPhase::Installing(first), work);
            }
            CudaAction::Cancel => match &self.cuda.work {
                Some(work) => work.cancel(),
                None => self.state.cuda.phase = CudaPhase::Idle,
            },
            CudaAction::Remove => {
                self.work_on_cuda(CudaPhase::Removing, Installer::remove(options.target, wake));
            }
        }
    }

    fn work_on_cuda(&mut self, phase: CudaPhase, work: io::Result<Installer>) {
        match work {
            Ok(work) => {
                self.cuda.work = Some(work);
                self.state.cuda.phase = phase;
            }
            Err(error) => {
                let failure = Failure { message: error.to_string(), advice: Some(tr!("app-try-again")) };
                self.state.cuda.phase = CudaPhase::Failed(failure);
            }
        }
    }

    /// Takes what the thread says.
    pub(super) fn follow_cuda(&mut self) {
        while let Some(report) = self.cuda.work.as_ref().and_then(Installer::try_recv) {
            let phase = match report {
                Report::Step(step) => {
                    self.state.cuda.phase = CudaPhase::Installing(step);
                    continue;
                }
                Report::Offer(offer) => CudaPhase::Offered(offer),
                Report::Installed => {
                    self.state.cuda.is_installed = true;
                    self.state.messages.say(tr!("engines-cuda-installed"), Vec::new());
                    self.restart_engines();
                    CudaPhase::Idle
                }
                Report::Removed => {
                    self.state.cuda.is_installed = false;
                    self.restart_engines();
                    CudaPhase::Idle
                }
                Report::Stopped => CudaPhase::Idle,
                Report::Failed(failure) => CudaPhase::Failed(failure),
            };
            self.cuda.work = None;
            self.state.cuda.phase = phase;
        }
    }
}
