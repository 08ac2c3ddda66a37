//! The progress of downloads: bars on a terminal, plain lines elsewhere, or JSON.

use std::{
    collections::HashMap,
    io::{self, IsTerminal},
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use serde_json::json;

use super::{super::exit::stderr_line, size};
use crate::{
    cli::stdout,
    downloads::{Download, DownloadId, Phase},
    units,
};

const BAR: &str = "{prefix}\n  {bar:32} {percent:>3}%  {msg}";

/// Shows how far downloads are.
pub(super) enum Progress {
    Bars(MultiProgress, HashMap<DownloadId, ProgressBar>),
    Lines(HashMap<DownloadId, u32>),
    Json(HashMap<DownloadId, (u64, String)>),
    Nothing,
}

impl Progress {
    pub fn new(quiet: bool, as_json: bool) -> Self {
        match (quiet, as_json) {
            (_, true) => Self::Json(HashMap::new()),
            (true, _) => Self::Nothing,
            _ if io::stderr().is_terminal() => Self::Bars(MultiProgress::new(), HashMap::new()),
            _ => Self::Lines(HashMap::new()),
        }
    }

    /// Writes a line to the standard error, above the bars.
    pub fn write(&self, line: &str) {
        match self {
            Self::Bars(bars, _) => bars.suspend(|| stderr_line(line)),
            _ => stderr_line(line),
        }
    }

    pub fn show(&mut self, all: &[Download]) -> anyhow::Result<()> {
        match self {
            Self::Bars(bars, own) => all.iter().for_each(|download| bar(bars, own, download)),
            Self::Lines(told) => all.iter().for_each(|download| line(told, download)),
            Self::Json(told) => {
                for download in all {
                    json_line(told, download)?;
                }
            }
            Self::Nothing => {}
        }
        Ok(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Self::Bars(_, bars) = self {
            bars.values().for_each(ProgressBar::finish_and_clear);
        }
    }
}

fn bar(bars: &MultiProgress, own: &mut HashMap<DownloadId, ProgressBar>, download: &Download) {
    let bar = own.entry(download.id).or_insert_with(|| {
        // The template is a constant, and a test makes sure that it is valid.
        let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = bars.add(ProgressBar::new(0).with_style(style));
        bar.set_prefix(download.title.clone());
        bar
    });
    if matches!(download.phase, Phase::Done { .. } | Phase::Failed(_)) {
        bar.finish_and_clear();
        return;
    }
    bar.set_length(download.bytes.unwrap_or(download.done).max(1));
    bar.set_position(download.done);
    bar.set_message(words(download));
}

/// Another tenth, or another state.
fn line(told: &mut HashMap<DownloadId, u32>, download: &Download) {
    let tenth = (download.share() * 10.0) as u32;
    let state = match download.phase {
        Phase::Running => tenth,
        Phase::Retrying { .. } => 100 + tenth,
        _ => return,
    };
    if told.insert(download.id, state) != Some(state) {
        stderr_line(&format!("{}: {}", download.title, words(download)));
    }
}

fn json_line(told: &mut HashMap<DownloadId, (u64, String)>, download: &Download) -> anyhow::Result<()> {
    let state = match &download.phase {
        Phase::Waiting => "waiting",
        Phase::Running => "running",
        Phase::Checking => "checking",
        Phase::Retrying { .. } => "retrying",
        _ => return Ok(()),
    };
    let now = (download.done, state.to_owned());
    if told.insert(download.id, now.clone()) == Some(now) {
        return Ok(());
    }
    let line = json!({
        "event": "progress", "title": download.title, "state": state, "done": download.done, "bytes": download.bytes,
        "bytes_per_second": download.speed.round(),
    });
    stdout::line(&line.to_string())
}

/// `1.2 of 6.5 GB, 24 MB/s, 3 min left`.
fn words(download: &Download) -> String {
    let so_far = match download.bytes {
        Some(bytes) => units::memory_of(download.done, bytes),
        None => units::memory(download.done),
    };
    match &download.phase {
        Phase::Running => {
            let left = download.seconds_left().map(|left| format!(", {}", units::time_left(left)));
            format!("{so_far}, {}{}", units::speed(download.speed), left.unwrap_or_default())
        }
        Phase::Checking => format!("reading what is here, {so_far}"),
        Phase::Retrying { why } => format!("{why}; trying again, {so_far}"),
        _ => format!("waiting, {}", size(download.bytes)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        ProgressStyle::with_template(BAR).unwrap();
    }
}
