//! One file, from the server to its place.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use sluice_engine::{
    checkpoint::{MapKind, Role},
    models::{Kind, content},
};

use super::{
    DownloadError, Network, Source, Stop, Wanted,
    client::Client,
    part::{CHUNK, Part, sha256_of},
};

/// Bytes that stay free on a disk.
pub const RESERVE: u64 = 256 << 20;

/// What is happening to a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// Its size in bytes is known.
    Size(u64),
    /// So many bytes are here.
    Bytes(u64),
    /// So many bytes that were here are read, for the check at the end.
    Checking(u64),
    /// It is tried again after a time, because of this.
    Waiting(Duration, String),
}

/// A file that has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrived {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, if it was computed.
    pub sha256: Option<String>,
    /// Whether the catalogue or the server knew that SHA-256 before.
    pub is_verified: bool,
    /// Whether it was here already.
    pub was_here: bool,
}

/// Downloads a file into a folder, from where an earlier attempt ended. `claimed` tells how many bytes of free space others
/// still need.
///
/// # Errors
/// If it cannot be had; what has arrived is kept unless it is wrong.
pub fn transfer(
    network: &Network,
    wanted: &Wanted,
    folder: &Path,
    stop: &Stop,
    claimed: &dyn Fn() -> u64,
    told: &dyn Fn(Told),
) -> Result<Arrived, DownloadError> {
    let target = wanted.target(folder)?;
    for place in places_of(wanted, &target) {
        if let Some(arrived) = here_already(wanted, &place, stop, told)? {
            return Ok(arrived);
        }
    }
    let key = wanted.source.key();
    let mut part = Part::open(&target, &key, stop, |bytes| told(Told::Checking(bytes)))?;
    let job = Job { network, wanted, target: &target, stop, claimed, told };
    let mut failures = 0;
    let mut began_anew = false;
    loop {
        let before = part.length();
        let error = match job.attempt(&mut part) {
            Ok(expected) => match job.check(&part, expected) {
                Ok(is_verified) => return job.finish(part, is_verified),
                // Bytes of an earlier session may be damaged: it is fetched once more from the beginning.
                Err(DownloadError::WrongHash { .. }) if part.is_resumed && !began_anew => {
                    began_anew = true;
                    part.clear()?;
                    continue;
                }
                Err(error) => {
                    drop(part);
                    super::part::discard(&target)?;
                    return Err(error);
                }
            },
            Err(error) => error,
        };
        if stop.is_stopped() {
            return Err(DownloadError::Stopped);
        }
        failures = if part.length() > before { 1 } else { failures + 1 };
        if !error.is_temporary() || failures > network.patience.retries {
            return Err(error);
        }
        let wait = wait_before(network, failures, &error);
        told(Told::Waiting(wait, error.to_string()));
        if !stop.wait(wait) {
            return Err(DownloadError::Stopped);
        }
    }
}

/// How long to wait before the next attempt.
fn wait_before(network: &Network, failures: u32, error: &DownloadError) -> Duration {
    const LONGEST_ASKED: Duration = Duration::from_secs(15 * 60);
    let patience = &network.patience;
    let own = patience.first_wait.saturating_mul(1 << (failures - 1).min(16)).min(patience.longest_wait);
    error.asked_wait().map_or(own, |asked| asked.clamp(own.min(asked), LONGEST_ASKED))
}

/// What the server expects of a file.
struct Expected {
    sha256: Option<String>,
    size: Option<u64>,
}

struct Job<'a> {
    network: &'a Network,
    wanted: &'a Wanted,
    target: &'a Path,
    stop: &'a Stop,
    claimed: &'a dyn Fn() -> u64,
    told: &'a dyn Fn(Told),
}

