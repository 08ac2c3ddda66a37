//! Several engines behind one session: each job goes to one that is free.

mod lane;

use std::{
    collections::VecDeque,
    io,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, Select, bounded};

use super::{
    Command, Event, Failure, Job, JobId, LaneChange, PlanQuery, PlanSubject, Session, SessionOptions, Unsent,
    threads::{COMMANDS, EVENTS, Emitter, spawn},
    unfinished::Unfinished,
};
use crate::request::ModelSource;
use lane::Tracked;

/// How long a job stays with an engine that is being started again or cannot be reached, if another one could run it.
const LOST: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(30) };
/// How often that is looked at.
const LOOK: Duration = if cfg!(test) { Duration::from_millis(50) } else { Duration::from_secs(1) };

/// An engine that shares the jobs with others.
pub struct Lane {
    /// The engine. It keeps no jobs for the next session.
    pub session: Session,
    /// Whether it uses the GPU that it has, whatever number of a GPU a job names: that is one of another computer.
    pub has_own_device: bool,
}

impl Session {
    /// One session of several, which answer [`Event::Serving`] when they are there. A job of an engine that is given up goes
    /// to another one, and so does one whose model an engine has not. Of the options, those about events and unfinished jobs
    /// are used.
    ///
    /// # Errors
    /// When the operating system cannot start a thread or create a temporary folder.
    pub fn of_several(lanes: Vec<Lane>, options: SessionOptions) -> io::Result<Self> {
        let (commands, incoming) = bounded(COMMANDS);
        let (outgoing, events) = bounded(EVENTS);
        let several = Several {
            lanes: lanes.into_iter().map(Tracked::new).collect(),
            queue: VecDeque::new(),
            jobs: Unfinished::open(options.data.as_deref().filter(|_| options.keeps_jobs))?,
            loading: Vec::new(),
            shown: None,
            paused: false,
            closing: false,
            last: None,
            emitter: Emitter::new(outgoing, options.wake),
        };
        let thread = spawn("sluice-engines", move || several.run(&incoming))?;
        Ok(Self::new(commands, events, vec![thread]))
    }
}

struct Several {
    lanes: Vec<Tracked>,
    /// Jobs that wait.
    queue: VecDeque<Job>,
    /// All jobs, for the next session.
    jobs: Unfinished,
    /// Models that the caller asks for, until one engine has them or none.
    loading: Vec<ModelSource>,
    /// The engine that the caller wants to see.
    shown: Option<usize>,
    paused: bool,
    closing: bool,
    /// The last failure of an engine, for jobs that no engine can run.
    last: Option<Failure>,
    emitter: Emitter,
}

