//! The threads behind a session.
//!
//! `sluice-session` manages the queue and responds at once; `sluice-inference` computes, one job at a time;
//! `sluice-hardware` samples the machine. All channels between them are bounded.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use crossbeam_channel::{Receiver, Sender, bounded, select};

use super::{
    command::{Command, Job, JobId, PlanQuery, Unsent},
    event::{Event, Failure},
    inference::{Assignment, InferenceThread},
    options::{Library, SessionOptions},
    outcomes::Outcomes,
    planning::{self, Answer, Knowledge},
    read_ahead::NextJob,
    sizes::KnownSizes,
    threads::{COMMANDS, EVENTS, Emitter, spawn},
};
use crate::{
    checkpoint::CheckpointError,
    hardware::{
        HardwareSample, MemoryAccount, MemoryLimit, Probe, SmoothLoad, computing_threads, memory_limit,
    },
    models::{OpenedModels, scan},
    pipeline::{self, ModelSummary},
    request::ModelSource,
    residency::CancelToken,
    units,
};

/// A running engine. Dropping it shuts the engine down and waits for its threads.
pub struct Session {
    commands: Sender<Command>,
    events: Receiver<Event>,
    threads: Vec<JoinHandle<()>>,
}

impl Session {
    /// Starts the engine's threads.
    ///
    /// # Errors
    /// When the operating system cannot start a thread, or limits the memory of this process too much.
    pub fn start(options: SessionOptions) -> io::Result<Self> {
        check_limit(options.threads)?;
        let (commands, incoming) = bounded(COMMANDS);
        let (outgoing, events) = bounded(EVENTS);
        let (work, assigned) = bounded(1);
        let (done, finished) = bounded(1);
        let (stop, stopped) = bounded::<()>(0);
        let emitter = Emitter::new(outgoing, options.wake);
        let account = MemoryAccount::new();
        let pool = computing_threads(&account, options.threads).map_err(io::Error::other)?;
        let compute_threads = pool.current_num_threads();
        let outcomes = Outcomes::open(options.data.as_deref());

        let mut threads = Vec::new();
        let library = Arc::new(Library {
            models: OpenedModels::new(options.model_folders),
            downloads: options.downloads,
            listed: Mutex::default(),
            prompt_folders: options.prompt_folders,
        });
        let next_job = NextJob::default();
        let worker = InferenceThread::new(
            emitter.clone(),
            Arc::clone(&account),
            outcomes.clone(),
            Arc::clone(&library),
            next_job.clone(),
        );
        let worker = if options.ends_with_card { worker.ending_with_card() } else { worker };
        let speed = pipeline::expect_measurement();
        threads.push(spawn("sluice-inference", move || {
            pool.install(|| worker.run(speed, &assigned, &done));
        })?);
        if options.hardware {
            let events_of_probe = emitter.clone();
            threads.push(spawn("sluice-hardware", move || watch_hardware(&stopped, &events_of_probe))?);
        }
        let dispatcher = Dispatcher {
            work,
            emitter,
            queue: VecDeque::new(),
            next_job,
            running: None,
            unloading: false,
            paused: false,
            probe: None,
            account,
            outcomes,
            library,
            sizes: KnownSizes::default(),
            compute_threads,
        };
        threads.push(spawn("sluice-session", move || {
            dispatcher.run(&incoming, &finished);
            drop(stop);
        })?);
        Ok(Self { commands, events, threads })
    }

    /// A session for an engine at the other ends of the channels; `threads` end with it.
    pub(super) fn new(
        commands: Sender<Command>,
        events: Receiver<Event>,
        threads: Vec<JoinHandle<()>>,
    ) -> Self {
        Self { commands, events, threads }
    }

    /// Sends a command without waiting.
    ///
    /// # Errors
    /// Returns the command if the engine has ended, or if its queue of unread commands is full.
    pub fn send(&self, command: Command) -> Result<(), Unsent> {
        self.commands.try_send(command).map_err(Unsent::from)
    }

