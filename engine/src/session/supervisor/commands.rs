//! Commands on their way to the worker.

use std::time::{Duration, Instant};

use super::{AskedLoad, Supervisor};
use crate::session::{
    Command, Event, Failure, Job, JobId,
    elsewhere::{
        parcels::{Parcel, Ticket},
        results::outward,
    },
    protocol::ToWorker,
};

/// How long a worker may take to exit on its own.
const FAREWELL: Duration = Duration::from_secs(10);

impl Supervisor {
    pub(super) fn handle(&mut self, command: Command) {
        match &command {
            Command::Generate(job) => {
                let job = self.jobs.add((**job).clone()).clone();
                return self.generate(job);
            }
            Command::Cancel { job } => {
                if let Some(entry) = self.jobs.entry(*job) {
                    entry.is_cancelled = true;
                }
                let job = *job;
                if self.withdraw(job) {
                    self.jobs.end(job);
                    self.left(job);
                    return self.emitter.emit(Event::Cancelled { job });
                }
                if self.worker.is_none() {
                    return self.drop_cancelled();
                }
            }
            Command::Move { job, before } => self.jobs.reorder(*job, *before),
            Command::Pause { paused } => self.paused = *paused,
            Command::Load { model } => {
                if self.asked.loads.iter().all(|asked| asked.model != *model) {
                    self.asked.loads.push(AskedLoad { model: model.clone(), deaths: 0 });
                }
            }
            Command::Plan(query) => {
                self.asked.plans.push((query.id, command.clone()));
                if self.elsewhere.is_some() {
                    return self.send(command, Ticket::default());
                }
            }
            Command::List { .. } => self.asked.list = true,
            // These are folders of this computer.
            Command::SearchIn { .. } if self.elsewhere.is_some() => return,
            Command::SearchIn { folders } => self.model_folders.clone_from(folders),
            Command::Forget => return self.jobs.forget_earlier(),
            Command::Show { .. } => return,
            Command::ShutDown => {
                self.closing = Some(Instant::now() + FAREWELL);
                if let Some(worker) = self.worker.take_if(|worker| !worker.serves) {
                    worker.end();
                }
            }
            Command::Unload => {}
        }
        self.tell(command);
    }

    /// Sends a job to the worker if it serves.
    pub(super) fn generate(&mut self, job: Job) {
        let Some(elsewhere) = &mut self.elsewhere else {
            return self.tell(Command::Generate(Box::new(job)));
        };
        match outward(&job) {
            Ok(job) => {
                let ticket = Ticket::default();
                elsewhere.tickets.insert(job.id, ticket.clone());
                self.send(Command::Generate(Box::new(job)), ticket);
            }
            Err(failure) => self.give_up(job.id, failure),
        }
    }

    /// Sends a command after its files, as [`Supervisor::tell`] does.
    pub(super) fn send(&self, command: Command, ticket: Ticket) {
        if let Some(worker) = self.worker.as_ref().filter(|worker| worker.serves) {
            worker.send(Parcel { command, ticket });
        }
    }

    /// Whether a job waits for its files, and now no more.
    fn withdraw(&self, job: JobId) -> bool {
        let ticket = self.elsewhere.as_ref().and_then(|elsewhere| elsewhere.tickets.get(&job));
        ticket.is_some_and(Ticket::withdraw)
    }

    pub(super) fn give_up(&mut self, job: JobId, failure: Failure) {
        self.jobs.end(job);
        self.left(job);
        self.emitter.emit(Event::Failed { job: Some(job), failure });
    }

    /// Lets an engine elsewhere remove the files of a job that has ended.
    pub(super) fn left(&mut self, job: JobId) {
        let Some(elsewhere) = &mut self.elsewhere else { return };
        elsewhere.tickets.remove(&job);
        elsewhere.results.forget(job);
        let worker = self.worker.as_ref().filter(|worker| worker.serves);
        elsewhere.sent.ended(job, |name| {
            if let Some(worker) = worker {
                worker.tell(ToWorker::Drop { name });
            }
        });
    }

    /// Lets an engine elsewhere remove the journals of jobs.
    pub(super) fn forget(&self, jobs: &[Job]) {
        let Some(worker) = self.worker.as_ref().filter(|worker| worker.serves) else { return };
        let names = jobs.iter().filter_map(|job| job.journal.as_deref()?.file_name());
        for journal in names.filter(|_| self.elsewhere.is_some()) {
            worker.tell(ToWorker::Forget { journal: journal.into() });
        }
    }

    /// Sends a command to the worker if it serves. The next worker gets the commands that this one did not.
    pub(super) fn tell(&self, command: Command) {
        if let Some(worker) = self.worker.as_ref().filter(|worker| worker.serves) {
            worker.tell(ToWorker::Command(Box::new(command)));
        }
    }

    pub(super) fn drop_cancelled(&mut self) {
        let cancelled = self.jobs.entries().iter().filter(|entry| entry.is_cancelled);
        let cancelled: Vec<JobId> = cancelled.map(|entry| entry.job.id).collect();
        for job in cancelled {
            self.jobs.end(job);
            self.left(job);
            self.emitter.emit(Event::Cancelled { job });
        }
    }
}
