//! The list of unfinished jobs in a file. Each change is a line at its end, so that a long queue costs as little to keep as a
//! short one; the file is written anew when most of its lines are about jobs that have ended.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::Job;

const LIST: &str = "jobs.jsonl";
/// The list of versions that wrote it whole after each change.
const WHOLE: &str = "jobs.json";
/// Lines more than twice the jobs with which the file is written anew.
const STALE: usize = 64;

/// A change of the list. Jobs are told apart by their journals.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change<J> {
    /// A job is at the end, and no longer where it was.
    Added(J),
    /// A job is no longer in the list.
    Gone(PathBuf),
    /// A job is in front of another one, or at the end.
    Moved { job: PathBuf, before: Option<PathBuf> },
}

/// The file.
#[derive(Debug)]
pub struct KeptList {
    path: PathBuf,
    /// Lines in the file; `None` if it has to be written anew, because a line may be torn.
    lines: Option<usize>,
}

impl KeptList {
    /// The list in a folder, and the jobs in it.
    pub fn open(folder: &Path) -> (Self, Vec<Job>) {
        let path = folder.join(LIST);
        let jobs = match read(&path) {
            Some(jobs) => jobs.into(),
            None => read_whole(&folder.join(WHOLE)),
        };
        // What was read last was perhaps torn.
        (Self { path, lines: None }, jobs)
    }

