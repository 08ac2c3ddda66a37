//! The telemetry of the current or the last run. No drawing.

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
}

impl Watches {
    /// Handles the start of a job.
    pub fn started(&mut self, job: JobId) {
        if self.replanned.as_ref().is_some_and(|replanned| replanned.job != job) {
            self.replanned = None;
        }
    }

    /// Adds telemetry. The previous run stays visible until there is some.
    pub fn telemetry(&mut self, job: JobId, events: &[TelemetryEvent]) {
        let run = match &mut self.run {
            Some(run) if run.job == job => run,
            run => run.insert(Watch { job, history: History::new(), over: false, version: 0 }),
        };
        run.history.extend(events);
        run.version += 1;
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
        if let Some(run) = self.run.as_mut().filter(|run| run.job == job) {
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
        watches.telemetry(JobId(1), &[sample(1), sample(2)]);
        watches.ended(JobId(1));
        watches.started(JobId(2));
        assert!(watches.live().is_none());
        assert_eq!(watches.run.as_ref().map(|run| (run.job, run.history.latest())), Some((JobId(1), 2)));
        watches.telemetry(JobId(2), &[sample(5)]);
        assert_eq!(watches.live().map(|run| run.history.memory().len()), Some(1));
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
