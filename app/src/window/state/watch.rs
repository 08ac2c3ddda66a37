//! The telemetry of the current or the last run. No drawing.

use std::collections::BTreeMap;

use sluice_engine::{memory::Outcome, session::JobId, telemetry::TelemetryEvent};

use crate::window::history::History;

/// A run and its telemetry.
#[derive(Debug, Clone)]
pub struct Watch {
    /// Its job.
    pub job: JobId,
    /// Its telemetry.
    pub history: History,
    /// Whether it has ended.
    pub over: bool,
    /// Rises with every change, for caches.
    pub version: u64,
}

/// A run that continued with another plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replanned {
    /// Its job.
    pub job: JobId,
    /// The reasons, in order.
    pub reasons: Vec<String>,
}

/// The last run and its measurements.
#[derive(Debug, Default)]
pub struct Watches {
    /// The current run, or the last one.
    pub run: Option<Watch>,
    /// Measurements of the last run, compared with its prediction.
    pub outcome: Option<Box<Outcome>>,
    /// The notice that a run continues with another plan, until dismissed.
    pub replanned: Option<Replanned>,
    /// The same of engines that are not shown, by their places.
    aside: BTreeMap<usize, Aside>,
}

/// What is kept of an engine that is not shown.
#[derive(Debug, Default)]
struct Aside {
    run: Option<Watch>,
    outcome: Option<Box<Outcome>>,
}

impl Watches {
    /// Handles the start of a job.
    pub fn started(&mut self, job: JobId) {
        if self.replanned.as_ref().is_some_and(|replanned| replanned.job != job) {
            self.replanned = None;
        }
    }

    /// Adds telemetry of the engine that is shown, or of one aside. The previous run stays visible until there is some.
    pub fn telemetry(&mut self, job: JobId, aside: Option<usize>, events: &[TelemetryEvent]) {
        let place = match aside {
            Some(lane) => &mut self.aside.entry(lane).or_default().run,
            None => &mut self.run,
        };
        let run = match place {
            Some(run) if run.job == job => run,
            run => run.insert(Watch { job, history: History::new(), over: false, version: 0 }),
        };
        run.history.extend(events);
        run.version += 1;
    }

    /// Keeps the measurements of a run of the engine that is shown, or of one aside.
    pub fn measured(&mut self, aside: Option<usize>, outcome: Box<Outcome>) {
        match aside {
            Some(lane) => self.aside.entry(lane).or_default().outcome = Some(outcome),
            None => self.outcome = Some(outcome),
        }
    }

    /// Shows another engine.
    pub fn turn(&mut self, from: usize, to: usize) {
        let next = self.aside.remove(&to).unwrap_or_default();
        let run = std::mem::replace(&mut self.run, next.run);
        let outcome = std::mem::replace(&mut self.outcome, next.outcome);
        self.aside.insert(from, Aside { run, outcome });
    }

    /// Records that a run continues with another plan.
    pub fn replan(&mut self, job: JobId, reason: String) {
        match &mut self.replanned {
            Some(replanned) if replanned.job == job => replanned.reasons.push(reason),
            replanned => *replanned = Some(Replanned { job, reasons: vec![reason] }),
        }
    }

    /// Handles the end of a job.
    pub fn ended(&mut self, job: JobId) {
        let aside = self.aside.values_mut().filter_map(|aside| aside.run.as_mut());
        for run in self.run.iter_mut().chain(aside).filter(|run| run.job == job) {
            run.over = true;
            run.version += 1;
        }
    }

    /// The current run.
    pub fn live(&self) -> Option<&Watch> {
        self.run.as_ref().filter(|run| !run.over)
    }
}

#[cfg(test)]
mod tests {
    use sluice_engine::telemetry::MemorySample;

    use super::*;

    fn sample(at: u64) -> TelemetryEvent {
        TelemetryEvent::Memory(MemorySample { at, weights: 7, ..MemorySample::default() })
    }

    #[test]
    fn a_new_run_takes_the_place_of_the_last_one_when_it_says_something() {
        let mut watches = Watches::default();
        watches.telemetry(JobId(1), None, &[sample(1), sample(2)]);
        watches.ended(JobId(1));
        watches.started(JobId(2));
        assert!(watches.live().is_none());
        assert_eq!(watches.run.as_ref().map(|run| (run.job, run.history.latest())), Some((JobId(1), 2)));
        watches.telemetry(JobId(2), None, &[sample(5)]);
        assert_eq!(watches.live().map(|run| run.history.memory().len()), Some(1));
    }

    #[test]
    fn each_engine_has_a_run_of_its_own() {
        let mut watches = Watches::default();
        watches.telemetry(JobId(1), None, &[sample(1)]);
        watches.telemetry(JobId(2), Some(1), &[sample(2), sample(3)]);
        let shown =
            |watches: &Watches| watches.run.as_ref().map(|run| (run.job, run.history.latest(), run.over));
        assert_eq!(shown(&watches), Some((JobId(1), 1, false)));
        watches.ended(JobId(2));
        watches.turn(0, 1);
        assert_eq!(shown(&watches), Some((JobId(2), 3, true)));
        watches.telemetry(JobId(1), Some(0), &[sample(4)]);
        watches.turn(1, 0);
        assert_eq!(shown(&watches), Some((JobId(1), 4, false)));
    }

    #[test]
    fn every_reason_for_another_plan_is_kept_until_the_next_run() {
        let mut watches = Watches::default();
        watches.replan(JobId(1), "less fits".to_owned());
        watches.replan(JobId(1), "even less fits".to_owned());
        assert_eq!(watches.replanned.as_ref().map(|replanned| replanned.reasons.len()), Some(2));
        watches.started(JobId(1));
        assert!(watches.replanned.is_some());
        watches.started(JobId(2));
        assert!(watches.replanned.is_none());
    }
}
