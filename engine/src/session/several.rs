//! Several engines behind one session: each job goes to one that is free.

use std::{collections::VecDeque, io};

use crossbeam_channel::{Receiver, Select, bounded};

use super::{
    Command, Event, Failure, Job, JobId, Session, Unsent,
    threads::{COMMANDS, EVENTS, Emitter, spawn},
};
use crate::request::ModelSource;

impl Session {
    /// One session of several, which answer [`Event::Serving`] when they are there. A job of an engine that is given up goes
    /// to another one, and so does one whose model an engine has not. `wake` is called after every event.
    ///
    /// # Errors
    /// When the operating system cannot start a thread.
    pub fn of_several(sessions: Vec<Self>, wake: Box<dyn Fn() + Send + Sync>) -> io::Result<Self> {
        let (commands, incoming) = bounded(COMMANDS);
        let (outgoing, events) = bounded(EVENTS);
        let several = Several {
            lanes: sessions.into_iter().map(Lane::new).collect(),
            queue: VecDeque::new(),
            loading: None,
            paused: false,
            closing: false,
            last: None,
            emitter: Emitter::new(outgoing, wake),
        };
        let thread = spawn("sluice-engines", move || several.run(&incoming))?;
        Ok(Self::new(commands, events, vec![thread]))
    }
}

/// An engine.
struct Lane {
    session: Session,
    /// The job that it has.
    job: Option<Job>,
    /// Whether it takes jobs now.
    serves: bool,
    has_ended: bool,
    /// Whether it is asked for a model.
    loads: bool,
    /// Models that it does not have.
    lacks: Vec<ModelSource>,
}

impl Lane {
    fn new(session: Session) -> Self {
        Self { session, job: None, serves: false, has_ended: false, loads: false, lacks: Vec::new() }
    }

    fn is_free_for(&self, job: &Job) -> bool {
        let takes = self.serves && !self.has_ended && !self.loads && self.job.is_none();
        takes && !self.lacks.contains(&job.request.model)
    }

    fn may_ever_run(&self, job: &Job) -> bool {
        !self.has_ended && !self.lacks.contains(&job.request.model)
    }

    fn has(&self, id: JobId) -> bool {
        self.job.as_ref().is_some_and(|job| job.id == id)
    }
}

/// A model that the engines are asked for.
struct Loading {
    model: ModelSource,
    /// Whether one has it, which the caller knows.
    is_known: bool,
}

struct Several {
    lanes: Vec<Lane>,
    queue: VecDeque<Job>,
    loading: Option<Loading>,
    paused: bool,
    closing: bool,
    /// The last failure of an engine, for jobs that no engine can run.
    last: Option<Failure>,
    emitter: Emitter,
}