    /// Adds a job at the end. `jobs` are those that are then in the list, and their number.
    pub fn added<'a>(&mut self, job: &Job, jobs: (usize, impl Iterator<Item = &'a Job>)) {
        self.write(&Change::Added(job), jobs);
    }

    /// Removes the job with a journal.
    pub fn gone<'a>(&mut self, journal: &Path, jobs: (usize, impl Iterator<Item = &'a Job>)) {
        self.write(&Change::Gone(journal.to_owned()), jobs);
    }

    /// Moves a job in front of another one, or to the end.
    pub fn moved<'a>(
        &mut self,
        journal: &Path,
        before: Option<&Path>,
        jobs: (usize, impl Iterator<Item = &'a Job>),
    ) {
        let before = before.map(Path::to_owned);
        self.write(&Change::Moved { job: journal.to_owned(), before }, jobs);
    }

    /// Writes the whole list. Jobs run even if that fails.
    pub fn write_anew<'a>(&mut self, jobs: (usize, impl Iterator<Item = &'a Job>)) {
        self.lines = match self.try_write_anew(jobs.1) {
            Ok(()) => Some(jobs.0),
            Err(error) => {
                tracing::warn!(%error, "the list of unfinished jobs cannot be written");
                None
            }
        };
    }

    fn write<'a>(&mut self, change: &Change<&Job>, jobs: (usize, impl Iterator<Item = &'a Job>)) {
        match self.lines.filter(|lines| *lines < 2 * jobs.0 + STALE) {
            Some(lines) if self.append(change).is_ok() => self.lines = Some(lines + 1),
            // The next change tries again.
            _ => self.write_anew(jobs),
        }
    }

    fn append(&self, change: &Change<&Job>) -> io::Result<()> {
        let mut line = serde_json::to_vec(change)?;
        line.push(b'\n');
        File::options().append(true).open(&self.path)?.write_all(&line)
    }

    fn try_write_anew<'a>(&self, jobs: impl Iterator<Item = &'a Job>) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let mut file = BufWriter::new(tempfile::NamedTempFile::new_in(folder)?);
        for job in jobs {
            serde_json::to_writer(&mut file, &Change::Added(job))?;
            file.write_all(b"\n")?;
        }
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.persist(&self.path)?;
        match fs::remove_file(folder.join(WHOLE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// The jobs after all changes in a file; `None` without one. A line that was torn by the end of the process, and what cannot be
/// read, is left out.
fn read(list: &Path) -> Option<VecDeque<Job>> {
    let text = text_of(list)?;
    let mut jobs = VecDeque::new();
    for line in text.lines() {
        match serde_json::from_str(line) {
            Ok(change) => apply(&mut jobs, change),
            Err(error) => tracing::warn!(%error, "a line of the list of unfinished jobs cannot be parsed"),
        }
    }
    Some(jobs)
}

fn apply(jobs: &mut VecDeque<Job>, change: Change<Job>) {
    let place = |jobs: &VecDeque<Job>, journal: &Path| {
        jobs.iter().position(|job| job.journal.as_deref() == Some(journal))
    };
    match change {
        Change::Added(job) => {
            if let Some(known) = job.journal.as_deref().and_then(|journal| place(jobs, journal)) {
                jobs.remove(known);
            }
            jobs.push_back(job);
        }
        Change::Gone(journal) => {
            if let Some(known) = place(jobs, &journal) {
                jobs.remove(known);
            }
        }
        Change::Moved { job, before } => {
            let Some(job) = place(jobs, &job).and_then(|known| jobs.remove(known)) else { return };
            let to = before.and_then(|before| place(jobs, &before)).unwrap_or(jobs.len());
            jobs.insert(to, job);
        }
    }
}

fn read_whole(list: &Path) -> Vec<Job> {
    let Some(text) = text_of(list) else { return Vec::new() };
    serde_json::from_str(&text).unwrap_or_else(|error| {
        tracing::warn!(%error, "the list of unfinished jobs cannot be parsed");
        Vec::new()
    })
}

fn text_of(list: &Path) -> Option<String> {
    match fs::read_to_string(list) {
        Ok(text) => Some(text),
        Err(error) => {
            if error.kind() != io::ErrorKind::NotFound {
                tracing::warn!(%error, "the list of unfinished jobs cannot be read");
            }
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{request::Request, session::JobId};

    const MANY: u64 = 10_000;

    fn job(number: u64) -> Job {
        let request = Request { prompt: format!("fox {number}"), ..Request::default() };
        Job { journal: Some(PathBuf::from(format!("{number}.journal"))), ..Job::new(JobId(number), request) }
    }

    fn numbers(jobs: &[Job]) -> Vec<u64> {
        jobs.iter().map(|job| job.id.0).collect()
    }

    /// A list, what is to be in it, and the bytes that were written.
    struct Kept {
        folder: tempfile::TempDir,
        list: KeptList,
        jobs: VecDeque<Job>,
        /// Bytes in the file after the last change.
        before: u64,
        written: u64,
    }

    impl Kept {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let (list, jobs) = KeptList::open(folder.path());
            assert_eq!(jobs, []);
            Self { folder, list, jobs: VecDeque::new(), before: 0, written: 0 }
        }

        fn count(&mut self, was_appended: bool) {
            let bytes = fs::metadata(self.folder.path().join(LIST)).unwrap().len();
            self.written += if was_appended { bytes - self.before } else { bytes };
            self.before = bytes;
        }

        fn add(&mut self, number: u64) {
            self.jobs.push_back(job(number));
            let lines = self.list.lines;
            self.list.added(&job(number), (self.jobs.len(), self.jobs.iter()));
            self.count(lines.is_some_and(|lines| self.list.lines == Some(lines + 1)));
        }

        fn end_first(&mut self) {
            let journal = self.jobs.pop_front().unwrap().journal.unwrap();
            let lines = self.list.lines;
            self.list.gone(&journal, (self.jobs.len(), self.jobs.iter()));
            self.count(lines.is_some_and(|lines| self.list.lines == Some(lines + 1)));
        }

        fn read(&self) -> Vec<u64> {
            numbers(&KeptList::open(self.folder.path()).1)
        }
    }

    #[test]
    fn many_jobs_are_written_a_few_times_each() {
        let mut kept = Kept::new();
        for number in 0..MANY {
            kept.add(number);
        }
        assert_eq!(kept.read(), (0..MANY).collect::<Vec<_>>());
        let each = kept.before / MANY;
        for _ in 0..MANY - 3 {
            kept.end_first();
        }
        assert_eq!(kept.read(), [MANY - 3, MANY - 2, MANY - 1]);
        assert!(
            kept.before < 3 * STALE as u64 * each,
            "{} bytes are left of jobs that have ended",
            kept.before
        );
        assert!(kept.written < 4 * MANY * each, "{} bytes for {MANY} jobs of {each}", kept.written);
    }

    #[test]
    fn changes_are_read_in_their_order_and_a_torn_line_is_left_out() {
        let mut kept = Kept::new();
        (1..=4).for_each(|number| kept.add(number));
        let path = |number: u64| job(number).journal.unwrap();
        let all = |kept: &Kept| (4, kept.jobs.clone());
        let (count, jobs) = all(&kept);
        kept.list.moved(&path(4), Some(&path(2)), (count, jobs.iter()));
        kept.list.moved(&path(1), None, (count, jobs.iter()));
        assert_eq!(kept.read(), [4, 2, 3, 1]);
        // A job that is added again is at the end.
        kept.list.added(&job(2), (count, jobs.iter()));
        assert_eq!(kept.read(), [4, 3, 1, 2]);
        let file = kept.folder.path().join(LIST);
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() - 9]).unwrap();
        assert_eq!(kept.read(), [4, 2, 3, 1], "the last line is torn");
        // After it, nothing is appended to the torn line.
        let (mut list, jobs) = KeptList::open(kept.folder.path());
        list.gone(&path(3), (3, jobs.iter().filter(|job| job.id.0 != 3)));
        assert_eq!(kept.read(), [4, 2, 1]);
    }

    #[test]
    fn the_list_of_earlier_versions_is_read_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join(WHOLE);
        fs::write(&whole, serde_json::to_vec(&[job(1), job(2)]).unwrap()).unwrap();
        let (mut list, jobs) = KeptList::open(folder.path());
        assert_eq!(numbers(&jobs), [1, 2]);
        list.write_anew((2, jobs.iter()));
        assert!(!whole.exists());
        assert_eq!(numbers(&KeptList::open(folder.path()).1), [1, 2]);
    }
}
