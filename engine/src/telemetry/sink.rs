//! The files that telemetry is written to.

use std::{
    fs::File,
    io::{self, BufWriter, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{JsonlWriter, TelemetryError, TelemetryEvent, TraceWriter};

/// Takes a run's events in the order in which they were observed.
pub trait Sink: Send {
    /// Writes events and flushes them, so that other programs can see them. After an error a sink is not used
    /// again.
    fn write(&mut self, events: &[TelemetryEvent]) -> Result<(), TelemetryError>;

    /// Completes the output at the end of the run.
    fn finish(&mut self) -> Result<(), TelemetryError>;
}

/// The files for a run's telemetry. Existing files are replaced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TelemetryFiles {
    /// All events, one per line, as written by [`JsonlWriter`].
    pub events: Option<PathBuf>,
    /// A trace for Perfetto, as written by [`TraceWriter`].
    pub trace: Option<PathBuf>,
}

impl TelemetryFiles {
    /// Creates the files, so that an invalid name or a read-only disk is reported before the run.
    pub fn open(&self) -> Result<Vec<Box<dyn Sink>>, TelemetryError> {
        if let (Some(events), Some(trace)) = (&self.events, &self.trace)
            && events == trace
        {
            return Err(TelemetryError::SameFile { path: events.clone() });
        }
        let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
        if let Some(path) = &self.events {
            sinks.push(Box::new(JsonlWriter::create(path)?));
        }
        if let Some(path) = &self.trace {
            sinks.push(Box::new(TraceWriter::create(path)?));
        }
        Ok(sinks)
    }
}

/// A file that grows during the run; its errors name it.
pub(super) struct GrowingFile {
    path: PathBuf,
    out: BufWriter<File>,
}

impl GrowingFile {
    pub(super) fn create(path: &Path) -> Result<Self, TelemetryError> {
        let file =
            File::create(path).map_err(|cause| TelemetryError::Create { path: path.to_owned(), cause })?;
        Ok(Self { path: path.to_owned(), out: BufWriter::with_capacity(1 << 16, file) })
    }

    pub(super) fn text(&mut self, text: &str) -> Result<(), TelemetryError> {
        let written = self.out.write_all(text.as_bytes());
        written.map_err(|cause| self.error(cause))
    }

    pub(super) fn json(&mut self, value: &impl Serialize) -> Result<(), TelemetryError> {
        let written = serde_json::to_writer(&mut self.out, value);
        written.map_err(|cause| self.error(cause.into()))
    }

    pub(super) fn flush(&mut self) -> Result<(), TelemetryError> {
        let written = self.out.flush();
        written.map_err(|cause| self.error(cause))
    }

    /// Whether [`GrowingFile::step_back`] works; it does not in a pipe.
    pub(super) fn can_step_back(&mut self) -> bool {
        self.out.stream_position().is_ok()
    }

    /// Makes the next write overwrite the last `bytes` bytes.
    pub(super) fn step_back(&mut self, bytes: usize) -> Result<(), TelemetryError> {
        let sought = self.out.seek(SeekFrom::Current(-(bytes as i64)));
        sought.map(drop).map_err(|cause| self.error(cause))
    }

    /// Flushes buffered data and checks that the file still exists: on most systems writing to a removed file
    /// succeeds.
    pub(super) fn finish(&mut self) -> Result<(), TelemetryError> {
        self.flush()?;
        if self.path.exists() { Ok(()) } else { Err(TelemetryError::Gone { path: self.path.clone() }) }
    }

    fn error(&self, cause: io::Error) -> TelemetryError {
        let path = self.path.clone();
        match cause.kind() {
            io::ErrorKind::StorageFull => TelemetryError::DiskFull { path },
            _ => TelemetryError::Write { path, cause },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_made_unless_it_is_wanted() {
        assert!(TelemetryFiles::default().open().unwrap().is_empty());
    }

    #[test]
    fn one_name_for_both_files_is_refused() {
        let path = Some(PathBuf::from("a.json"));
        let error = TelemetryFiles { events: path.clone(), trace: path }.open().err().unwrap();
        assert!(matches!(error, TelemetryError::SameFile { .. }), "{error}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_refused_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing").join("run.jsonl");
        let error = TelemetryFiles { events: Some(path), trace: None }.open().err().unwrap();
        assert!(matches!(error, TelemetryError::Create { .. }), "{error}");
        assert!(error.advice().is_some());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_named_before_the_run() {
        let full = PathBuf::from("/dev/full");
        for files in [
            TelemetryFiles { events: Some(full.clone()), trace: None },
            TelemetryFiles { events: None, trace: Some(full) },
        ] {
            let error = files.open().err().unwrap();
            assert!(matches!(error, TelemetryError::DiskFull { .. }), "{error}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_file_that_was_removed_meanwhile_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let mut sinks = TelemetryFiles { events: Some(path.clone()), trace: None }.open().unwrap();
        std::fs::remove_file(&path).unwrap();
        sinks[0].write(&[crate::telemetry::samples::memory(1, 2, 3)]).unwrap();
        let error = sinks[0].finish().unwrap_err();
        assert!(matches!(error, TelemetryError::Gone { .. }), "{error}");
    }
}
