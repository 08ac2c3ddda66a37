//! A session whose engine is a separate process. If it dies, it is restarted, and jobs resume.

mod commands;
mod events;
mod restarts;

use std::{
    collections::VecDeque,
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, bounded, never, select};

use super::{
    Command, Event, Failure, Job, Serving, Session, SessionOptions,
    elsewhere::{parcels::Ticket, visit::Visit},
    process::{Heard, Process, WorkerProgram},
    protocol::{FromWorker, Hello, ToWorker},
    threads::{COMMANDS, EVENTS, Emitter, spawn},
    unfinished::Unfinished,
};
use crate::request::{ModelSource, PromptFolders};

/// Interval of the checks whether a worker hangs or must be started.
const TICK: Duration = Duration::from_millis(100);
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
        Self::supervised(programs, without, options, None)
    }

    /// Starts an engine behind a command, such as `ssh -T host sluice worker`. It has its own files: inputs are sent to it,
    /// and images that come back are written here. The options' folders for models are those of its computer.
    ///
    /// # Errors
    /// When the operating system cannot start a thread or create a temporary folder.
    pub fn behind(command: WorkerProgram, options: SessionOptions) -> io::Result<Self> {
        Self::supervised(vec![command], None, options, Some(Visit::default()))
    }

    fn supervised(
        programs: Vec<WorkerProgram>,
        without: Option<Failure>,
        options: SessionOptions,
        elsewhere: Option<Visit>,
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
            elsewhere,
        };
        let thread = spawn("sluice-supervisor", move || supervisor.run(&incoming))?;
        Ok(Self::new(commands, events, vec![thread]))
    }
}

/// Queries without a response yet.
#[derive(Default)]
struct Asked {
    loads: Vec<AskedLoad>,
    list: bool,
    plans: Vec<(u64, Command)>,
}

/// A model without a summary yet.
struct AskedLoad {
    model: ModelSource,
    /// Workers that died while it was the first to be opened.
    deaths: u32,
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
    /// If the engine has other files.
    elsewhere: Option<Visit>,
}

impl Supervisor {
    fn run(mut self, commands: &Receiver<Command>) {
        let jobs = self.jobs.earlier();
        if !jobs.is_empty() {
            self.emitter.emit(Event::Unfinished { jobs });
        }
        let jobs = self.jobs.resumable();
        if !jobs.is_empty() {
            self.emitter.emit(Event::Resumable { jobs });
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

    fn take(&mut self, heard: Heard) {
        match heard {
            Heard::Message(FromWorker::Hello(hello)) => self.greet(&hello),
            Heard::Message(FromWorker::Event(event)) => self.hear(*event),
            Heard::Message(FromWorker::Alive) => {}
            Heard::Message(FromWorker::Ready { engine, instead_of, files }) => {
                self.instead_of = instead_of;
                self.ready(engine, files);
            }
            Heard::Message(FromWorker::NotKept { name }) => {
                if let Some(elsewhere) = &self.elsewhere {
                    elsewhere.sent.is_gone(&name);
                }
            }
            Heard::Unsent { command, failure } => match *command {
                Command::Generate(job) => self.give_up(job.id, failure),
                Command::Plan(query) => self.hear(Event::NotPlanned { id: query.id, failure }),
                _ => {}
            },
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
        if let Some(worker) = &mut self.worker {
            worker.greeted = true;
        }
        if *hello != own {
            self.deaths = DEATHS_AT_START;
            let message = format!(
                "the engine has version {} ({}), but the window has version {} ({})",
                hello.version, hello.source, own.version, own.source
            );
            let advice = if self.elsewhere.is_some() { SAME_VERSION } else { REINSTALL };
            if let Some(elsewhere) = &mut self.elsewhere {
                elsewhere.has_served = false;
            }
            return self.not_started(Failure { message, advice: Some(advice.to_owned()) });
        }
        let (Some(worker), Some(program)) = (&self.worker, self.programs.front()) else { return };
        worker.tell(ToWorker::Start {
            threads: self.threads,
            hardware: self.hardware,
            data: self.data.clone(),
            model_folders: self.model_folders.clone(),
            prompt_folders: self.prompt_folders.clone(),
            visit: self.elsewhere.as_ref().map(|visit| visit.name.clone()),
        });
        // One elsewhere says first what it has.
        if self.elsewhere.is_none() {
            let engine = program.engine.clone();
            self.serve(engine);
        }
    }

    /// An engine elsewhere has opened the folder of this visit.
    fn ready(&mut self, engine: String, files: Vec<String>) {
        let Some(elsewhere) = &mut self.elsewhere else { return };
        elsewhere.has_served = true;
        elsewhere.tickets.clear();
        elsewhere.sent.are_there(files);
        self.serve(engine);
    }

    /// A worker takes commands: sends it everything that is left to do.
    fn serve(&mut self, engine: String) {
        let Some(worker) = &mut self.worker else { return };
        worker.serves = true;
        let process = worker.number();
        self.drop_cancelled();
        self.emitter.emit(Event::Serving(Serving { engine, process, instead_of: self.instead_of.clone() }));
        for AskedLoad { model, .. } in &self.asked.loads {
            self.tell(Command::Load { model: model.clone() });
        }
        if self.asked.list {
            self.tell(Command::List { lane: 0 });
        }
        if self.paused {
            self.tell(Command::Pause { paused: true });
        }
        for (_, command) in &self.asked.plans {
            match self.elsewhere {
                Some(_) => self.send(command.clone(), Ticket::default()),
                None => self.tell(command.clone()),
            }
        }
        let jobs: Vec<Job> = self.jobs.entries().iter().map(|entry| entry.job.clone()).collect();
        jobs.into_iter().for_each(|job| self.generate(job));
    }
}

/// Advice for an engine elsewhere that is not the expected program.
const SAME_VERSION: &str = "Install the same version of Sluice on the engine's computer and on this one.";
/// Advice for an engine that is not the expected program.
const REINSTALL: &str = "Reinstall Sluice. The log has details.";
