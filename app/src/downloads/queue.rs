//! The list of downloads: several at once, with a limit, paused, cancelled and kept between sessions.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use sluice_engine::session::Failure;
use tempfile::NamedTempFile;

use super::{
    Arrived, DownloadError, Network, Stop, Wanted,
    link::has_weights,
    part,
    transfer::{Told, transfer},
};

/// Files that are fetched at the same time.
pub const AT_ONCE: usize = 3;
/// How often progress is told.
const EVERY: Duration = Duration::from_millis(200);
/// After so long without a connection it is tried again.
const AGAIN: Duration = Duration::from_secs(20);
/// The time over which the speed is averaged, in seconds.
const AVERAGED: f64 = 4.0;

/// Called when something has changed.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// What is downloaded together, such as the files of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// What to call it.
    pub title: String,
    /// Its files, that which opens as a model first.
    pub files: Vec<Wanted>,
    /// The folder of downloads.
    pub folder: PathBuf,
    /// The folder inside it that opens as a model; the first file if absent.
    #[serde(default)]
    pub opens: Option<PathBuf>,
}

/// Identifies a download of this session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DownloadId(u64);

/// How far a download is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Phase {
    /// Others come first.
    Waiting,
    /// Bytes arrive.
    Running,
    /// What is here already is read, for the check at the end.
    Checking,
    /// There is a fault that may pass; it is tried again.
    Retrying {
        /// What is wrong.
        why: String,
    },
    /// There is no connection; it goes on when there is one.
    Offline {
        /// What is wrong.
        why: String,
    },
    /// A person has paused it.
    Paused,
    /// It needs a person.
    Failed(Failure),
    /// Everything is here.
    Done {
        /// What opens as a model.
        opens: PathBuf,
        /// Whether the hashes of all files with weights were known before.
        is_verified: bool,
    },
}

/// A download as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct Download {
    /// Which.
    pub id: DownloadId,
    /// What.
    pub title: String,
    /// How far.
    pub phase: Phase,
    /// Bytes that are here.
    pub done: u64,
    /// Bytes of all files, as far as known.
    pub bytes: Option<u64>,
    /// Bytes per second; 0 while nothing arrives.
    pub speed: f64,
    /// Files that are complete, and all files.
    pub files: (usize, usize),
    /// The files that have arrived.
    pub arrived: Vec<Arrived>,
}

impl Download {
    /// The share that is here, from 0 to 1.
    pub fn share(&self) -> f32 {
        match self.bytes {
            Some(bytes) if bytes > 0 => (self.done as f64 / bytes as f64).clamp(0.0, 1.0) as f32,
            _ => 0.0,
        }
    }

    /// Seconds that are left at this speed, if that can be said.
    pub fn seconds_left(&self) -> Option<f64> {
        let left = self.bytes?.saturating_sub(self.done);
        (self.speed > 1.0 && self.phase == Phase::Running).then(|| left as f64 / self.speed)
    }

    /// Whether it is neither complete nor failed.
    pub fn is_unfinished(&self) -> bool {
        !matches!(self.phase, Phase::Done { .. } | Phase::Failed(_))
    }
}

#[derive(Debug)]
enum FileState {
    Waiting,
    Running { stop: Stop, phase: Phase },
    Offline { since: Instant, why: String },
    Failed(Failure),
    Done(Arrived),
}

#[derive(Debug)]
struct OneFile {
    wanted: Wanted,
    state: FileState,
    done: u64,
    bytes: Option<u64>,
}

#[derive(Debug)]
struct Entry {
    id: DownloadId,
    order: Order,
    is_paused: bool,
    is_cancelled: bool,
    files: Vec<OneFile>,
    speed: Speed,
}

/// A mean of the last seconds.
#[derive(Debug, Default)]
struct Speed {
    rate: f64,
    last: Option<Instant>,
    pending: u64,
}

impl Speed {
    fn add(&mut self, bytes: u64, now: Instant) {
        self.pending += bytes;
        let Some(last) = self.last else {
            self.last = Some(now);
            return;
        };
        let seconds = now.duration_since(last).as_secs_f64();
        if seconds >= EVERY.as_secs_f64() {
            let share = if self.rate > 0.0 { 1.0 - (-seconds / AVERAGED).exp() } else { 1.0 };
            self.rate += share * (self.pending as f64 / seconds - self.rate);
            (self.last, self.pending) = (Some(now), 0);
        }
    }

    fn at(&self, now: Instant) -> f64 {
        const STALE: f64 = 3.0;
        let is_fresh = self.last.is_some_and(|last| now.duration_since(last).as_secs_f64() < STALE);
        if is_fresh { self.rate } else { 0.0 }
    }
}

struct State {
    entries: Vec<Entry>,
    network: Network,
    next: u64,
    is_over: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    wake: Wake,
    /// Where unfinished downloads are kept for the next session.
    kept: Option<PathBuf>,
    version: AtomicU64,
}