impl Job<'_> {
    /// Requests what is missing and writes it. Returns when the server has sent everything.
    fn attempt(&self, part: &mut Part) -> Result<Expected, DownloadError> {
        let client = Client::new(self.network, self.stop)?;
        let address = self.wanted.source.address(self.network);
        let (what, page) = self.wanted.source.named();
        let from = Some(part.length()).filter(|length| *length > 0);
        let mut reply = client.get(&address, from, (&what, page.as_deref()))?;
        if reply.is_page() {
            return Err(self.is_page(reply.host, what));
        }
        let (identity, size, served) = (reply.identity(), reply.size(), reply.sha256());
        let expected = Expected { sha256: self.wanted.sha256.clone().or_else(|| served.clone()), size };
        if let (Some(known), Some(found)) = (&self.wanted.sha256, served)
            && *known != found
        {
            // It is another file than the catalogue knows: nothing is downloaded.
            return Err(DownloadError::WrongHash {
                name: self.wanted.name(),
                expected: known.clone(),
                found,
            });
        }
        let whole = part.whole();
        let has_changed = whole.identity.is_some() && whole.identity != identity
            || whole.size.is_some() && size.is_some() && whole.size != size;
        let is_all_here = reply.status == 416 && size == Some(part.length()) && !has_changed;
        if is_all_here {
            return Ok(expected);
        }
        let continues = reply.status == 206 && reply.start() == from && !has_changed;
        if from.is_some() && !continues {
            // The server has another file now, or sends files only as a whole.
            part.clear()?;
            if reply.status != 200 {
                drop(reply);
                reply = client.get(&address, None, (&what, page.as_deref()))?;
            }
        }
        if reply.status == 416 {
            return Err(DownloadError::Dropped { host: reply.host });
        }
        let size = reply.size();
        part.describe(identity, size)?;
        if let Some(size) = size {
            (self.told)(Told::Size(size));
            let folder = self.target.parent().unwrap_or(self.target);
            has_space(self.network, folder, size.saturating_sub(part.length()), (self.claimed)())?;
        }
        (self.told)(Told::Bytes(part.length()));
        let host = reply.host.clone();
        // Files have any size.
        let mut body = reply.body.into_with_config().limit(u64::MAX).reader();
        let mut chunk = vec![0; CHUNK];
        loop {
            if self.stop.is_stopped() {
                return Err(DownloadError::Stopped);
            }
            let read = body.read(&mut chunk).map_err(|error| client.broken(&host, error))?;
            if read == 0 {
                break;
            }
            part.write(&chunk[..read])?;
            if let Some(size) = size.filter(|size| part.length() > *size) {
                let found = part.length();
                return Err(DownloadError::WrongSize { name: self.wanted.name(), expected: size, found });
            }
            (self.told)(Told::Bytes(part.length()));
        }
        match size {
            Some(size) if part.length() < size => Err(DownloadError::Dropped { host }),
            _ => Ok(Expected { size, ..expected }),
        }
    }

    /// What it means that there is a web page in place of the file.
    fn is_page(&self, host: String, what: String) -> DownloadError {
        match self.wanted.source {
            Source::Civitai { .. } => DownloadError::NeedsToken { what, page: None, has_token: false },
            _ => {
                DownloadError::Answer { host, reason: "it sends a web page in place of the file".to_owned() }
            }
        }
    }

    /// Whether what has arrived is what was expected. Returns whether a hash says so.
    fn check(&self, part: &Part, expected: Expected) -> Result<bool, DownloadError> {
        let name = self.wanted.name();
        let found = part.length();
        if let Some(size) = expected.size.filter(|size| *size != found) {
            return Err(DownloadError::WrongSize { name, expected: size, found });
        }
        let Some(known) = expected.sha256 else { return Ok(false) };
        let found = part.sha256();
        match known == found {
            true => Ok(true),
            false => Err(DownloadError::WrongHash { name, expected: known, found }),
        }
    }

    fn finish(&self, part: Part, is_verified: bool) -> Result<Arrived, DownloadError> {
        let (bytes, sha256) = (part.length(), Some(part.sha256()));
        let place = self.target.to_owned();
        part.finish(&place)?;
        let path = if self.wanted.sorts { sorted(&place) } else { place };
        Ok(Arrived { path, bytes, sha256, is_verified, was_here: false })
    }
}

