//! A session whose engine is a separate process. If it dies, it is restarted, and jobs resume.

use std::{
    collections::VecDeque,
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, bounded, never, select};

use super::{
    Command, Event, Failure, JobId, Serving, Session, SessionOptions,
    process::{Heard, Process, WorkerProgram},
    protocol::{FromWorker, Hello, ToWorker},
    threads::{COMMANDS, EVENTS, Emitter, spawn},
    unfinished::Unfinished,
};
use crate::request::PromptFolders;

/// A worker that is silent for this long counts as hung. Even a machine that swaps responds much sooner.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a worker may take to exit on its own.
const FAREWELL: Duration = Duration::from_secs(10);
/// Interval of the checks whether a worker hangs or must be started.
const TICK: Duration = Duration::from_millis(100);
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
/// How many workers may die before their hello.
const DEATHS_AT_START: u32 = 3;

impl Session {
    /// Starts an engine in a separate process: the first of `programs` that can be started. `without` is the
    /// reason why a faster program is not among them.
    ///
    /// # Errors
    /// When the operating system cannot start a thread or create a temporary folder.
    pub fn in_process_of(
        programs: Vec<WorkerProgram>,
        without: Option<Failure>,
        options: SessionOptions,
    ) -> io::Result<Self> {
        let (commands, incoming) = bounded(COMMANDS);
        let (outgoing, events) = bounded(EVENTS);
        let supervisor = Supervisor {
            programs: programs.into(),
            instead_of: without,
            threads: options.threads,
            hardware: options.hardware,
            jobs: Unfinished::open(options.data.as_deref().filter(|_| options.keeps_jobs))?,
            data: options.data,
            model_folders: options.model_folders,
            prompt_folders: options.prompt_folders,
            emitter: Emitter::new(outgoing, options.wake),
            asked: Asked::default(),
            worker: None,
            paused: false,
            deaths: 0,
            start_at: Instant::now(),
            closing: None,
        };
        let thread = spawn("sluice-supervisor", move || supervisor.run(&incoming))?;
        Ok(Self::new(commands, events, vec![thread]))
    }
}

/// Queries without a response yet.
#[derive(Default)]
struct Asked {
    load: Option<Command>,
    plans: Vec<(u64, Command)>,
}

struct Supervisor {
    /// The first one is in use.
    programs: VecDeque<WorkerProgram>,
    instead_of: Option<Failure>,
    threads: Option<usize>,
    hardware: bool,
    data: Option<PathBuf>,
    model_folders: Vec<PathBuf>,
    prompt_folders: PromptFolders,
    jobs: Unfinished,
    emitter: Emitter,
    asked: Asked,
    worker: Option<Process>,
    /// Whether the queue is paused, for the next worker.
    paused: bool,
    deaths: u32,
    start_at: Instant,
    /// The time until which a worker may exit on its own, while the session ends.
    closing: Option<Instant>,
}

impl Supervisor {
    fn run(mut self, commands: &Receiver<Command>) {
        if !self.jobs.earlier().is_empty() {
            self.emitter.emit(Event::Unfinished { jobs: self.jobs.earlier().to_vec() });
        }
        while !self.has_ended() {
            let heard = self.worker.as_ref().map_or_else(never, |worker| worker.heard.clone());
            let commands = if self.closing.is_none() { commands } else { &never() };
            select! {
                recv(commands) -> command => self.handle(command.unwrap_or(Command::ShutDown)),
                recv(heard) -> heard => self.take(heard.unwrap_or(Heard::Closed)),
                default(TICK) => self.look(),
            }
        }
        if let Some(worker) = self.worker.take() {
            worker.end();
        }
        self.emitter.emit(Event::ShutDown);
    }

    fn has_ended(&self) -> bool {
        let out_of_time = self.closing.is_some_and(|until| Instant::now() >= until);
        out_of_time || (self.worker.is_none() && (self.closing.is_some() || self.programs.is_empty()))
    }

    /// Starts a worker when it is time, and ends one that hangs.
    fn look(&mut self) {
        match &self.worker {
            Some(worker) if worker.silent_since.elapsed() > PATIENCE => {
                self.died(Some("the engine stopped responding".to_owned()));
            }
            None if self.closing.is_none() && Instant::now() >= self.start_at => self.start(),
            _ => {}
        }
    }

