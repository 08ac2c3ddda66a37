//! What the program says while it runs: on the standard error, and of the window also in files of the last days. The window
//! passes on what its engine says.

use std::{
    fs,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use tracing_appender::{
    non_blocking::WorkerGuard,
    rolling::{Builder, Rotation},
};
use tracing_subscriber::{EnvFilter, Layer as _, filter::LevelFilter, layer::SubscriberExt as _};

use crate::folders::data_folder;

const PREFIX: &str = "sluice";
const SUFFIX: &str = "log";
/// How many days are kept.
const DAYS: usize = 5;
/// What goes into files.
const IN_FILES: &str = "warn,sluice=info,sluice_engine=info";

/// Starts it, in files too if asked for. They are complete when the guard is dropped.
pub fn start(in_files: bool) -> Option<WorkerGuard> {
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::WARN.into());
    let filter = filter.with_env_var("SLUICE_LOG").from_env_lossy();
    // The library for HTTP writes whole requests into its log, also the token in them; that for MCP, prompts and images.
    let quiet = ["ureq_proto=info", "ureq_proto::util=info", "rmcp=warn"];
    let quiet = quiet.into_iter().filter_map(|text| text.parse().ok());
    let to_stderr = tracing_subscriber::fmt::layer()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .with_filter(quiet.fold(filter, EnvFilter::add_directive));
    let (file, why_not) = match in_files.then(folder).flatten().map(|folder| open(&folder)) {
        Some(Ok(file)) => (Some(file), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    };
    let (writer, guard) = file.unzip();
    let to_files = writer.map(|writer| {
        let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
        layer.with_filter(EnvFilter::new(IN_FILES))
    });
    let all = tracing_subscriber::registry().with(to_stderr).with(to_files);
    if let Err(error) = tracing::subscriber::set_global_default(all) {
        eprintln!("nothing is logged: {error}");
    }
    if let Some(error) = why_not {
        tracing::warn!(%error, "nothing is logged into files");
    }
    guard
}

fn open(folder: &Path) -> anyhow::Result<(tracing_appender::non_blocking::NonBlocking, WorkerGuard)> {
    fs::create_dir_all(folder)?;
    let daily = Builder::new().rotation(Rotation::DAILY).filename_prefix(PREFIX).filename_suffix(SUFFIX);
    Ok(tracing_appender::non_blocking(daily.max_log_files(DAYS).build(folder)?))
}

/// The folder of the files; `None` without a home folder.
pub fn folder() -> Option<PathBuf> {
    data_folder().map(|folder| folder.join("logs"))
}

/// The last lines of the newest file in a folder.
///
/// # Errors
/// When the folder or the file cannot be read.
pub fn last_lines(folder: &Path, count: usize) -> io::Result<Vec<String>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| is_log(path))
        .collect();
    // Their names have the date.
    files.sort();
    let Some(newest) = files.pop() else { return Ok(Vec::new()) };
    let text = String::from_utf8_lossy(&fs::read(newest)?).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines[lines.len().saturating_sub(count)..].iter().map(|line| (*line).to_owned()).collect())
}

fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == SUFFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_those_of_the_newest_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(last_lines(folder.path(), 2).unwrap().is_empty());
        for (name, text) in [
            ("sluice.2026-11-24.log", "old\n"),
            ("sluice.2026-11-25.log", "one\ntwo\nthree\n"),
            ("sluice.2026-11-26.txt", "no log\n"),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(last_lines(folder.path(), 2).unwrap(), ["two", "three"]);
        assert!(last_lines(&folder.path().join("missing"), 2).is_err());
    }
}