/// The list of downloads. When it is dropped, they end, and what has arrived is kept.
pub struct Downloads {
    shared: Arc<Shared>,
}

impl Downloads {
    /// Starts the threads that fetch files, and lists what the last session left unfinished, paused. `kept` is where that
    /// is kept.
    ///
    /// # Errors
    /// If there can be no threads.
    pub fn start(network: Network, kept: Option<PathBuf>, wake: Wake) -> io::Result<Self> {
        let state = State { entries: Vec::new(), network, next: 0, is_over: false };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            wake,
            kept,
            version: AtomicU64::new(0),
        });
        shared.load();
        let downloads = Self { shared };
        for number in 1..=AT_ONCE {
            let shared = Arc::clone(&downloads.shared);
            thread::Builder::new().name(format!("sluice-download-{number}")).spawn(move || shared.work())?;
        }
        Ok(downloads)
    }

    /// Reaches servers in another way from now on. What is running goes on as it began.
    pub fn set_network(&self, network: Network) {
        self.shared.state().network = network;
        self.shared.changed.notify_all();
    }

    /// How servers are reached.
    pub fn network(&self) -> Network {
        self.shared.state().network.clone()
    }

    /// Adds a download. If the same is not finished yet, that goes on instead.
    pub fn add(&self, order: Order) -> DownloadId {
        let mut state = self.shared.state();
        let same = state.entries.iter_mut().find(|entry| {
            entry.order.files == order.files && entry.order.folder == order.folder && !entry.is_cancelled
        });
        let id = match same {
            Some(entry) => {
                entry.go_on();
                entry.id
            }
            None => state.push(order, false),
        };
        self.shared.tell(state);
        id
    }

    /// Stops it for now, and keeps what has arrived.
    pub fn pause(&self, id: DownloadId) {
        self.change(id, |entry| {
            entry.is_paused = true;
            entry.stop();
        });
    }

    /// Goes on after a pause or a failure.
    pub fn resume(&self, id: DownloadId) {
        self.change(id, Entry::go_on);
    }

    /// Ends it and removes what is incomplete, or takes it off the list if it is done.
    pub fn cancel(&self, id: DownloadId) {
        self.change(id, |entry| {
            entry.is_cancelled = true;
            entry.stop();
        });
    }

    fn change(&self, id: DownloadId, change: impl FnOnce(&mut Entry)) {
        let mut state = self.shared.state();
        if let Some(entry) = state.entries.iter_mut().find(|entry| entry.id == id) {
            change(entry);
        }
        state.bury();
        self.shared.tell(state);
    }

    /// The downloads in the order in which they were added.
    pub fn list(&self) -> Vec<Download> {
        let now = Instant::now();
        self.shared
            .state()
            .entries
            .iter()
            .filter(|entry| !entry.is_cancelled)
            .map(|entry| entry.seen(now))
            .collect()
    }

    /// Rises when something has changed.
    pub fn version(&self) -> u64 {
        self.shared.version.load(Ordering::Relaxed)
    }
}