impl Several {
    fn run(mut self, commands: &Receiver<Command>) {
        let jobs = self.jobs.earlier();
        if !jobs.is_empty() {
            self.emitter.emit(Event::Unfinished { jobs });
        }
        let jobs = self.jobs.resumable();
        if !jobs.is_empty() {
            self.emitter.emit(Event::Resumable { jobs });
        }
        while self.lanes.iter().any(|lane| !lane.has_ended) {
            let receivers: Vec<Receiver<Event>> =
                self.lanes.iter().map(|tracked| tracked.lane.session.events().clone()).collect();
            let mut select = Select::new();
            let mut lanes = Vec::new();
            for (place, receiver) in receivers.iter().enumerate() {
                if !self.lanes[place].has_ended {
                    select.recv(receiver);
                    lanes.push(place);
                }
            }
            if !self.closing {
                select.recv(commands);
            }
            // Only an engine that is lost changes something by saying nothing.
            let is_lost = self.lanes.iter().any(|lane| lane.lost_at.is_some());
            let ready = match is_lost {
                true => select.select_timeout(LOOK).ok(),
                false => Some(select.select()),
            };
            if let Some(ready) = ready {
                match lanes.get(ready.index()) {
                    Some(&place) => {
                        let event = ready.recv(&receivers[place]).unwrap_or(Event::ShutDown);
                        self.hear(place, event);
                    }
                    None => {
                        let command = ready.recv(commands).unwrap_or(Command::ShutDown);
                        self.handle(command);
                    }
                }
            }
            if !self.closing {
                self.take_back_what_is_lost();
                self.assign();
            }
        }
        for job in std::mem::take(&mut self.queue) {
            self.drop_job(&job);
        }
        self.emitter.emit(Event::ShutDown);
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Generate(job) => {
                let event = Event::Queued { job: job.id, position: self.queue.len() };
                let job = self.jobs.add(*job).clone();
                self.queue.push_back(job);
                self.emitter.emit(event);
            }
            Command::Cancel { job } => self.cancel(job),
            Command::Move { job, before } => self.reorder(job, before),
            Command::Pause { paused } => self.paused = paused,
            Command::Load { model } => {
                for place in self.living() {
                    self.ask(place, &model);
                }
                if !self.loading.contains(&model) {
                    self.loading.push(model);
                }
            }
            Command::Unload | Command::SearchIn { .. } => {
                for place in self.living() {
                    self.tell(place, command.clone());
                }
            }
            Command::Plan(query) => self.plan(*query),
            Command::Show { lane } => self.show(lane),
            Command::List { lane } => {
                let living = self.living();
                let asked = living.iter().find(|&&place| place == lane).or_else(|| living.first());
                if let Some(&place) = asked {
                    self.tell(place, command);
                }
            }
            Command::Forget => self.jobs.forget_earlier(),
            Command::ShutDown => {
                self.closing = true;
                for job in std::mem::take(&mut self.queue) {
                    self.emitter.emit(Event::Cancelled { job: job.id });
                }
                for place in self.living() {
                    self.tell(place, Command::ShutDown);
                }
            }
        }
    }

    /// The places of engines that have not ended.
    fn living(&self) -> Vec<usize> {
        (0..self.lanes.len()).filter(|&place| !self.lanes[place].has_ended).collect()
    }

    /// The engine whose forecasts and hardware the caller sees.
    fn seen(&self) -> Option<usize> {
        let living = self.living();
        self.shown.filter(|place| living.contains(place)).or_else(|| living.first().copied())
    }

    fn tell(&self, place: usize, command: Command) {
        if let Err(Unsent::Full(command)) = self.lanes[place].lane.session.send(command) {
            tracing::warn!(?command, "an engine does not accept commands");
        }
    }

    /// Asks an engine for a model when it has answered what it was asked before.
    fn ask(&mut self, place: usize, model: &ModelSource) {
        if self.lanes[place].ask(model) {
            self.tell(place, Command::Load { model: model.clone() });
        }
    }

    fn ask_next(&self, place: usize, next: Option<ModelSource>) {
        if let Some(model) = next {
            self.tell(place, Command::Load { model });
        }
    }

    fn show(&mut self, place: usize) {
        self.shown = Some(place);
        let Some(lane) = self.seen().map(|place| &self.lanes[place]) else { return };
        let (serving, hardware) = (lane.serving.clone(), lane.hardware.clone());
        serving.into_iter().for_each(|serving| self.emitter.emit(Event::Serving(serving)));
        hardware.into_iter().for_each(|sample| self.emitter.emit(Event::Hardware(sample)));
    }

    /// Lets the engine that is seen answer, or else one that has the model.
    fn plan(&self, query: PlanQuery) {
        let model = Some(&query.request.model).filter(|_| query.subject == PlanSubject::Model);
        let can = |&place: &usize| {
            let lane = &self.lanes[place];
            !lane.has_ended && model.is_none_or(|model| lane.lacks(model).is_none())
        };
        let serves = |&place: &usize| self.lanes[place].serving.is_some();
        let all = || self.seen().into_iter().chain(0..self.lanes.len());
        let place = all().filter(can).find(serves).or_else(|| all().find(can));
        let Some(place) = place else {
            let failure = self.failure(&query.request.model);
            return self.emitter.emit(Event::NotPlanned { id: query.id, failure });
        };
        let memory = self.lanes[place].preferences(&query.memory);
        self.tell(place, Command::Plan(Box::new(PlanQuery { memory, ..query })));
    }

    fn cancel(&mut self, job: JobId) {
        if let Some(place) = self.queue.iter().position(|queued| queued.id == job) {
            self.queue.remove(place);
            self.jobs.cancel(job);
            self.emitter.emit(Event::Cancelled { job });
        } else if let Some(place) = self.lanes.iter().position(|lane| lane.runs(job)) {
            if let Some(entry) = self.jobs.entry(job) {
                entry.is_cancelled = true;
            }
            self.lanes[place].is_cancelling = true;
            self.tell(place, Command::Cancel { job });
        }
    }

    fn reorder(&mut self, job: JobId, before: Option<JobId>) {
        self.jobs.reorder(job, before);
        let place = |queue: &VecDeque<Job>, id: JobId| queue.iter().position(|queued| queued.id == id);
        let Some(moved) = place(&self.queue, job).and_then(|from| self.queue.remove(from)) else { return };
        let to = before.and_then(|before| place(&self.queue, before)).unwrap_or(self.queue.len());
        self.queue.insert(to, moved);
    }

    /// Gives the first jobs to engines that are free and have their models. One that has not said so is asked.
    fn assign(&mut self) {
        let mut place = 0;
        while let Some(job) = self.queue.get(place).filter(|_| !self.paused) {
            // A queue may be long, and events are many.
            if !self.lanes.iter().any(Tracked::is_free) {
                return;
            }
            let model = job.request.model.clone();
            if !self.lanes.iter().any(|lane| lane.may_ever_run(&model)) {
                if let Some(job) = self.queue.remove(place) {
                    self.drop_job(&job);
                }
                continue;
            }
            if let Some(free) = self.lanes.iter().position(|lane| lane.is_free() && lane.has(&model)) {
                if let Some(job) = self.queue.remove(place) {
                    self.give(free, job);
                }
                continue;
            }
            for unknown in 0..self.lanes.len() {
                let lane = &self.lanes[unknown];
                if lane.is_free() && lane.lacks(&model).is_none() {
                    self.ask(unknown, &model);
                }
            }
            place += 1;
        }
    }

    fn give(&mut self, place: usize, job: Job) {
        self.emitter.emit(Event::Assigned { job: job.id, lane: place });
        if let Some(entry) = self.jobs.entry(job.id) {
            entry.is_started = true;
        }
        let lane = &mut self.lanes[place];
        let memory = lane.preferences(&job.memory);
        let command = Command::Generate(Box::new(Job { memory, ..job.clone() }));
        (lane.job, lane.is_cancelling) = (Some(job), false);
        self.tell(place, command);
    }

    /// Why nothing can be done with a model.
    fn failure(&self, model: &ModelSource) -> Failure {
        let lacks = self.lanes.iter().find_map(|lane| lane.lacks(model));
        lacks.cloned().unwrap_or_else(|| self.last_failure())
    }

    fn last_failure(&self) -> Failure {
        let unknown = || Failure { message: "the engine has ended".to_owned(), advice: None };
        self.last.clone().unwrap_or_else(unknown)
    }

    /// Says that no engine is left for a job.
    fn drop_job(&mut self, job: &Job) {
        if self.closing {
            return self.emitter.emit(Event::Cancelled { job: job.id });
        }
        let failure = self.failure(&job.request.model);
        self.jobs.end(job.id);
        self.emitter.emit(Event::Failed { job: Some(job.id), failure });
    }

    fn say(&self, lane: usize, change: LaneChange) {
        self.emitter.emit(Event::Lane { lane, change });
    }

    fn hear(&mut self, place: usize, event: Event) {
        match event {
            Event::ShutDown => self.ended(place),
            Event::Serving(serving) => {
                let lane = &mut self.lanes[place];
                (lane.serving, lane.lost_at) = (Some(serving.clone()), None);
                self.say(place, LaneChange::Serves(serving.clone()));
                if self.seen() == Some(place) {
                    self.emitter.emit(Event::Serving(serving));
                }
            }
            Event::Restarting { ref failure } => {
                let lane = &mut self.lanes[place];
                (lane.serving, lane.lost_at) = (None, Some(Instant::now()));
                self.say(place, LaneChange::Restarts(failure.clone()));
                self.emitter.emit(event);
            }
            Event::ModelLoaded(summary) => {
                let model = summary.source.clone();
                let next = self.lanes[place].found(&model);
                self.ask_next(place, next);
                self.say(place, LaneChange::Has(model.clone()));
                if let Some(asked) = self.loading.iter().position(|asked| *asked == model) {
                    self.loading.remove(asked);
                    self.emitter.emit(Event::ModelLoaded(summary));
                }
            }
            Event::Listed { folders, inventory, .. } => {
                self.emitter.emit(Event::Listed { lane: place, folders, inventory });
            }
            Event::NotLoaded { model, failure } => {
                self.last = Some(failure.clone());
                let next = self.lanes[place].missed(&model, &failure);
                self.ask_next(place, next);
                self.say(place, LaneChange::Lacks(model, failure));
                self.settle_loading();
            }
            // One that is given up says so before it ends.
            Event::Failed { job: None, failure } => {
                tracing::error!(failure.message, "an engine is given up");
                self.last = Some(failure);
                self.take_back(place);
            }
            // Of the queue here, the caller knows already, and only here there are several engines.
            Event::Queued { .. } | Event::Assigned { .. } | Event::Returned { .. } | Event::Lane { .. } => {}
            Event::Hardware(sample) => {
                self.lanes[place].hardware = Some(sample.clone());
                if self.seen() == Some(place) {
                    self.emitter.offer(Event::Hardware(sample));
                }
            }
            Event::Preview { .. } | Event::Telemetry { .. } => {
                self.emitter.offer(event);
            }
            Event::Finished { job, .. } | Event::Cancelled { job } | Event::Failed { job: Some(job), .. } => {
                // What an engine says of jobs that were taken from it is not heard.
                if self.lanes[place].job.take_if(|own| own.id == job).is_some() {
                    self.forget(job, matches!(event, Event::Cancelled { .. }));
                    self.emitter.emit(event);
                }
            }
            _ => self.emitter.emit(event),
        }
    }

    /// Keeps an ended job no more, unless it was only stopped because the session ends.
    fn forget(&mut self, job: JobId, is_cancelled: bool) {
        if !is_cancelled {
            return self.jobs.end(job);
        }
        let is_wanted = self.jobs.entry(job).is_some_and(|entry| !entry.is_cancelled);
        if !(self.closing && is_wanted) {
            self.jobs.cancel(job);
        }
    }

    /// Says that no engine has a model that the caller asked for, once that is certain.
    fn settle_loading(&mut self) {
        let is_asked = |model: &ModelSource| self.lanes.iter().any(|lane| lane.is_asked(model));
        let asked = std::mem::take(&mut self.loading).into_iter();
        let (loading, missing): (Vec<_>, Vec<_>) = asked.partition(is_asked);
        self.loading = loading;
        for model in missing {
            let failure = self.failure(&model);
            self.emitter.emit(Event::NotLoaded { model, failure });
        }
    }

    /// Takes the job of an engine back, to the front of the queue.
    fn take_back(&mut self, place: usize) {
        let lane = &mut self.lanes[place];
        lane.serving = None;
        let Some(job) = lane.job.take() else { return };
        if lane.is_cancelling {
            self.forget(job.id, true);
            return self.emitter.emit(Event::Cancelled { job: job.id });
        }
        if let Some(entry) = self.jobs.entry(job.id) {
            entry.is_started = false;
        }
        self.emitter.emit(Event::Returned { job: job.id });
        self.queue.push_front(job);
    }

    /// Takes jobs back from engines that have been away for long, if others could run them.
    fn take_back_what_is_lost(&mut self) {
        for place in self.living() {
            let lane = &self.lanes[place];
            let is_lost = lane.lost_at.is_some_and(|at| at.elapsed() >= LOST);
            let Some(job) = lane.job.as_ref().filter(|_| is_lost) else { continue };
            let (id, model) = (job.id, job.request.model.clone());
            let others = self.living().into_iter().filter(|&other| other != place);
            if others
                .map(|other| &self.lanes[other])
                .any(|other| other.serving.is_some() && other.may_ever_run(&model))
            {
                tracing::warn!(job = id.0, "an engine is lost, and its job goes to another one");
                self.take_back(place);
                self.tell(place, Command::Cancel { job: id });
            }
        }
    }

    fn ended(&mut self, place: usize) {
        self.take_back(place);
        self.lanes[place].end();
        if self.closing {
            return;
        }
        let failure = self.last_failure();
        self.say(place, LaneChange::GivenUp(failure.clone()));
        if self.lanes.iter().any(|lane| !lane.has_ended) {
            self.settle_loading();
            if let Some(seen) = self.seen().filter(|_| self.shown == Some(place)) {
                self.show(seen);
            }
            return;
        }
        self.emitter.emit(Event::Failed { job: None, failure });
    }
}

#[cfg(test)]
mod tests;
