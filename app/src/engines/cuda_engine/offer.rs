//! What can be installed: from an archive on this computer, or from a release.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    CudaEngineError, HAS_PACKAGES,
    index::{Index, Library, Package, VERSION},
};
use crate::{
    downloads::{DownloadError, Network, Stop, assets_of, json_at},
    engines::Card,
};

/// Where an archive is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// On this computer.
    File(PathBuf),
    /// On a server.
    Address(String),
}

/// An engine that can be installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Its archive.
    pub package: Package,
    /// NVIDIA's libraries that it needs.
    pub libraries: Vec<Library>,
    /// Where the archive is.
    pub origin: Origin,
}

impl Offer {
    /// An archive on this computer, whose cards are these. The list of engines is beside it.
    ///
    /// # Errors
    /// If there is no list, the archive is not in it, or it is for later cards.
    pub fn of_file(archive: &Path, cards: &[Card]) -> Result<Self, CudaEngineError> {
        if !HAS_PACKAGES {
            return Err(CudaEngineError::Platform);
        }
        let list = archive.with_file_name(Index::file_name());
        let text = fs::read(&list).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => CudaEngineError::NoIndex { path: list.clone() },
            _ => DownloadError::File { path: list.clone(), doing: "read", source }.into(),
        })?;
        let index = Index::read(&Index::file_name(), &text)?;
        let name = archive.file_name().unwrap_or_default().to_string_lossy();
        let package = index.package_named(&name)?.clone();
        if let Some(found) = cards.iter().filter_map(|card| card.capability).min() {
            package.runs_on(found)?;
        }
        Ok(Self { package, libraries: index.libraries, origin: Origin::File(archive.to_owned()) })
    }

    /// The archive for a compute capability of the release that belongs to this program; `address` is the page that tells the
    /// latest release.
    ///
    /// # Errors
    /// If the server does not answer, or has none.
    pub fn of_release(
        network: &Network,
        stop: &Stop,
        address: &str,
        capability: u32,
    ) -> Result<Self, CudaEngineError> {
        if !HAS_PACKAGES {
            return Err(CudaEngineError::Platform);
        }
        let assets = assets_of(network, stop, address, VERSION)?;
        let find = |name: &str| {
            let found = assets.iter().find(|asset| asset.name == name);
            let lacking = || CudaEngineError::NotReleased {
                version: VERSION.to_owned(),
                host: host_of(address).to_owned(),
            };
            found.map(|asset| asset.address.clone()).ok_or_else(lacking)
        };
        let name = Index::file_name();
        let list = json_at(network, stop, &find(&name)?, &name)?;
        let index = Index::read(&name, list.to_string().as_bytes())?;
        let package = index.package_for(capability)?.clone();
        let origin = Origin::Address(find(&package.file)?);
        Ok(Self { package, libraries: index.libraries, origin })
    }

    /// The server of the archive, or the archive itself.
    pub fn source(&self) -> String {
        match &self.origin {
            Origin::File(path) => path.display().to_string(),
            Origin::Address(address) => host_of(address).to_owned(),
        }
    }

    /// Bytes of the files that are fetched.
    pub fn fetched(&self) -> u64 {
        let archive = match self.origin {
            Origin::File(_) => 0,
            Origin::Address(_) => self.package.bytes,
        };
        archive + self.library_bytes()
    }

    /// The names of the files that are fetched.
    pub(super) fn file_names(&self) -> impl Iterator<Item = &str> {
        let archive = matches!(self.origin, Origin::Address(_)).then_some(self.package.file.as_str());
        archive.into_iter().chain(self.libraries.iter().map(Library::file_name))
    }

    /// The size of NVIDIA's libraries as they are fetched.
    pub fn library_bytes(&self) -> u64 {
        self.libraries.iter().map(|library| library.bytes).sum()
    }

    /// What all of it takes once it is installed.
    pub fn unpacked(&self) -> u64 {
        self.package.unpacked + self.libraries.iter().map(|library| library.unpacked).sum::<u64>()
    }

    /// The compute capability that all cards of this computer have.
    ///
    /// # Errors
    /// If no card says it.
    pub fn capability_of(cards: &[Card]) -> Result<u32, CudaEngineError> {
        let known = cards.iter().filter_map(|card| card.capability);
        known.min().ok_or(CudaEngineError::UnknownCapability)
    }
}

/// The name of a server in an address.
pub(super) fn host_of(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_have_names() {
        assert_eq!(host_of("https://api.example.org/releases/latest"), "api.example.org");
        assert_eq!(host_of("127.0.0.1:80"), "127.0.0.1:80");
    }

    #[test]
    fn the_oldest_card_decides() {
        let card = |capability| Card { uuid: String::new(), name: String::new(), capability };
        assert_eq!(Offer::capability_of(&[card(Some(89)), card(None), card(Some(75))]).unwrap(), 75);
        assert!(matches!(Offer::capability_of(&[card(None)]), Err(CudaEngineError::UnknownCapability)));
    }

    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    #[test]
    fn other_computers_have_no_packages() {
        assert!(matches!(Offer::of_file(Path::new("a.tar.xz"), &[]), Err(CudaEngineError::Platform)));
    }
}