impl Several {
    fn run(mut self, commands: &Receiver<Command>) {
        while self.lanes.iter().any(|lane| !lane.has_ended) {
            let receivers: Vec<Receiver<Event>> =
                self.lanes.iter().map(|lane| lane.session.events().clone()).collect();
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
            let ready = select.select();
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
            if !self.closing {
                self.assign();
            }
        }
        for job in std::mem::take(&mut self.queue) {
            self.drop_job(job.id);
        }
        self.emitter.emit(Event::ShutDown);
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Generate(job) => {
                let event = Event::Queued { job: job.id, position: self.queue.len() };
                self.queue.push_back(*job);
                self.emitter.emit(event);
            }
            Command::Cancel { job } => {
                if let Some(place) = self.queue.iter().position(|queued| queued.id == job) {
                    self.queue.remove(place);
                    self.emitter.emit(Event::Cancelled { job });
                } else if let Some(place) = self.lanes.iter().position(|lane| lane.has(job)) {
                    self.tell(place, command);
                }
            }
            Command::Move { job, before } => self.reorder(job, before),
            Command::Pause { paused } => self.paused = paused,
            Command::Load { ref model } => {
                self.loading = Some(Loading { model: model.clone(), is_known: false });
                for place in self.living() {
                    self.lanes[place].loads = true;
                    self.tell(place, command.clone());
                }
            }
            Command::Unload | Command::SearchIn { .. } => {
                for place in self.living() {
                    self.tell(place, command.clone());
                }
            }
            Command::Plan(ref query) => {
                let has = |lane: &Lane| !lane.has_ended && !lane.lacks.contains(&query.request.model);
                let place = self.lanes.iter().position(|lane| has(lane) && lane.serves);
                if let Some(place) = place.or_else(|| self.lanes.iter().position(has)) {
                    self.tell(place, command);
                } else {
                    let failure = self.failure();
                    self.emitter.emit(Event::NotPlanned { id: query.id, failure });
                }
            }
            Command::List | Command::Forget => {
                if let Some(&place) = self.living().first() {
                    self.tell(place, command);
                }
            }
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

    fn tell(&self, place: usize, command: Command) {
        if let Err(Unsent::Full(command)) = self.lanes[place].session.send(command) {
            tracing::warn!(?command, "an engine does not accept commands");
        }
    }

    fn reorder(&mut self, job: JobId, before: Option<JobId>) {
        let place = |queue: &VecDeque<Job>, id: JobId| queue.iter().position(|queued| queued.id == id);
        let Some(moved) = place(&self.queue, job).and_then(|from| self.queue.remove(from)) else { return };
        let to = before.and_then(|before| place(&self.queue, before)).unwrap_or(self.queue.len());
        self.queue.insert(to, moved);
    }

    /// Gives the first jobs to engines that are free.
    fn assign(&mut self) {
        let mut place = 0;
        while let Some(job) = self.queue.get(place).filter(|_| !self.paused) {
            if !self.lanes.iter().any(|lane| lane.may_ever_run(job)) {
                let id = job.id;
                self.queue.remove(place);
                self.drop_job(id);
                continue;
            }
            let Some(free) = self.lanes.iter().position(|lane| lane.is_free_for(job)) else {
                place += 1;
                continue;
            };
            if let Some(job) = self.queue.remove(place) {
                let command = Command::Generate(Box::new(job.clone()));
                self.lanes[free].job = Some(job);
                self.tell(free, command);
            }
        }
    }

    fn failure(&self) -> Failure {
        let unknown = || Failure { message: "the engine has ended".to_owned(), advice: None };
        self.last.clone().unwrap_or_else(unknown)
    }

    /// Says that no engine is left for a job.
    fn drop_job(&mut self, job: JobId) {
        let event = match self.closing {
            true => Event::Cancelled { job },
            false => Event::Failed { job: Some(job), failure: self.failure() },
        };
        self.emitter.emit(event);
    }

    fn hear(&mut self, place: usize, event: Event) {
        match event {
            Event::ShutDown => self.ended(place),
            Event::Serving(_) => {
                self.lanes[place].serves = true;
                self.emitter.emit(event);
            }
            Event::Restarting { .. } => {
                self.lanes[place].serves = false;
                self.emitter.emit(event);
            }
            Event::ModelLoaded(_) => {
                self.lanes[place].loads = false;
                if let Some(loading) = &mut self.loading
                    && !std::mem::replace(&mut loading.is_known, true)
                {
                    self.emitter.emit(event);
                }
            }
            Event::Failed { job: None, failure } => self.failed(place, failure),
            // Of the queue here, the caller knows already.
            Event::Queued { .. } => {}
            // A window has one graph of memory.
            Event::Hardware(_) if self.living().first() != Some(&place) => {}
            Event::Hardware(_) | Event::Preview { .. } | Event::Telemetry { .. } => {
                self.emitter.offer(event);
            }
            Event::Finished { job, .. } | Event::Cancelled { job } | Event::Failed { job: Some(job), .. } => {
                // What an engine says of jobs that were taken from it is not heard.
                if self.lanes[place].job.take_if(|own| own.id == job).is_some() {
                    self.emitter.emit(event);
                }
            }
            _ => self.emitter.emit(event),
        }
    }

    /// An engine does not have a model, or is given up.
    fn failed(&mut self, place: usize, failure: Failure) {
        self.last = Some(failure.clone());
        if !std::mem::take(&mut self.lanes[place].loads) {
            // One that is given up says so before it ends.
            tracing::error!(failure.message, "an engine is given up");
            return self.take_back(place);
        }
        let Some(loading) = &self.loading else { return };
        self.lanes[place].lacks.push(loading.model.clone());
        let is_over = !self.lanes.iter().any(|lane| lane.loads && !lane.has_ended);
        if is_over && !loading.is_known {
            self.emitter.emit(Event::Failed { job: None, failure });
        }
    }

    /// Takes the job of an engine back, to the front of the queue.
    fn take_back(&mut self, place: usize) {
        let lane = &mut self.lanes[place];
        lane.serves = false;
        if let Some(job) = lane.job.take() {
            self.queue.push_front(job);
        }
    }

    fn ended(&mut self, place: usize) {
        self.lanes[place].has_ended = true;
        if self.lanes[place].job.is_some() {
            self.take_back(place);
        }
        if self.closing || self.lanes.iter().any(|lane| !lane.has_ended) {
            return;
        }
        let failure = self.failure();
        self.emitter.emit(Event::Failed { job: None, failure });
    }
}

#[cfg(test)]
mod tests;
