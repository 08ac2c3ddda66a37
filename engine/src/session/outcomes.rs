//! The measurements of past runs, saved for later predictions.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use crate::memory::Outcome;

/// Maximum number of saved runs.
const REMEMBERED: usize = 512;
const FILE: &str = "outcomes.jsonl";

/// The measurements of past runs. Clones share one record.
#[derive(Debug, Clone, Default)]
pub struct Outcomes {
    known: Arc<Mutex<Vec<Outcome>>>,
    file: Option<PathBuf>,
}

impl Outcomes {
    /// Reads the saved measurements from `folder`, if given. Skips lines that cannot be read.
    pub fn open(folder: Option<&Path>) -> Self {
        let file = folder.map(|folder| folder.join(FILE));
        let text = match &file {
            Some(file) => fs::read_to_string(file).unwrap_or_else(|error| {
                if error.kind() != io::ErrorKind::NotFound {
                    tracing::warn!(%error, file = %file.display(), "the measurements of past runs cannot be read");
                }
                String::new()
            }),
            None => String::new(),
        };
        let mut known: Vec<Outcome> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let outdated = known.len().saturating_sub(REMEMBERED);
        known.drain(..outdated);
        let outcomes = Self { known: Arc::new(Mutex::new(known)), file };
        if outdated > 0 {
            outcomes.rewrite();
        }
        outcomes
    }

    /// All measurements, oldest first.
    pub fn all(&self) -> Vec<Outcome> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds the measurements of a run.
    pub fn add(&self, outcome: &Outcome) {
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.push(outcome.clone());
            let outdated = known.len().saturating_sub(REMEMBERED);
            known.drain(..outdated);
        }
        let Some(file) = &self.file else { return };
        let written = serde_json::to_string(outcome).map_err(io::Error::other).and_then(|line| {
            fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
            writeln!(OpenOptions::new().create(true).append(true).open(file)?, "{line}")
        });
        if let Err(error) = written {
            tracing::warn!(%error, file = %file.display(), "the measurements of a run cannot be saved");
        }
    }

    /// Rewrites the file without outdated measurements.
    fn rewrite(&self) {
        let Some(file) = &self.file else { return };
        let lines: Vec<String> =
            self.all().iter().filter_map(|outcome| serde_json::to_string(outcome).ok()).collect();
        if let Err(error) = fs::write(file, lines.join("\n") + "\n") {
            tracing::warn!(%error, file = %file.display(), "the measurements of past runs cannot be written");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Forecasts are the same before and after the program starts again.
    #[test]
    fn measurements_come_back_to_the_last_digit() {
        let folder = tempfile::tempdir().unwrap();
        let outcomes = Outcomes::open(Some(folder.path()));
        let speed = |number: u32| 14_328_554_665.466_671 / f64::from(number);
        for number in 1..=100 {
            outcomes.add(&Outcome { measured_operations_per_second: speed(number), ..Outcome::default() });
        }
        assert_eq!(Outcomes::open(Some(folder.path())).all(), outcomes.all());
    }
}