    /// The events, in order. The last is [`Event::ShutDown`].
    pub fn events(&self) -> &Receiver<Event> {
        &self.events
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The engine may be waiting for room among the events, so they are read until it has ended.
        let mut asked = false;
        loop {
            asked = asked || self.commands.try_send(Command::ShutDown).is_ok();
            let wait = std::time::Duration::from_millis(20);
            match self.events.recv_timeout(wait) {
                Err(crossbeam_channel::RecvTimeoutError::Disconnected) => break,
                Ok(_) | Err(crossbeam_channel::RecvTimeoutError::Timeout) => {}
            }
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the engine panicked");
            }
        }
    }
}

fn watch_hardware(stopped: &Receiver<()>, emitter: &Emitter) {
    let (mut probe, mut load, mut last) = (Probe::new(), SmoothLoad::default(), None::<HardwareSample>);
    loop {
        let mut sample = probe.sample();
        sample.cpu_load = load.with(sample.cpu_load);
        // Each event wakes the window.
        if last.as_ref().is_none_or(|last| sample.differs_from(last))
            && emitter.offer(Event::Hardware(sample.clone()))
        {
            last = Some(sample);
        }
        if let Err(crossbeam_channel::RecvTimeoutError::Disconnected) = stopped.recv_timeout(Probe::INTERVAL)
        {
            return;
        }
    }
}

struct Dispatcher {
    work: Sender<Assignment>,
    emitter: Emitter,
    queue: VecDeque<Job>,
    next_job: NextJob,
    running: Option<(JobId, CancelToken)>,
    unloading: bool,
    paused: bool,
    /// Opened when the first query needs it.
    probe: Option<Probe>,
    account: Arc<MemoryAccount>,
    outcomes: Outcomes,
    library: Arc<Library>,
    sizes: KnownSizes,
    compute_threads: usize,
}

