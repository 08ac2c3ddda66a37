//! The list of downloads: several at once, with a limit, paused, cancelled and kept between sessions.

mod download;
mod entry;
mod speed;

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

use sluice_engine::session::Failure;
use tempfile::NamedTempFile;

use super::{
    Arrived, DownloadError, Network, Stop, Wanted, part,
    transfer::{Told, has_space, is_there, transfer},
};

pub use self::download::{Download, DownloadId, Order, Phase};
use self::{
    entry::{Entry, FileState, OneFile},
    speed::Speed,
};

/// Files that are fetched at the same time.
pub const AT_ONCE: usize = 3;
/// How often progress is told.
const EVERY: Duration = Duration::from_millis(200);
/// After so long without a connection it is tried again.
const AGAIN: Duration = Duration::from_secs(20);

/// Called when something has changed.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

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
            let here = left(&wanted, &order.folder);
            OneFile { bytes: wanted.bytes, wanted, state: FileState::Waiting, done: here, here }
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

    /// The files that a download still lacks, and those of others that are running or come before it in the same folder:
    /// which, whose, and how many bytes of them are missing as far as known.
    fn to_arrive(&self, id: DownloadId) -> Vec<(Wanted, bool, u64)> {
        let Some(own) = self.entries.iter().find(|entry| entry.id == id) else { return Vec::new() };
        let mut files: Vec<(Wanted, bool, u64)> = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.order.folder == own.order.folder) {
            let is_own = entry.id == id;
            let is_before = entry.id < id && !entry.is_paused && !entry.is_cancelled;
            for file in &entry.files {
                let counts = match file.state {
                    FileState::Done(_) => false,
                    FileState::Running { .. } => true,
                    FileState::Waiting | FileState::Offline { .. } => is_own || is_before,
                    FileState::Failed(_) => is_own,
                };
                if counts && files.iter().all(|(listed, ..)| listed.to != file.wanted.to) {
                    files.push((file.wanted.clone(), is_own, file.missing()));
                }
            }
        }
        files
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
        running.filter(|file| !is_there(&file.wanted, folder)).map(OneFile::missing).sum()
    }
}

/// Bytes of an incomplete file that are on the disk.
fn left(wanted: &Wanted, folder: &Path) -> u64 {
    let target = wanted.target(folder).ok();
    let part = target.and_then(|target| fs::metadata(&part::Part::paths(&target)[0]).ok());
    part.map_or(0, |data| data.len())
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
            if let Err(error) = self.fits(id, &network, &folder) {
                self.refuse(id, index, &error);
                continue;
            }
            let claimed = || self.state().claimed(&folder, (id, index));
            let last = Mutex::new(None);
            let told = |told: Told| self.hear(id, index, told, &last);
            let result = transfer(&network, &wanted, &folder, &stop, &claimed, &told);
            self.ended(id, index, result);
        }
    }

    /// Whether there is room for all files of a download that are not here yet.
    fn fits(&self, id: DownloadId, network: &Network, folder: &Path) -> Result<(), DownloadError> {
        let (mut missing, mut claimed) = (0, 0);
        let files = self.state().to_arrive(id);
        for (_, is_own, bytes) in files.into_iter().filter(|(wanted, ..)| !is_there(wanted, folder)) {
            *(if is_own { &mut missing } else { &mut claimed }) += bytes;
        }
        match folder.ancestors().find(|above| above.exists()) {
            Some(above) if missing > 0 => has_space(network, above, missing, claimed),
            _ => Ok(()),
        }
    }

    /// Lets a download fail with all files that wait, and that of the thread.
    fn refuse(&self, id: DownloadId, index: usize, error: &DownloadError) {
        let mut state = self.state();
        if let Some(entry) = state.entry(id) {
            tracing::warn!(title = entry.order.title, %error, "a download was not begun");
            let failure = Failure { message: error.to_string(), advice: Some(error.advice()) };
            for (number, file) in entry.files.iter_mut().enumerate() {
                if number == index || matches!(file.state, FileState::Waiting) {
                    file.state = FileState::Failed(failure.clone());
                }
            }
        }
        state.bury();
        self.tell(state);
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
                (file.done, file.here, *phase) = (bytes, bytes, Phase::Running);
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
            if result.is_err() {
                file.here = left(&file.wanted, &entry.order.folder);
                file.done = file.here;
            }
            file.state = match result {
                Ok(arrived) => {
                    (file.done, file.here, file.bytes) = (arrived.bytes, arrived.bytes, Some(arrived.bytes));
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
    use crate::downloads::Source;

    #[test]
    fn what_is_here_needs_no_space_while_it_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        let wanted = |name: &str| Wanted {
            source: Source::Address(format!("http://localhost/{name}")),
            to: name.into(),
            sorts: false,
            bytes: Some(1000),
            sha256: None,
        };
        fs::write(folder.path().join("a.gguf.part"), [0; 900]).unwrap();
        let state =
            State { entries: Vec::new(), network: Network::of_user(None, None), next: 0, is_over: false };
        let shared = Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
            wake: Arc::new(|| ()),
            kept: None,
            version: AtomicU64::new(0),
        };
        let order = Order {
            title: "two".to_owned(),
            files: vec![wanted("a.gguf"), wanted("b.gguf")],
            folder: folder.path().to_owned(),
            opens: None,
        };
        let id = shared.state().push(order, false);
        let running = FileState::Running { stop: Stop::default(), phase: Phase::Checking };
        shared.state().entry(id).unwrap().files[0].state = running;
        shared.hear(id, 0, Told::Checking(10), &Mutex::new(None));
        let missing = || -> Vec<u64> {
            shared.state().to_arrive(id).into_iter().map(|(_, _, missing)| missing).collect()
        };
        let shown = || shared.state().entry(id).unwrap().files[0].done;
        assert_eq!((missing(), shown()), (vec![100, 1000], 10));
        assert_eq!(shared.state().claimed(folder.path(), (id, 1)), 100);

        shared.hear(id, 0, Told::Bytes(950), &Mutex::new(None));
        assert_eq!((missing(), shown()), (vec![50, 1000], 950));
        // A pause while it is checked.
        shared.hear(id, 0, Told::Checking(10), &Mutex::new(None));
        shared.ended(id, 0, Err(DownloadError::Stopped));
        assert_eq!((missing(), shown()), (vec![100, 1000], 900), "so much is in the file");
    }
}
