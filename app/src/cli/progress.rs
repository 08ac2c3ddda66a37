//! Progress on the standard error: a bar on a terminal, plain lines elsewhere.

use std::{
    io::{self, IsTerminal},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use sluice_engine::{
    session::{Event, JobId, Stage},
    units,
};

use super::exit::stderr_line;

const BAR: &str = "{msg:8} {bar:32} {pos}/{len}  {prefix}";
const NOTHING: &str = "{msg}";
const SPINNER: &str = "{msg:8} {spinner}  {elapsed}";

/// Shows the progress of the jobs that run.
pub(super) enum Progress {
    Bars(Bars),
    Lines {
        /// The jobs that run; lines name them if there are several.
        running: Vec<JobId>,
    },
    Nothing,
}

/// A bar for each job that runs.
pub(super) struct Bars {
    all: MultiProgress,
    bars: Vec<(JobId, ProgressBar)>,
}

impl Progress {
    pub fn new(quiet: bool) -> Self {
        match quiet {
            true => Self::Nothing,
            false if io::stderr().is_terminal() => {
                Self::Bars(Bars { all: MultiProgress::new(), bars: Vec::new() })
            }
            false => Self::Lines { running: Vec::new() },
        }
    }

    /// Whether progress is not shown.
    pub fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Writes lines to the standard error, above the bars if there are any.
    pub fn write(&self, text: &str) {
        match self {
            Self::Bars(Bars { all, .. }) => all.suspend(|| stderr_line(text)),
            Self::Lines { .. } | Self::Nothing => stderr_line(text),
        }
    }

    pub fn show(&mut self, event: &Event) {
        let Some(job) = job_of(event) else { return };
        match self {
            Self::Bars(bars) => bars.show(job, event),
            Self::Lines { running } => {
                if matches!(event, Event::Started { .. }) && !running.contains(&job) {
                    running.push(job);
                }
                if let Some(line) = line(event) {
                    let JobId(number) = job;
                    stderr_line(&if running.len() > 1 { format!("job {number}: {line}") } else { line });
                }
                if ends(event) {
                    running.retain(|&other| other != job);
                }
            }
            Self::Nothing => {}
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Self::Bars(Bars { bars, .. }) = self {
            bars.iter().for_each(|(_, bar)| bar.finish_and_clear());
        }
    }
}

impl Bars {
    fn show(&mut self, job: JobId, event: &Event) {
        if matches!(event, Event::Started { .. }) && !self.bars.iter().any(|(own, _)| *own == job) {
            let bar = self.all.add(ProgressBar::no_length().with_style(style(NOTHING)));
            self.bars.push((job, bar));
        }
        if let Some((_, bar)) = self.bars.iter().find(|(own, _)| *own == job) {
            show_on_bar(bar, event);
        }
        if ends(event) {
            self.bars.retain(|(own, _)| *own != job);
        }
        if let Event::Finished { .. } | Event::Replanned { .. } = event
            && let Some(line) = line(event)
        {
            self.all.suspend(|| stderr_line(&line));
        }
    }
}

/// The job that an event is about, if it shows progress.
fn job_of(event: &Event) -> Option<JobId> {
    match event {
        Event::Started { job }
        | Event::StageStarted { job, .. }
        | Event::StageFinished { job, .. }
        | Event::Step { job, .. }
        | Event::Replanned { job, .. }
        | Event::Finished { job, .. }
        | Event::Cancelled { job }
        | Event::Failed { job: Some(job), .. } => Some(*job),
        _ => None,
    }
}

fn ends(event: &Event) -> bool {
    matches!(event, Event::Finished { .. } | Event::Cancelled { .. } | Event::Failed { .. })
}

fn show_on_bar(bar: &ProgressBar, event: &Event) {
    match event {
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
        event if ends(event) => bar.finish_and_clear(),
        _ => {}
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