impl Drop for Downloads {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.is_over = true;
        state.entries.iter().for_each(Entry::stop);
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl State {
    fn push(&mut self, order: Order, is_paused: bool) -> DownloadId {
        self.next += 1;
        let id = DownloadId(self.next);
        let files = order.files.iter().cloned().map(|wanted| {
            // What an earlier session has left counts.
            let target = wanted.target(&order.folder).ok();
            let part = target.and_then(|target| fs::metadata(&part::Part::paths(&target)[0]).ok());
            let done = part.map_or(0, |data| data.len());
            OneFile { bytes: wanted.bytes, wanted, state: FileState::Waiting, done }
        });
        let files = files.collect();
        let entry = Entry { id, order, is_paused, is_cancelled: false, files, speed: Speed::default() };
        self.entries.push(entry);
        id
    }

    /// The next file to fetch: no other thread has the same one.
    fn next_task(&self) -> Option<(DownloadId, usize)> {
        let place = |entry: &Entry, file: &OneFile| entry.order.folder.join(&file.wanted.to);
        let running: Vec<PathBuf> = self
            .entries
            .iter()
            .flat_map(|entry| entry.files.iter().map(move |file| (entry, file)))
            .filter(|(_, file)| matches!(file.state, FileState::Running { .. }))
            .map(|(entry, file)| place(entry, file))
            .collect();
        let is_free = |entry: &Entry, file: &OneFile| match &file.state {
            FileState::Waiting => !running.contains(&place(entry, file)),
            FileState::Offline { since, .. } => {
                since.elapsed() >= AGAIN && !running.contains(&place(entry, file))
            }
            _ => false,
        };
        self.entries.iter().filter(|entry| !entry.is_paused && !entry.is_cancelled).find_map(|entry| {
            let index = entry.files.iter().position(|file| is_free(entry, file))?;
            Some((entry.id, index))
        })
    }

    fn entry(&mut self, id: DownloadId) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.id == id)
    }

    /// Removes cancelled downloads that no thread works on, and their incomplete files.
    fn bury(&mut self) {
        let is_wanted = |target: &Path, entries: &[Entry]| {
            entries.iter().filter(|entry| !entry.is_cancelled).any(|entry| {
                entry.files.iter().any(|file| entry.order.folder.join(&file.wanted.to) == target)
            })
        };
        for entry in self.entries.iter().filter(|entry| entry.is_cancelled && !entry.is_running()) {
            for file in entry.files.iter().filter(|file| !matches!(file.state, FileState::Done(_))) {
                let Ok(target) = file.wanted.target(&entry.order.folder) else { continue };
                if !is_wanted(&target, &self.entries)
                    && let Err(error) = part::discard(&target)
                {
                    tracing::warn!(%error, "an incomplete file stays");
                }
            }
        }
        self.entries.retain(|entry| !entry.is_cancelled || entry.is_running());
    }

    /// Bytes that others on the list still need in a folder.
    fn claimed(&self, folder: &Path, not: (DownloadId, usize)) -> u64 {
        let running = self.entries.iter().filter(|entry| entry.order.folder == folder).flat_map(|entry| {
            entry
                .files
                .iter()
                .enumerate()
                .filter(move |(index, _)| (entry.id, *index) != not)
                .map(|(_, file)| file)
        });
        let running = running.filter(|file| matches!(file.state, FileState::Running { .. }));
        running.map(|file| file.bytes.unwrap_or_default().saturating_sub(file.done)).sum()
    }
}

impl Entry {
    fn is_running(&self) -> bool {
        self.files.iter().any(|file| matches!(file.state, FileState::Running { .. }))
    }

    fn stop(&self) {
        for file in &self.files {
            if let FileState::Running { stop, .. } = &file.state {
                stop.stop();
            }
        }
    }

    fn go_on(&mut self) {
        self.is_paused = false;
        for file in &mut self.files {
            if matches!(file.state, FileState::Failed(_) | FileState::Offline { .. }) {
                file.state = FileState::Waiting;
            }
        }
    }

    fn seen(&self, now: Instant) -> Download {
        let arrived: Vec<Arrived> = self
            .files
            .iter()
            .filter_map(|file| match &file.state {
                FileState::Done(arrived) => Some(arrived.clone()),
                _ => None,
            })
            .collect();
        Download {
            id: self.id,
            title: self.order.title.clone(),
            phase: self.phase(&arrived),
            done: self.files.iter().map(|file| file.done).sum(),
            bytes: self.files.iter().map(|file| file.bytes).sum(),
            speed: self.speed.at(now),
            files: (arrived.len(), self.files.len()),
            arrived,
        }
    }

