//! The engine for NVIDIA GPUs in the user's data folder: where it is, and how it gets there.
//!
//! An [`Offer`] says what an archive or a release has for a card, and [`install`] fetches, checks, unpacks and tries it
//! before it gets its place. NVIDIA's libraries come from PyPI.

#[cfg(feature = "download")]
mod error;
#[cfg(feature = "download")]
mod index;
#[cfg(feature = "download")]
mod install;
#[cfg(feature = "download")]
mod installer;
#[cfg(feature = "download")]
mod offer;
#[cfg(feature = "download")]
mod start;
#[cfg(feature = "download")]
mod unpack;

use std::{
    env,
    ffi::OsString,
    iter,
    path::{Path, PathBuf},
};

use sluice_engine::checkpoint::{ASSETS_VARIABLE, starter_folder};

use super::cuda_in;
use crate::folders::data_folder;

#[cfg(feature = "download")]
pub use {
    error::CudaEngineError,
    index::{Index, Library, Package},
    install::{Step, Target, forget_downloads, install, remove},
    installer::{Installer, Report},
    offer::{Offer, Origin},
};

/// The folder of the engine of this version, inside that of all.
const OF_VERSION: &str = concat!("cuda-", env!("CARGO_PKG_VERSION"));
/// The folder of NVIDIA's libraries, inside that of the engine.
const LIBRARIES: &str = "lib";
/// Where programs search for libraries.
const LIBRARY_PATH: &str = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };

/// Whether there are packages of it for this kind of computer.
pub const HAS_PACKAGES: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// The folder of engines that are installed for the user; `None` without a home folder.
pub fn engines_folder() -> Option<PathBuf> {
    data_folder().map(|folder| folder.join("engines"))
}

/// An engine that is installed for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its folder.
    pub folder: PathBuf,
}

impl Installed {
    /// That of this version in a folder of engines.
    pub fn find(engines: &Path) -> Option<Self> {
        let installed = Self { folder: engines.join(OF_VERSION) };
        installed.program().is_file().then_some(installed)
    }

    /// Its program.
    pub fn program(&self) -> PathBuf {
        cuda_in(&self.folder)
    }

    /// The variables with which it starts: where its libraries are, and what comes with this program.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let known = env::var_os(LIBRARY_PATH).filter(|paths| !paths.is_empty()).unwrap_or_default();
        let further = env::split_paths(&known).filter(|path| !path.as_os_str().is_empty());
        let libraries = self.folder.join(LIBRARIES);
        let paths = env::join_paths(iter::once(libraries.clone()).chain(further));
        let paths = paths.unwrap_or_else(|error| {
            tracing::warn!(%error, "other folders of libraries are left out");
            libraries.into_os_string()
        });
        let assets = starter_folder().ok().and_then(|folder| Some(folder.parent()?.to_owned()));
        let assets = assets.map(|folder| (OsString::from(ASSETS_VARIABLE), folder.into_os_string()));
        iter::once((OsString::from(LIBRARY_PATH), paths)).chain(assets).collect()
    }
}