impl Dispatcher {
    fn run(mut self, commands: &Receiver<Command>, finished: &Receiver<()>) {
        loop {
            select! {
                recv(commands) -> command => match command {
                    Ok(Command::ShutDown) | Err(_) => break,
                    Ok(command) => self.handle(command),
                },
                recv(finished) -> _ => {
                    self.running = None;
                    self.next();
                }
            }
        }
        let running = self.running.take();
        if let Some((_, token)) = &running {
            token.cancel();
        }
        for job in self.queue.drain(..) {
            self.emitter.emit(Event::Cancelled { job: job.id });
        }
        drop(self.work);
        if running.is_some() {
            // An error also means that the worker has ended.
            let _ = finished.recv();
        }
        self.emitter.emit(Event::ShutDown);
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Load { model } => self.load(&model),
            Command::Plan(query) => self.plan(&query),
            Command::SearchIn { folders } => self.library.models.search_in(folders),
            Command::List { .. } => self.list(),
            Command::Generate(job) => {
                let event = Event::Queued { job: job.id, position: self.queue.len() };
                self.queue.push_back(*job);
                self.emitter.emit(event);
                self.next();
            }
            Command::Cancel { job } => self.cancel(job),
            Command::Move { job, before } => self.reorder(job, before),
            Command::Pause { paused } => {
                self.paused = paused;
                self.next();
            }
            Command::Unload => {
                self.unloading = true;
                self.next();
            }
            // There are no unfinished jobs of earlier sessions without a worker process, and no other engines.
            Command::Forget | Command::Show { .. } | Command::ShutDown => {}
        }
    }

    /// Reading headers takes milliseconds, so a model can be inspected while another one is running.
    fn load(&self, source: &ModelSource) {
        match model_summary(source, &self.library.models) {
            Ok(summary) => self.emitter.emit(Event::ModelLoaded(Box::new(summary))),
            Err(error) => {
                let failure = Failure { message: error.to_string(), advice: Some(error.advice()) };
                self.emitter.emit(Event::NotLoaded { model: source.clone(), failure });
            }
        }
    }

    /// Reading the headers of many files takes a while, so it has a thread. Without one, other commands wait.
    fn list(&self) {
        let (library, emitter) = (Arc::clone(&self.library), self.emitter.clone());
        let started = spawn("sluice-list", move || emitter.emit(listed(&library)));
        if let Err(error) = started {
            tracing::warn!(%error, "the models are listed without a thread for it");
            self.emitter.emit(listed(&self.library));
        }
    }

    fn plan(&mut self, query: &PlanQuery) {
        let knowledge = Knowledge {
            probe: self.probe.get_or_insert_with(Probe::new),
            account: &self.account,
            outcomes: &self.outcomes,
            library: &self.library,
            sizes: &mut self.sizes,
            compute_threads: self.compute_threads,
        };
        let event = match planning::answer(query, knowledge) {
            Ok(Answer { forecast, readings, reports }) => {
                if !reports.is_empty() {
                    self.emitter.emit(Event::Adapted { job: None, reports });
                }
                Event::Planned { id: query.id, forecast: Box::new(forecast), readings }
            }
            Err(failure) => Event::NotPlanned { id: query.id, failure },
        };
        self.emitter.emit(event);
    }

    fn cancel(&mut self, job: JobId) {
        match &self.running {
            Some((running, token)) if *running == job => token.cancel(),
            _ => {
                let before = self.queue.len();
                self.queue.retain(|queued| queued.id != job);
                if self.queue.len() < before {
                    self.next_job.set(self.queue.front().map(|job| &job.request));
                    self.emitter.emit(Event::Cancelled { job });
                }
            }
        }
    }

    fn reorder(&mut self, job: JobId, before: Option<JobId>) {
        let place = |queue: &VecDeque<Job>, id: JobId| queue.iter().position(|queued| queued.id == id);
        let Some(moved) = place(&self.queue, job).and_then(|from| self.queue.remove(from)) else { return };
        let to = before.and_then(|before| place(&self.queue, before)).unwrap_or(self.queue.len());
        self.queue.insert(to, moved);
        self.next_job.set(self.queue.front().map(|job| &job.request));
    }

    /// Gives the worker something to do if it is idle.
    fn next(&mut self) {
        if self.running.is_none() {
            self.start_next();
        }
        self.next_job.set(self.queue.front().map(|job| &job.request));
    }

    fn start_next(&mut self) {
        if std::mem::take(&mut self.unloading) {
            self.assign(Assignment::Unload);
        }
        if self.paused {
            return;
        }
        if let Some(job) = self.queue.pop_front() {
            let token = CancelToken::default();
            self.running = Some((job.id, token.clone()));
            self.assign(Assignment::Draw(Box::new(job), token));
        }
    }

    fn assign(&self, work: Assignment) {
        if self.work.send(work).is_err() {
            tracing::error!("the inference thread has ended");
        }
    }
}

/// What is in the model folders.
fn listed(library: &Library) -> Event {
    let folders = library.folders();
    let mut known = library.listed.lock().unwrap_or_else(PoisonError::into_inner);
    let inventory = Box::new(scan(&folders, &mut known, |_, _| ()));
    Event::Listed { lane: 0, folders, inventory }
}

/// Describes a model, as [`Event::ModelLoaded`] does.
///
/// # Errors
/// When it cannot be opened.
pub fn model_summary(source: &ModelSource, models: &OpenedModels) -> Result<ModelSummary, CheckpointError> {
    let model = models.open(&source.resolve()?)?;
    pipeline::summarise(&model, source)
}

/// Refuses to start where a limit leaves too little memory: an allocation that fails later would end the process.
fn check_limit(threads: Option<usize>) -> io::Result<()> {
    const STACK: u64 = 2 << 20;
    const OTHER_THREADS: u64 = 6;
    const BASE: u64 = 16 << 20;
    let Some(MemoryLimit { kind, bytes, free }) = memory_limit() else { return Ok(()) };
    let threads = threads.or_else(|| thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let least = BASE + STACK * (threads as u64 + OTHER_THREADS);
    if free >= least {
        return Ok(());
    }
    let [limit, free, least] = [bytes, free, least].map(units::memory);
    let kind = kind.name();
    Err(io::Error::other(format!(
        "this process may use only {limit} of memory ({kind}); {free} are left, and {least} are needed to start"
    )))
}