    fn phase(&self, arrived: &[Arrived]) -> Phase {
        if arrived.len() == self.files.len() {
            let folder = self.order.opens.as_ref().map(|folder| self.order.folder.join(folder));
            let first = || arrived.first().map(|arrived| arrived.path.clone()).unwrap_or_default();
            // Nobody has hashes of the small files in the layout of diffusers.
            let has_weights = |arrived: &&Arrived| has_weights(&arrived.path.to_string_lossy());
            let is_verified = arrived.iter().filter(has_weights).all(|arrived| arrived.is_verified);
            return Phase::Done { opens: folder.unwrap_or_else(first), is_verified };
        }
        let states = || self.files.iter().map(|file| &file.state);
        if self.is_paused {
            return Phase::Paused;
        }
        let mut running = states().filter_map(|state| match state {
            FileState::Running { phase, .. } => Some(phase),
            _ => None,
        });
        if let Some(first) = running.next() {
            // One file that arrives is enough to say that it runs.
            let is_running = *first == Phase::Running || running.any(|phase| *phase == Phase::Running);
            return if is_running { Phase::Running } else { first.clone() };
        }
        if let Some(failure) = states().find_map(|state| match state {
            FileState::Failed(failure) => Some(failure.clone()),
            _ => None,
        }) {
            return Phase::Failed(failure);
        }
        let offline = states().find_map(|state| match state {
            FileState::Offline { why, .. } => Some(Phase::Offline { why: why.clone() }),
            _ => None,
        });
        offline.unwrap_or(Phase::Waiting)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of the state, and lets everybody know that it has changed.
    fn tell(&self, state: MutexGuard<'_, State>) {
        self.save(&state);
        drop(state);
        self.changed.notify_all();
        self.say();
    }

    fn say(&self) {
        self.version.fetch_add(1, Ordering::Relaxed);
        (self.wake)();
    }

    /// Fetches one file after the other.
    fn work(&self) {
        loop {
            let mut state = self.state();
            let (id, index) = loop {
                if state.is_over {
                    return;
                }
                match state.next_task() {
                    Some(task) => break task,
                    // Now and then there is a connection again.
                    None => {
                        state = self
                            .changed
                            .wait_timeout(state, AGAIN / 4)
                            .unwrap_or_else(PoisonError::into_inner)
                            .0
                    }
                }
            };
            let (network, stop) = (state.network.clone(), Stop::default());
            let Some(entry) = state.entry(id) else { continue };
            let (folder, wanted) = (entry.order.folder.clone(), entry.files[index].wanted.clone());
            entry.files[index].state = FileState::Running { stop: stop.clone(), phase: Phase::Checking };
            drop(state);
            self.say();
            let claimed = || self.state().claimed(&folder, (id, index));
            let last = Mutex::new(None);
            let told = |told: Told| self.hear(id, index, told, &last);
            let result = transfer(&network, &wanted, &folder, &stop, &claimed, &told);
            self.ended(id, index, result);
        }
    }

    fn hear(&self, id: DownloadId, index: usize, told: Told, last: &Mutex<Option<Instant>>) {
        let now = Instant::now();
        let mut state = self.state();
        let Some(entry) = state.entry(id) else { return };
        let file = &mut entry.files[index];
        let FileState::Running { phase, .. } = &mut file.state else { return };
        let mut is_news = true;
        match told {
            Told::Size(bytes) => file.bytes = Some(bytes),
            Told::Checking(bytes) => {
                (file.done, is_news, *phase) = (bytes, *phase != Phase::Checking, Phase::Checking)
            }
            Told::Bytes(bytes) => {
                is_news = *phase != Phase::Running;
                let more = if is_news { 0 } else { bytes.saturating_sub(file.done) };
                (file.done, *phase) = (bytes, Phase::Running);
                entry.speed.add(more, now);
            }
            Told::Waiting(_, why) => *phase = Phase::Retrying { why },
        }
        drop(state);
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if is_news || last.is_none_or(|last| now.duration_since(last) >= EVERY) {
            *last = Some(now);
            drop(last);
            self.say();
        }
    }

    fn ended(&self, id: DownloadId, index: usize, result: Result<Arrived, DownloadError>) {
        let mut state = self.state();
        if let Some(entry) = state.entry(id) {
            let file = &mut entry.files[index];
            file.state = match result {
                Ok(arrived) => {
                    (file.done, file.bytes) = (arrived.bytes, Some(arrived.bytes));
                    FileState::Done(arrived)
                }
                Err(DownloadError::Stopped) => FileState::Waiting,
                Err(error) if error.is_offline() => {
                    FileState::Offline { since: Instant::now(), why: error.to_string() }
                }
                Err(error) => {
                    tracing::warn!(title = entry.order.title, %error, "a download failed");
                    FileState::Failed(Failure { message: error.to_string(), advice: Some(error.advice()) })
                }
            };
        }
        state.bury();
        self.tell(state);
    }

    fn load(&self) {
        let Some(path) = &self.kept else { return };
        let Ok(text) = fs::read(path) else { return };
        match serde_json::from_slice::<Vec<Order>>(&text) {
            Ok(orders) => {
                let mut state = self.state();
                for order in orders {
                    state.push(order, true);
                }
            }
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "the list of downloads cannot be read")
            }
        }
    }

    /// Keeps what is unfinished for the next session.
    fn save(&self, state: &State) {
        let Some(path) = &self.kept else { return };
        let is_done = |entry: &Entry| entry.files.iter().all(|file| matches!(file.state, FileState::Done(_)));
        let unfinished = state.entries.iter().filter(|entry| !entry.is_cancelled && !is_done(entry));
        let orders: Vec<&Order> = unfinished.map(|entry| &entry.order).collect();
        let write = || -> io::Result<()> {
            if orders.is_empty() {
                return match fs::remove_file(path) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                    _ => Ok(()),
                };
            }
            let folder = path.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)?;
            let file = NamedTempFile::new_in(folder)?;
            serde_json::to_writer(&file, &orders)?;
            file.persist(path).map_err(|error| error.error)?;
            Ok(())
        };
        if let Err(error) = write() {
            tracing::warn!(path = %path.display(), %error, "the list of downloads cannot be kept");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_is_a_mean_of_the_last_seconds() {
        let start = Instant::now();
        let mut speed = Speed::default();
        for step in 0..=40 {
            speed.add(if step == 0 { 0 } else { 100_000 }, start + Duration::from_millis(250 * step));
        }
        let end = start + Duration::from_secs(10);
        assert!((speed.at(end) / 400_000.0 - 1.0).abs() < 0.01, "{}", speed.at(end));
        assert_eq!(speed.at(end + Duration::from_secs(5)), 0.0);
    }
}
