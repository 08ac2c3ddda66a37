//! Notices what other programs add to the folders of results or delete from them, on a thread of its own.

use std::{
    fs, io, mem,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant, SystemTime},
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};

use super::folders;
use crate::window::files::Wake;

/// The time between two looks. It is longer if one takes long: of many folders, or over a network.
const EVERY: Duration = Duration::from_millis(1500);
const REST: u32 = 200;
/// Most changes of what is looked at that wait for the thread.
const WAITING: usize = 4;

/// The folders to look at; `None` while nobody sees them.
type Wanted = Option<Vec<PathBuf>>;

/// The thread. It ends when this is dropped.
#[derive(Debug)]
pub struct Watch {
    wanted: Sender<Wanted>,
    changed: Receiver<()>,
    told: Wanted,
}

impl Watch {
    /// Starts the thread, which looks at nothing yet.
    pub fn start(wake: Wake) -> io::Result<Self> {
        let (wanted, told) = bounded(WAITING);
        let (say, changed) = bounded(1);
        thread::Builder::new().name("sluice-watch".to_owned()).spawn(move || look_at(&told, &say, &wake))?;
        Ok(Self { wanted, changed, told: None })
    }

    /// Looks at these folders and the folders in them from now on.
    pub fn follow(&mut self, folders: Wanted) {
        if folders != self.told && self.wanted.try_send(folders.clone()).is_ok() {
            self.told = folders;
        }
    }

    /// Whether something was added or deleted since this was asked last.
    pub fn has_changed(&self) -> bool {
        self.changed.try_recv().is_ok()
    }
}

fn look_at(wanted: &Receiver<Wanted>, changed: &Sender<()>, wake: &Wake) {
    let (mut seen, mut folders, mut pause) = (Seen::default(), None, EVERY);
    loop {
        let told = match &folders {
            Some(_) => wanted.recv_timeout(pause),
            None => wanted.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match told {
            Ok(told) => folders = told,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let Some(folders) = &folders else { continue };
        let start = Instant::now();
        if seen.has_changed(folders) {
            match changed.try_send(()) {
                Ok(()) | Err(TrySendError::Full(())) => wake(),
                Err(TrySendError::Disconnected(())) => return,
            }
        }
        pause = EVERY.max(start.elapsed() * REST);
    }
}

/// What the last look saw.
#[derive(Debug, Default)]
struct Seen {
    roots: Vec<PathBuf>,
    /// All folders, with the times at which files came or went.
    times: Vec<(PathBuf, Option<SystemTime>)>,
    /// Whether files that came may not have been written to their ends.
    is_settling: bool,
}

impl Seen {
    /// Whether files came or went since the last look, or the folders are others.
    fn has_changed(&mut self, roots: &[PathBuf]) -> bool {
        let is_same = |(folder, time): &(PathBuf, _)| changed_at(folder) == *time;
        if self.roots == roots && self.times.iter().all(is_same) {
            return mem::take(&mut self.is_settling);
        }
        self.roots = roots.to_owned();
        self.times = folders::inside(roots, changed_at);
        self.is_settling = true;
        true
    }
}

fn changed_at(folder: &Path) -> Option<SystemTime> {
    fs::metadata(folder).and_then(|metadata| metadata.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_come_and_go_are_noticed_at_any_depth() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let roots = [root.path().to_owned(), at("later")];
        let mut seen = Seen::default();
        // Clocks of file systems are coarse.
        let mut changes = |change: &dyn Fn()| {
            while seen.has_changed(&roots) {}
            thread::sleep(Duration::from_millis(30));
            change();
            let is_noticed = seen.has_changed(&roots);
            assert!(!is_noticed || seen.has_changed(&roots), "what came may not be whole yet");
            is_noticed
        };
        assert!(!changes(&|| ()));
        assert!(changes(&|| fs::write(at("a.png"), b"a").unwrap()));
        assert!(changes(&|| fs::create_dir_all(at("2026/may")).unwrap()));
        assert!(changes(&|| fs::write(at("2026/may/b.png"), b"b").unwrap()));
        assert!(changes(&|| fs::remove_file(at("2026/may/b.png")).unwrap()));
        assert!(changes(&|| fs::create_dir(at("later")).unwrap()));
        assert!(changes(&|| fs::remove_file(at("a.png")).unwrap()));
    }

    #[test]
    fn nothing_is_said_while_nothing_is_looked_at() {
        let root = tempfile::tempdir().unwrap();
        let (woken, wakes) = bounded(8);
        let mut watch = Watch::start(std::sync::Arc::new(move || woken.send(()).unwrap())).unwrap();
        fs::write(root.path().join("a.png"), b"a").unwrap();
        assert!(wakes.recv_timeout(Duration::from_millis(200)).is_err() && !watch.has_changed());
        watch.follow(Some(vec![root.path().to_owned()]));
        wakes.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(watch.has_changed());
    }
}
