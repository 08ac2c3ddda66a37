//! The engine for NVIDIA GPUs: whether it can be installed, and how far that is. No drawing and no I/O.

use sluice_engine::session::Failure;

use super::State;
use crate::engines::cuda_engine::{Offer, Step};

/// What happens with the engine.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum CudaPhase {
    /// Nothing.
    #[default]
    Idle,
    /// Its size and its source are being asked for.
    Asking,
    /// It can be installed.
    Offered(Box<Offer>),
    /// It is being installed.
    Installing(Step),
    /// It is being removed.
    Removing,
    /// Something went wrong.
    Failed(Failure),
}

/// The engine for NVIDIA GPUs that is installed for the user, or may be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CudaInstall {
    /// Whether the window can install it.
    pub can_install: bool,
    /// Whether there is one next to the program.
    pub is_beside: bool,
    /// Whether it is installed.
    pub is_installed: bool,
    /// Whether it is known where releases are.
    pub has_releases: bool,
    /// The server of NVIDIA's libraries.
    pub host: String,
    /// What happens with it.
    pub phase: CudaPhase,
}

impl State {
    /// Whether there is an NVIDIA card whose engine is missing and can be installed.
    pub fn offers_cuda(&self) -> bool {
        let CudaInstall { can_install, is_beside, is_installed, .. } = self.cuda;
        can_install && !is_beside && !is_installed && !self.surroundings.cards.is_empty()
    }
}
