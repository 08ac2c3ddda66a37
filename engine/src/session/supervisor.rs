//! A session whose engine is a separate process. If it dies, it is restarted, and jobs resume.

use std::{
    collections::VecDeque,
    io,
    path::PathBuf,
    time::{Duration, Instant},
};

use crossbeam_channel::{Receiver, bounded, never, select};

use super::{
    Command, Event, Failure, Job, JobId, Picture, Serving, Session, SessionOptions,
    elsewhere::{
        command_error::CommandError,
        parcels::{Parcel, Ticket},
        results::outward,
        visit::Visit,
    },
    process::{Heard, Process, WorkerProgram},
    protocol::{FromWorker, Hello, PATIENCE, ToWorker},
    threads::{COMMANDS, EVENTS, Emitter, spawn},
    unfinished::Unfinished,
};
use crate::{output::Media, request::PromptFolders};

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
/// How long a command may take until the engine behind it answers. A cluster starts it when its turn comes.
const BEFORE_HELLO: Duration = Duration::from_secs(60 * 60);
/// How long a broken connection is tried again.
const RECONNECTS: Duration = Duration::from_secs(15 * 60);

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
    load: Option<Command>,
    list: bool,
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

    /// Starts a worker when it is time, and ends one that hangs.
    fn look(&mut self) {
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

    fn handle(&mut self, command: Command) {
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
            Command::Load { .. } => self.asked.load = Some(command.clone()),
            Command::Plan(query) => {
                self.asked.plans.push((query.id, command.clone()));
                if self.elsewhere.is_some() {
                    return self.send(command, Ticket::default());
                }
            }
            Command::List => self.asked.list = true,
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
    fn generate(&mut self, job: Job) {
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
    fn send(&self, command: Command, ticket: Ticket) {
        if let Some(worker) = self.worker.as_ref().filter(|worker| worker.serves) {
            worker.send(Parcel { command, ticket });
        }
    }

    /// Whether a job waits for its files, and now no more.
    fn withdraw(&self, job: JobId) -> bool {
        let ticket = self.elsewhere.as_ref().and_then(|elsewhere| elsewhere.tickets.get(&job));
        ticket.is_some_and(Ticket::withdraw)
    }

    fn give_up(&mut self, job: JobId, failure: Failure) {
        self.jobs.end(job);
        self.left(job);
        self.emitter.emit(Event::Failed { job: Some(job), failure });
    }

    /// Lets an engine elsewhere remove the files of a job that has ended.
    fn left(&mut self, job: JobId) {
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
    fn forget(&self, jobs: &[Job]) {
        let Some(worker) = self.worker.as_ref().filter(|worker| worker.serves) else { return };
        let names = jobs.iter().filter_map(|job| job.journal.as_deref()?.file_name());
        for journal in names.filter(|_| self.elsewhere.is_some()) {
            worker.tell(ToWorker::Forget { journal: journal.into() });
        }
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
            self.left(job);
            self.emitter.emit(Event::Cancelled { job });
        }
    }

    fn take(&mut self, heard: Heard) {
        match heard {
            Heard::Message(FromWorker::Hello(hello)) => self.greet(&hello),
            Heard::Message(FromWorker::Event(event)) => self.hear(*event),
            Heard::Message(FromWorker::Alive) => {}
            Heard::Message(FromWorker::Ready { engine, files }) => self.ready(engine, files),
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
        self.asked.load.iter().for_each(|command| self.tell(command.clone()));
        if self.asked.list {
            self.tell(Command::List);
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

    /// Forwards an event, unless an earlier worker already sent it.
    fn hear(&mut self, mut event: Event) {
        if let Some(elsewhere) = &mut self.elsewhere {
            elsewhere.sent.homeward(&mut event);
            match event {
                Event::Described { job, settings } if self.jobs.entry(job).is_some() => {
                    return elsewhere.results.expect(job, settings);
                }
                Event::Described { .. } => return,
                Event::Preview { ref media, .. } if !media.iter().all(Media::is_whole) => return,
                _ => {}
            }
        }
        if let Event::Finished { job, pictures, .. } = &mut event {
            let job = *job;
            if let Err(failure) = self.save(job, pictures) {
                event = Event::Failed { job: Some(job), failure };
            }
        }
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
                let job = *job;
                let ended = self.jobs.entry(job).map(|entry| entry.job.clone());
                self.jobs.end(job);
                self.left(job);
                self.forget(ended.as_slice());
                self.deaths = 0;
                false
            }
            Event::Cancelled { job } => {
                // A worker that ends, with the session or because its input is broken, cancels what runs. Nobody has asked
                // for that, so the job is kept for the next session or worker.
                let job = *job;
                let is_wanted = self.jobs.entry(job).is_none_or(|entry| entry.is_cancelled);
                if is_wanted {
                    let gone = self.jobs.cancel(job);
                    self.left(job);
                    self.forget(&gone);
                }
                !is_wanted && self.closing.is_none()
            }
            Event::ModelLoaded(_) | Event::Failed { job: None, .. } => {
                self.asked.load = None;
                false
            }
            Event::Listed { .. } => {
                self.asked.list = false;
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

    /// Writes the images of a job of an engine elsewhere.
    fn save(&mut self, job: JobId, pictures: &mut [Picture]) -> Result<(), Failure> {
        let (Some(elsewhere), Some(entry)) = (&mut self.elsewhere, self.jobs.entry(job)) else {
            return Ok(());
        };
        if !elsewhere.results.are_whole(&entry.job, pictures) {
            let message = "the engine sent images that are not complete".to_owned();
            return Err(Failure { message, advice: Some(SAME_VERSION.to_owned()) });
        }
        elsewhere.results.save(&entry.job, pictures, |event| self.emitter.emit(event));
        Ok(())
    }

    /// Handles the end of a worker, or ends one that is unusable for `reason`.
    fn died(&mut self, reason: Option<String>) {
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

/// Advice for an engine elsewhere that is not the expected program.
const SAME_VERSION: &str = "Install the same version of Sluice on the engine's computer and on this one.";
/// Advice for an engine that is not the expected program.
const REINSTALL: &str = "Reinstall Sluice. The log has details.";

/// The message for a job or engine that is given up.
fn fatal(failure: Failure) -> Failure {
    Failure { message: format!("the engine process failed repeatedly: {}", failure.message), ..failure }
}
