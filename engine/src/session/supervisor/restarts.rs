//! Starts workers, and others when they die.

use std::time::{Duration, Instant};

use super::{DEATHS_AT_START, REINSTALL, Supervisor};
use crate::session::{
    Event, Failure, JobId,
    elsewhere::command_error::CommandError,
    process::Process,
    protocol::{Hello, PATIENCE, ToWorker},
};

/// Delays before a worker is restarted, by the number of workers that died without progress.
const WAITS: [Duration; 6] = [
    Duration::ZERO,
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(10),
];
/// How many workers may die with a job that makes no progress.
const DEATHS_OF_A_JOB: u32 = 3;
/// How many workers may die with the first model that they are to open.
const DEATHS_OF_A_LOAD: u32 = 3;
/// How long a command may take until the engine behind it answers. A cluster starts it when its turn comes.
const BEFORE_HELLO: Duration = Duration::from_secs(60 * 60);
/// How long a broken connection is tried again.
const RECONNECTS: Duration = Duration::from_secs(15 * 60);

impl Supervisor {
    /// Starts a worker when it is time, and ends one that hangs.
    pub(super) fn look(&mut self) {
        match &self.worker {
            Some(worker) if worker.pulse.silence() > self.patience(worker) => {
                self.died(Some("the engine stopped responding".to_owned()));
            }
            None if self.closing.is_none() && Instant::now() >= self.start_at => self.start(),
            _ => {}
        }
    }

    /// How long a worker may be silent.
    fn patience(&self, worker: &Process) -> Duration {
        if self.elsewhere.is_some() && !worker.greeted { BEFORE_HELLO } else { PATIENCE }
    }

    fn start(&mut self) {
        let Some(program) = self.programs.front() else { return };
        let sent = self.elsewhere.as_ref().map(|elsewhere| &elsewhere.sent);
        match Process::start(program, sent) {
            Ok(worker) => {
                worker.tell(ToWorker::Hello(Hello::own()));
                self.worker = Some(worker);
            }
            Err(cause) if sent.is_some() => {
                let program = program.path.display().to_string();
                self.not_started(CommandError::NotStarted { program, cause }.into());
            }
            Err(error) => {
                let message = format!("{} cannot be started: {error}", program.path.display());
                self.deaths = DEATHS_AT_START;
                self.not_started(Failure { message, advice: Some(REINSTALL.to_owned()) });
            }
        }
    }

    /// Handles the end of a worker, or ends one that is unusable for `reason`.
    pub(super) fn died(&mut self, reason: Option<String>) {
        let Some(worker) = self.worker.take() else { return };
        let serves = worker.serves;
        let words = worker.first_words().filter(|_| self.elsewhere.is_some());
        let is_silent = worker.pulse.silence() > self.patience(&worker);
        let mut ended = worker.end();
        self.deaths += 1;
        if let (false, Some(_)) = (serves, &self.elsewhere) {
            let error = match words {
                Some(words) => CommandError::OtherWords { words },
                None if is_silent => CommandError::Silent,
                None => CommandError::Ended { how: reason.unwrap_or(ended.message) },
            };
            return self.not_started(error.into());
        }
        if let Some(reason) = reason {
            ended.message = reason;
        }
        if !serves {
            return self.not_started(ended);
        }
        tracing::warn!(ended.message, "restarting the engine process");
        if let Some(elsewhere) = &mut self.elsewhere {
            elsewhere.lost_at = Instant::now();
        }
        let advice = "The engine is restarting. Finished images are safe.".to_owned();
        let failure = Failure { message: ended.message.clone(), advice: Some(advice) };
        self.emitter.emit(Event::Restarting { failure });
        if let Some(entry) = self.jobs.running() {
            entry.deaths += 1;
            if entry.deaths >= DEATHS_OF_A_JOB {
                let job = entry.job.id;
                self.jobs.end(job);
                self.emitter.emit(Event::Failed { job: Some(job), failure: fatal(ended.clone()) });
            }
        }
        if let Some(first) = self.asked.loads.first_mut() {
            first.deaths += 1;
            if first.deaths >= DEATHS_OF_A_LOAD {
                let model = self.asked.loads.remove(0).model;
                self.emitter.emit(Event::NotLoaded { model, failure: fatal(ended) });
            }
        }
        self.start_later();
    }

    fn start_later(&mut self) {
        let wait = WAITS[(self.deaths.saturating_sub(1) as usize).min(WAITS.len() - 1)];
        self.start_at = Instant::now() + wait;
    }

    /// Handles a worker that failed to start: tries again, or continues with the next program.
    pub(super) fn not_started(&mut self, failure: Failure) {
        if let Some(worker) = self.worker.take() {
            worker.end();
        }
        let waits = match &self.elsewhere {
            Some(elsewhere) => elsewhere.has_served && elsewhere.lost_at.elapsed() < RECONNECTS,
            None => self.deaths < DEATHS_AT_START,
        };
        if waits {
            tracing::warn!(failure.message, "the engine cannot be reached");
            return self.start_later();
        }
        tracing::error!(failure.message, "an engine cannot be started");
        self.deaths = 0;
        self.programs.pop_front();
        let advice = "Another engine generates images instead.".to_owned();
        if self.programs.is_empty() {
            let failure = if self.elsewhere.is_some() { failure } else { fatal(failure) };
            let jobs: Vec<JobId> = self.jobs.entries().iter().map(|entry| entry.job.id).collect();
            // First of all that the engine is given up: another one may take the jobs.
            self.emitter.emit(Event::Failed { job: None, failure: failure.clone() });
            for job in jobs {
                self.emitter.emit(Event::Failed { job: Some(job), failure: failure.clone() });
            }
            return;
        }
        self.instead_of = Some(Failure { advice: Some(advice), ..failure });
        self.start_at = Instant::now();
    }
}

/// The message for a job, a model or an engine that is given up.
fn fatal(failure: Failure) -> Failure {
    Failure { message: format!("the engine process failed repeatedly: {}", failure.message), ..failure }
}
