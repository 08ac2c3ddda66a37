//! What the caller knows of the files at the engine.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::{MARK, translate, unmarked};
use crate::{
    checkpoint::FileStamp,
    request::is_sent_name,
    session::{command::JobId, event::Event},
};

/// Bytes that the engine keeps for later jobs. When there are more, the files that were used least recently go.
const KEPT: u64 = 16 << 30;

/// The files at the engine, shared by the supervisor and the thread that sends them.
#[derive(Default)]
pub struct Sent {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Hashes of files of this computer, valid while those do not change.
    hashes: HashMap<PathBuf, (FileStamp, String)>,
    there: HashMap<String, Use>,
    /// Where files came from, by their names at the engine.
    originals: HashMap<String, PathBuf>,
    jobs: HashMap<JobId, Vec<String>>,
    uses: u64,
}

struct Use {
    bytes: u64,
    last: u64,
}

impl Sent {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The hash of a file, if it is known and the file has not changed.
    pub fn hash(&self, path: &Path) -> Option<String> {
        let known = self.known();
        let (stamp, hash) = known.hashes.get(path)?;
        stamp.is_current().then(|| hash.clone())
    }

    /// Remembers the hash of a file as it was at the time of the stamp.
    pub fn remember(&self, stamp: FileStamp, hash: &str) {
        self.known().hashes.insert(stamp.path().to_owned(), (stamp, hash.to_owned()));
    }

    /// Notes that a job, or a plan, uses a file under this name. Returns whether it has to be sent first; it counts as sent
    /// from then on.
    pub fn claim(&self, job: Option<JobId>, name: &str, path: &Path, bytes: u64) -> bool {
        let mut known = self.known();
        known.originals.insert(name.to_owned(), path.to_owned());
        if let Some(job) = job {
            known.jobs.entry(job).or_default().push(name.to_owned());
        }
        known.uses += 1;
        let last = known.uses;
        known.there.insert(name.to_owned(), Use { bytes, last }).is_none()
    }

    /// Notes that a file is not there after all.
    pub fn is_gone(&self, name: &str) {
        self.known().there.remove(name);
    }

    /// Notes what a new worker has from before.
    pub fn are_there(&self, names: Vec<String>) {
        let mut known = self.known();
        let mut before = std::mem::take(&mut known.there);
        for name in names.into_iter().filter(|name| is_sent_name(name)) {
            // What this caller has not sent is of no use to it.
            if let Some(used) = before.remove(&name) {
                known.there.insert(name, used);
            }
        }
    }

    /// Notes that a job has ended, and calls `remove` for files that the engine need not keep.
    pub fn ended(&self, job: JobId, remove: impl Fn(String)) {
        let mut known = self.known();
        known.jobs.remove(&job);
        let mut all: u64 = known.there.values().map(|used| used.bytes).sum();
        while all > KEPT {
            let is_used = |name: &String| known.jobs.values().any(|names| names.contains(name));
            let unused = known.there.iter().filter(|(name, _)| !is_used(name));
            let Some(name) = unused.min_by_key(|(_, used)| used.last).map(|(name, _)| name.clone()) else {
                return;
            };
            all -= known.there.remove(&name).map_or(0, |used| used.bytes);
            // Inside the lock: nobody can send it again before the message is under way.
            remove(name);
        }
    }

    /// Names files in an event as they are called here.
    pub fn homeward(&self, event: &mut Event) {
        let known = self.known();
        let path = |path: &mut PathBuf| {
            if let Some(original) = unmarked(path).and_then(|name| known.originals.get(name)) {
                *path = original.clone();
            }
        };
        let text = |text: &mut String| {
            if text.contains(MARK) {
                for (name, original) in &known.originals {
                    *text = text.replace(&format!("{MARK}{name}"), &original.display().to_string());
                }
            }
        };
        translate(event, path, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::event::Failure;

    fn name(digit: char) -> String {
        digit.to_string().repeat(64) + "-fox.png"
    }

    #[test]
    fn a_file_is_sent_once_until_it_is_gone() {
        let sent = Sent::default();
        let fox = Path::new("fox.png");
        assert!(sent.claim(Some(JobId(1)), &name('a'), fox, 10));
        assert!(!sent.claim(Some(JobId(2)), &name('a'), fox, 10));
        sent.is_gone(&name('a'));
        assert!(sent.claim(None, &name('a'), fox, 10));
        sent.are_there(vec![name('a'), name('b'), "../x".to_owned()]);
        assert!(!sent.claim(None, &name('a'), fox, 10));
        assert!(sent.claim(None, &name('b'), fox, 10), "an engine cannot say that it has what nobody sent");
        sent.are_there(Vec::new());
        assert!(sent.claim(None, &name('a'), fox, 10));
    }

    #[test]
    fn the_engine_drops_what_no_job_uses_and_was_used_least_recently() {
        let sent = Sent::default();
        let fox = Path::new("fox.png");
        for (job, digit) in [(1, 'a'), (2, 'b'), (3, 'c')] {
            sent.claim(Some(JobId(job)), &name(digit), fox, KEPT / 2);
        }
        let dropped = Mutex::new(Vec::new());
        let remove = |name| dropped.lock().unwrap().push(name);
        sent.ended(JobId(2), remove);
        assert_eq!(*dropped.lock().unwrap(), [name('b')]);
        sent.ended(JobId(1), remove);
        assert_eq!(dropped.lock().unwrap().len(), 1, "there is room for the rest");
        assert!(!sent.claim(None, &name('a'), fox, 10));
        assert!(sent.claim(None, &name('b'), fox, 10));
    }

    #[test]
    fn events_name_files_as_they_are_called_here() {
        let sent = Sent::default();
        sent.claim(None, &name('a'), Path::new("/home/ada/fox.png"), 1);
        let message = format!("{MARK}{} cannot be read", name('a'));
        let mut event = Event::Failed { job: None, failure: Failure { message, advice: None } };
        sent.homeward(&mut event);
        let Event::Failed { failure, .. } = event else { panic!() };
        assert_eq!(failure.message, "/home/ada/fox.png cannot be read");
    }
}
