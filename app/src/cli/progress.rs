//! Progress on the standard error: a bar on a terminal, plain lines elsewhere.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use sluice_engine::{
    session::{Event, Stage},
    units,
};

use super::exit::stderr_line;

const BAR: &str = "{msg:8} {bar:32} {pos}/{len}  {prefix}";
const NOTHING: &str = "{msg}";
const SPINNER: &str = "{msg:8} {spinner}  {elapsed}";

/// Shows the progress of a job.
pub(super) enum Progress {
    Bar(ProgressBar),
    Lines,
    Nothing,
}

impl Progress {
    pub fn new(quiet: bool) -> Self {
        match quiet {
            true => Self::Nothing,
            false if io::stderr().is_terminal() => {
                Self::Bar(ProgressBar::no_length().with_style(style(NOTHING)))
            }
            false => Self::Lines,
        }
    }

    /// Whether progress is not shown.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Writes lines to the standard error, above the bar if there is one.
    pub fn write(&self, text: &str) {
        match self {
            Self::Bar(bar) => bar.suspend(|| stderr_line(text)),
            Self::Lines | Self::Nothing => stderr_line(text),
        }
    }

    pub fn show(&mut self, event: &Event) {
        match self {
            Self::Bar(bar) => show_on_bar(bar, event),
            Self::Lines => {
                if let Some(line) = line(event) {
                    stderr_line(&line);
                }
            }
            Self::Nothing => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

fn show_on_bar(bar: &ProgressBar, event: &Event) {
    match event {
        // The bar of the previous job has finished.
        Event::Started { .. } => {
            bar.set_style(style(NOTHING));
            bar.set_message("");
            bar.set_prefix("");
            bar.reset();
        }
        Event::StageStarted { stage, .. } => {
            bar.set_style(style(SPINNER));
            bar.set_message(stage_name(stage));
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Event::Step { step, steps, seconds, seconds_left, .. } => {
            bar.set_style(style(BAR));
            bar.set_length(u64::from(*steps));
            bar.set_position(u64::from(*step));
            let (step, left) = (units::seconds(*seconds), units::seconds(*seconds_left));
            bar.set_prefix(format!("{step} per step, {left} left"));
        }
        Event::Finished { .. } | Event::Cancelled { .. } | Event::Failed { .. } => bar.finish_and_clear(),
        _ => {}
    }
    if let Event::Finished { .. } | Event::Replanned { .. } = event
        && let Some(line) = line(event)
    {
        bar.suspend(|| stderr_line(&line));
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are constants, and a test makes sure that they are valid.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn line(event: &Event) -> Option<String> {
    match event {
        Event::StageFinished { stage, seconds, .. } => {
            Some(format!("{}: {}", stage_name(stage), units::seconds(*seconds)))
        }
        Event::Step { step, steps, seconds, seconds_left, .. } => {
            let (seconds, left) = (units::seconds(*seconds), units::seconds(*seconds_left));
            Some(format!("step {step} of {steps}: {seconds}, {left} left"))
        }
        Event::Replanned { reason, .. } => Some(format!("plan changed: {reason}")),
        Event::Finished { seconds, .. } => Some(format!("done in {}", units::seconds(*seconds))),
        _ => None,
    }
}

/// Writes a line whenever another tenth is done; takes the share that is done, from 0 to 1.
pub(super) fn tenths(quiet: bool) -> impl FnMut(f64) {
    let mut told = 0;
    move |part| {
        let tenths = (part * 10.0) as u32;
        if tenths > told && !quiet {
            stderr_line(&format!("{}%", tenths * 10));
            told = tenths;
        }
    }
}

/// The display name of a stage.
pub(super) fn stage_name(stage: &Stage) -> String {
    stage.name.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_templates_are_valid() {
        for template in [BAR, NOTHING, SPINNER] {
            ProgressStyle::with_template(template).unwrap();
        }
    }
}