/// Whether there is room for so many bytes in a folder beside those that others still need.
///
/// # Errors
/// If there is not.
pub(super) fn has_space(
    network: &Network,
    folder: &Path,
    needed: u64,
    claimed: u64,
) -> Result<(), DownloadError> {
    let free = match (network.free_space)(folder) {
        Ok(free) => free.saturating_sub(claimed),
        Err(error) => {
            tracing::warn!(folder = %folder.display(), %error, "the free space is not known");
            return Ok(());
        }
    };
    let needed = needed + RESERVE;
    match needed <= free {
        true => Ok(()),
        false => Err(DownloadError::NoSpace { folder: folder.to_owned(), needed, free }),
    }
}

/// Whether a file of this name is in a folder, or where its contents would have put it.
pub(super) fn is_there(wanted: &Wanted, folder: &Path) -> bool {
    let Ok(target) = wanted.target(folder) else { return false };
    places_of(wanted, &target).iter().any(|place| place.is_file())
}

/// Folders for what is sorted by its contents, as ComfyUI names them.
const FOLDERS: [&str; 13] = [
    "checkpoints",
    "diffusion_models",
    "text_encoders",
    "vae",
    "loras",
    "upscale_models",
    "controlnet",
    "ipadapter",
    "depthanything",
    "sams",
    "ultralytics",
    "frame_interpolation",
    "annotators",
];

/// Where a file may be already.
fn places_of(wanted: &Wanted, target: &Path) -> Vec<PathBuf> {
    let mut places = vec![target.to_owned()];
    if let (true, Some(root), Some(name)) = (wanted.sorts, target.parent(), target.file_name()) {
        places.extend(FOLDERS.map(|folder| root.join(folder).join(name)));
    }
    places
}

/// The file, if it is here already and right.
fn here_already(
    wanted: &Wanted,
    target: &Path,
    stop: &Stop,
    told: &dyn Fn(Told),
) -> Result<Option<Arrived>, DownloadError> {
    let Ok(data) = fs::metadata(target) else { return Ok(None) };
    let bytes = data.len();
    let occupied = || DownloadError::Occupied { path: target.to_owned() };
    if !data.is_file() {
        return Err(occupied());
    }
    told(Told::Size(bytes));
    // Without a known hash the file stays as it is: sizes of the catalogue may be old.
    let known = wanted.sha256.clone();
    if let Some(known) = &known
        && *known != sha256_of(target, stop, |bytes| told(Told::Checking(bytes)))?
    {
        return Err(occupied());
    }
    let (is_verified, sha256) = (known.is_some(), known);
    Ok(Some(Arrived { path: target.to_owned(), bytes, sha256, is_verified, was_here: true }))
}

/// Moves a file into the folder that its contents say. Returns where it is then.
fn sorted(path: &Path) -> PathBuf {
    let [
        checkpoints,
        denoisers,
        encoders,
        autoencoders,
        adapters,
        upscalers,
        control_nets,
        ip_adapters,
        depth,
        segmenters,
        detectors,
        interpolators,
        annotators,
    ] = FOLDERS;
    let folder = match content(path) {
        Ok(content) => match content.kind {
            Kind::Adapter => adapters,
            Kind::ControlNet => control_nets,
            Kind::IpAdapter => ip_adapters,
            Kind::Model if content.roles.iter().any(|role| *role != Role::Denoiser) => checkpoints,
            Kind::Model => denoisers,
            Kind::Part if content.roles.contains(&Role::Autoencoder) => autoencoders,
            Kind::Part if content.roles.contains(&Role::Upscaler) => upscalers,
            Kind::Part if content.roles.contains(&Role::Interpolator) => interpolators,
            Kind::Part if content.maps == Some(MapKind::Depth) => depth,
            Kind::Part if content.maps == Some(MapKind::Pose) => detectors,
            Kind::Part if content.maps.is_some() => annotators,
            Kind::Part if content.roles.contains(&Role::Segmenter) => segmenters,
            Kind::Part if content.roles.contains(&Role::Detector) => detectors,
            Kind::Part => encoders,
            Kind::Other => return path.to_owned(),
        },
        Err(error) => {
            tracing::debug!(path = %path.display(), %error, "the file stays where it is");
            return path.to_owned();
        }
    };
    let (Some(root), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    let place = root.join(folder).join(name);
    let is_free = !place.exists() && fs::create_dir_all(root.join(folder)).is_ok();
    match is_free && fs::rename(path, &place).is_ok() {
        true => place,
        false => path.to_owned(),
    }
}