    fn start(&mut self) {
        let Some(program) = self.programs.front() else { return };
        match Process::start(program) {
            Ok(worker) => {
                worker.tell(ToWorker::Hello(Hello::own()));
                self.worker = Some(worker);
            }
            Err(error) => {
                let message = format!("{} cannot be started: {error}", program.path.display());
                self.deaths = DEATHS_AT_START;
                self.not_started(Failure { message, advice: Some(REINSTALL.to_owned()) });
            }
        }
    }

    fn handle(&mut self, command: Command) {
        match &command {
            Command::Generate(job) => {
                let job = self.jobs.add((**job).clone()).clone();
                return self.tell(Command::Generate(Box::new(job)));
            }
            Command::Cancel { job } => {
                if let Some(entry) = self.jobs.entry(*job) {
                    entry.is_cancelled = true;
                }
                if self.worker.is_none() {
                    return self.drop_cancelled();
                }
            }
            Command::Move { job, before } => self.jobs.reorder(*job, *before),
            Command::Pause { paused } => self.paused = *paused,
            Command::Load { .. } => self.asked.load = Some(command.clone()),
            Command::Plan(query) => self.asked.plans.push((query.id, command.clone())),
            Command::SearchIn { folders } => self.model_folders.clone_from(folders),
            Command::Forget => return self.jobs.forget_earlier(),
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

    /// Sends a command to the worker if it serves. The next worker gets the commands that this one did not.
    fn tell(&self, command: Command) {
        if let Some(worker) = self.worker.as_ref().filter(|worker| worker.serves) {
            worker.tell(ToWorker::Command(Box::new(command)));
        }
    }

    fn drop_cancelled(&mut self) {
        let cancelled = self.jobs.entries().iter().filter(|entry| entry.is_cancelled);
        let cancelled: Vec<JobId> = cancelled.map(|entry| entry.job.id).collect();
        for job in cancelled {
            self.jobs.end(job);
            self.emitter.emit(Event::Cancelled { job });
        }
    }

    fn take(&mut self, heard: Heard) {
        if let Some(worker) = &mut self.worker {
            worker.silent_since = Instant::now();
        }
        match heard {
            Heard::Message(FromWorker::Hello(hello)) => self.greet(&hello),
            Heard::Message(FromWorker::Event(event)) => self.hear(*event),
            Heard::Message(FromWorker::Alive) => {}
            Heard::Garbage(error) => self.died(Some(format!("the engine sent an invalid message: {error}"))),
            Heard::Closed if self.closing.is_some() => {
                self.worker.take().map(Process::end);
            }
            Heard::Closed => self.died(None),
        }
    }

    /// A worker has started: sends it everything that is left to do.
    fn greet(&mut self, hello: &Hello) {
        let own = Hello::own();
        if *hello != own {
            self.deaths = DEATHS_AT_START;
            let message = format!(
                "the engine has version {} ({}), but the window has version {} ({})",
                hello.version, hello.source, own.version, own.source
            );
            return self.not_started(Failure { message, advice: Some(REINSTALL.to_owned()) });
        }
        self.drop_cancelled();
        let (Some(worker), Some(program)) = (&mut self.worker, self.programs.front()) else { return };
        worker.serves = true;
        worker.tell(ToWorker::Start {
            threads: self.threads,
            hardware: self.hardware,
            data: self.data.clone(),
            model_folders: self.model_folders.clone(),
            prompt_folders: self.prompt_folders.clone(),
        });
        self.emitter.emit(Event::Serving(Serving {
            engine: program.engine.clone(),
            process: worker.number(),
            instead_of: self.instead_of.clone(),
        }));
        let asked = self.asked.load.iter().chain(self.asked.plans.iter().map(|(_, command)| command));
        let jobs = self.jobs.entries().iter().map(|entry| Command::Generate(Box::new(entry.job.clone())));
        let paused = self.paused.then_some(Command::Pause { paused: true });
        for command in asked.cloned().chain(paused).chain(jobs) {
            worker.tell(ToWorker::Command(Box::new(command)));
        }
    }

    /// Forwards an event, unless an earlier worker already sent it.
    fn hear(&mut self, event: Event) {
        let is_known = match &event {
            Event::Queued { job, .. } => {
                let entry = self.jobs.entry(*job);
                entry.is_some_and(|entry| std::mem::replace(&mut entry.is_announced, true))
            }
            Event::Started { job } => {
                let entry = self.jobs.entry(*job);
                entry.is_some_and(|entry| std::mem::replace(&mut entry.is_started, true))
            }
            Event::Step { job, step, .. } => {
                if let Some(entry) = self.jobs.entry(*job).filter(|entry| *step > entry.step) {
                    (entry.step, entry.deaths) = (*step, 0);
                    self.deaths = 0;
                }
                false
            }
            Event::Finished { job, .. } | Event::Failed { job: Some(job), .. } => {
                self.jobs.end(*job);
                self.deaths = 0;
                false
            }
            Event::Cancelled { job } => {
                // Jobs that are cancelled because the session ends are kept for the next session.
                let closes = self.closing.is_some();
                if !closes || self.jobs.entry(*job).is_some_and(|entry| entry.is_cancelled) {
                    self.jobs.cancel(*job);
                }
                false
            }
            Event::ModelLoaded(_) | Event::Failed { job: None, .. } => {
                self.asked.load = None;
                false
            }
            Event::Planned { id, .. } | Event::NotPlanned { id, .. } => {
                self.asked.plans.retain(|(asked, _)| asked != id);
                false
            }
            Event::Hardware(_) | Event::Preview { .. } | Event::Telemetry { .. } => {
                self.emitter.offer(event);
                return;
            }
            // Closing the pipe says the same.
            Event::ShutDown => true,
            _ => false,
        };
        if !is_known {
            self.emitter.emit(event);
        }
    }

    /// Handles the end of a worker, or ends one that is unusable for `reason`.
    fn died(&mut self, reason: Option<String>) {
        let Some(worker) = self.worker.take() else { return };
        let serves = worker.serves;
        let mut ended = worker.end();
        if let Some(reason) = reason {
            ended.message = reason;
        }
        self.deaths += 1;
        if !serves {
            return self.not_started(ended);
        }
        tracing::warn!(ended.message, "restarting the engine process");
        let advice = "The engine is restarting. Finished images are safe.".to_owned();
        let failure = Failure { message: ended.message.clone(), advice: Some(advice) };
        self.emitter.emit(Event::Restarting { failure });
        if let Some(entry) = self.jobs.running() {
            entry.deaths += 1;
            if entry.deaths >= DEATHS_OF_A_JOB {
                let job = entry.job.id;
                self.jobs.end(job);
                self.emitter.emit(Event::Failed { job: Some(job), failure: fatal(ended) });
            }
        }
        self.start_later();
    }

    fn start_later(&mut self) {
        let wait = WAITS[(self.deaths.saturating_sub(1) as usize).min(WAITS.len() - 1)];
        self.start_at = Instant::now() + wait;
    }

    /// Handles a worker that failed to start: tries again, or continues with the next program.
    fn not_started(&mut self, failure: Failure) {
        if let Some(worker) = self.worker.take() {
            worker.end();
        }
        if self.deaths < DEATHS_AT_START {
            return self.start_later();
        }
        tracing::error!(failure.message, "an engine cannot be started");
        self.deaths = 0;
        self.programs.pop_front();
        let advice = "Another engine generates images instead.".to_owned();
        if self.programs.is_empty() {
            let failure = fatal(failure);
            let jobs: Vec<JobId> = self.jobs.entries().iter().map(|entry| entry.job.id).collect();
            for job in jobs {
                self.emitter.emit(Event::Failed { job: Some(job), failure: failure.clone() });
            }
            return self.emitter.emit(Event::Failed { job: None, failure });
        }
        self.instead_of = Some(Failure { advice: Some(advice), ..failure });
        self.start_at = Instant::now();
    }
}

/// Advice for an engine that is not the expected program.
const REINSTALL: &str = "Reinstall Sluice. The log has details.";

/// The message for a job or engine that is given up.
fn fatal(failure: Failure) -> Failure {
    Failure { message: format!("the engine process failed repeatedly: {}", failure.message), ..failure }
}
