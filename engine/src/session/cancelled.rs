//! Cancelled jobs whose journals are still there, also of sessions before, in a file.

use std::{
    collections::VecDeque,
    fs, io,
    path::{Path, PathBuf},
};

use super::Job;

const FILE: &str = "cancelled.json";
/// So many are kept.
const KEPT: usize = 4;

/// Cancelled jobs, the latest last.
#[derive(Debug)]
pub struct Cancelled {
    path: PathBuf,
    jobs: VecDeque<Job>,
}

impl Cancelled {
    /// Those in a folder that can be resumed.
    pub fn open(folder: &Path) -> Self {
        let path = folder.join(FILE);
        let mut jobs = read(&path);
        jobs.retain(|job| job.journal.as_ref().is_some_and(|journal| journal.exists()));
        Self { path, jobs }
    }

    /// The jobs, the latest last.
    pub fn jobs(&self) -> impl Iterator<Item = &Job> {
        self.jobs.iter()
    }

    /// Adds a job. Returns those that are too long ago.
    pub fn add(&mut self, job: Job) -> Vec<Job> {
        self.jobs.push_back(job);
        let over = self.jobs.len().saturating_sub(KEPT);
        let gone = self.jobs.drain(..over).collect();
        self.write();
        gone
    }

    /// Takes the latest job of some kind.
    pub fn take(&mut self, is_meant: impl Fn(&Job) -> bool) -> Option<Job> {
        let place = self.jobs.iter().rposition(is_meant)?;
        let job = self.jobs.remove(place);
        self.write();
        job
    }

    /// Jobs can be resumed in this session even if that fails.
    fn write(&self) {
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(self.path.parent().unwrap_or(Path::new("")))?;
            serde_json::to_writer(file.as_file_mut(), &self.jobs)?;
            file.persist(&self.path).map_err(|error| error.error)?;
            io::Result::Ok(())
        };
        if let Err(error) = write() {
            tracing::warn!(%error, "the list of cancelled jobs cannot be written");
        }
    }
}

/// The jobs in a file; none if it is missing or damaged.
fn read(path: &Path) -> VecDeque<Job> {
    let Ok(bytes) = fs::read(path) else { return VecDeque::new() };
    serde_json::from_slice(&bytes).unwrap_or_else(|error| {
        tracing::warn!(%error, "the list of cancelled jobs cannot be read");
        VecDeque::new()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{request::Request, session::JobId};

    #[test]
    fn the_latest_are_kept_as_long_as_their_journals_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let job = |number: u64| {
            let journal = folder.path().join(format!("{number}.journal"));
            fs::write(&journal, "").unwrap();
            Job { journal: Some(journal), ..Job::new(JobId(number), Request::default()) }
        };
        let numbers = |cancelled: &Cancelled| cancelled.jobs().map(|job| job.id.0).collect::<Vec<_>>();
        let mut cancelled = Cancelled::open(folder.path());
        let gone: Vec<_> = (1..=5).flat_map(|number| cancelled.add(job(number))).collect();
        assert_eq!(gone.iter().map(|job| job.id.0).collect::<Vec<_>>(), [1]);
        assert_eq!(cancelled.take(|job| job.id.0 == 3).unwrap().id, JobId(3));
        drop(cancelled);
        assert_eq!(numbers(&Cancelled::open(folder.path())), [2, 4, 5]);
        fs::remove_file(folder.path().join("4.journal")).unwrap();
        assert_eq!(numbers(&Cancelled::open(folder.path())), [2, 5]);
        fs::write(folder.path().join(FILE), "[{").unwrap();
        assert_eq!(numbers(&Cancelled::open(folder.path())), [0; 0]);
    }
}
