//! The engine's session, shared by many clients: calls in, answers to whoever asked.
//!
//! One thread owns the session. Clients wait on channels of their own, so none of them can hold up another.

use std::{
    collections::{HashMap, VecDeque},
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select};
use sluice_engine::{
    hardware::HardwareSample,
    memory::Forecast,
    output::Media,
    request::ModelSource,
    session::{Command, Event, Failure, Job, JobId, ModelSummary, PlanQuery, Session, StageKind, Unsent},
};
use tokio::sync::{oneshot, watch};

use super::Refusal;

/// Calls that wait for the thread.
const CALLS: usize = 512;
/// The most jobs that run or wait.
pub(super) const MOST_JOBS: usize = 256;

/// An image or a clip in its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// The seed that reproduces it.
    pub seed: u64,
    /// Its file.
    pub path: PathBuf,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// 1 for images.
    pub frames: usize,
}

/// Where a job is.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Phase {
    /// It waits.
    #[default]
    Queued,
    /// It runs.
    Running,
    /// It is done.
    Done {
        /// What it made.
        made: Vec<Made>,
        /// Its duration.
        seconds: f64,
    },
    /// It was cancelled.
    Cancelled,
    /// It failed.
    Failed(Failure),
}

impl Phase {
    /// Whether nothing more happens.
    pub fn has_ended(&self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// What is known of a job. A client that looks rarely misses nothing that still counts.
#[derive(Debug, Clone, Default)]
pub struct JobState {
    /// Where it is.
    pub phase: Phase,
    /// What it does.
    pub stage: Option<StageKind>,
    /// Denoising steps that are done.
    pub step: u32,
    /// Denoising steps.
    pub steps: u32,
    /// Of the remaining steps.
    pub seconds_left: Option<f64>,
    /// How the first image looks so far, with the step.
    pub preview: Option<(u32, Arc<Media>)>,
    /// The whole text of a job that writes one.
    pub text: Option<String>,
    /// What could not be saved where it should.
    pub not_saved: Vec<Failure>,
}

/// The jobs that run or wait, the running one first.
#[derive(Debug, Default)]
struct Board {
    jobs: VecDeque<(JobId, watch::Receiver<JobState>)>,
    hardware: Option<HardwareSample>,
    /// Why there is no engine any more.
    ended: Option<Failure>,
}

enum Call {
    Load(ModelSource, oneshot::Sender<Result<ModelSummary, Failure>>),
    Plan(Box<PlanQuery>, oneshot::Sender<Result<Forecast, Failure>>),
    Run(Box<Job>, watch::Sender<JobState>),
    Cancel(JobId),
    Unload,
    End,
}

/// The engine.
pub struct Hub {
    calls: Sender<Call>,
    board: Arc<Mutex<Board>>,
    numbers: AtomicU64,
    thread: Option<JoinHandle<()>>,
}

impl Hub {
    /// Shares a session.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(session: Session) -> io::Result<Self> {
        let (calls, incoming) = bounded(CALLS);
        let board = Arc::default();
        let desk = Clerk {
            session,
            board: Arc::clone(&board),
            loads: VecDeque::new(),
            plans: HashMap::new(),
            jobs: HashMap::new(),
        };
        let thread = thread::Builder::new().name("sluice-hub".to_owned());
        let thread = thread.spawn(move || desk.run(&incoming))?;
        Ok(Self { calls, board, numbers: AtomicU64::new(1), thread: Some(thread) })
    }

    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    fn call(&self, call: Call) -> Result<(), Refusal> {
        self.calls.try_send(call).map_err(|error| match error {
            TrySendError::Full(_) => Refusal::busy(),
            TrySendError::Disconnected(_) => self.ended(),
        })
    }

    fn ended(&self) -> Refusal {
        let failure = self.board().ended.clone();
        Refusal::engine(failure.unwrap_or_else(|| Failure {
            message: "the engine has ended".to_owned(),
            advice: Some("Start the server again. Its standard error has details.".to_owned()),
        }))
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the headers of a model.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub async fn load(&self, model: ModelSource) -> Result<ModelSummary, Refusal> {
        let (answer, answered) = oneshot::channel();
        self.call(Call::Load(model, answer))?;
        answered.await.map_err(|_| self.ended())?.map_err(Refusal::invalid)
    }

    /// Predicts what a request needs. What does not fit is no error here.
    ///
    /// # Errors
    /// When the request is not valid.
    pub async fn plan(&self, query: PlanQuery) -> Result<Forecast, Refusal> {
        let (answer, answered) = oneshot::channel();
        self.call(Call::Plan(Box::new(PlanQuery { id: self.number(), ..query }), answer))?;
        answered.await.map_err(|_| self.ended())?.map_err(Refusal::invalid)
    }

    /// Queues a job, which gets a number.
    ///
    /// # Errors
    /// When too many jobs wait, or there is no engine.
    pub fn run(self: &Arc<Self>, job: Job) -> Result<Ticket, Refusal> {
        let job = Job { id: JobId(self.number()), ..job };
        let (states, state) = watch::channel(JobState::default());
        {
            let mut board = self.board();
            if board.ended.is_some() {
                drop(board);
                return Err(self.ended());
            }
            if board.jobs.len() >= MOST_JOBS {
                return Err(Refusal::busy());
            }
            board.jobs.push_back((job.id, state.clone()));
        }
        let id = job.id;
        if let Err(refusal) = self.call(Call::Run(Box::new(job), states)) {
            self.board().jobs.retain(|(other, _)| *other != id);
            return Err(refusal);
        }
        Ok(Ticket { id, state, hub: Arc::clone(self), cancels: true })
    }

    /// Cancels a job.
    pub fn cancel(&self, job: JobId) {
        if self.call(Call::Cancel(job)).is_err() {
            tracing::warn!("the engine does not accept that a job is cancelled");
        }
    }

    /// Frees the memory that holds weights.
    ///
    /// # Errors
    /// When there is no engine.
    pub fn unload(&self) -> Result<(), Refusal> {
        self.call(Call::Unload)
    }

    /// The job that runs or is next, and how many wait behind it.
    pub fn running(&self) -> Option<(JobId, JobState, usize)> {
        let board = self.board();
        let (id, state) = board.jobs.front()?;
        let state = state.borrow().clone();
        Some((*id, state, board.jobs.len() - 1))
    }

    /// How many jobs come before one.
    pub fn position(&self, job: JobId) -> Option<usize> {
        self.board().jobs.iter().position(|(other, _)| *other == job)
    }

    /// The last sample of the machine.
    pub fn hardware(&self) -> Option<HardwareSample> {
        self.board().hardware.clone()
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        // An error means that the thread has ended.
        let _ = self.calls.send(Call::End);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of the hub panicked");
        }
    }
}

/// A job of a client. It is cancelled when the ticket is dropped before its end: nobody waits for it any more.
pub struct Ticket {
    /// Its number.
    pub id: JobId,
    state: watch::Receiver<JobState>,
    hub: Arc<Hub>,
    cancels: bool,
}

impl Ticket {
    /// What is known of it, now and later.
    pub fn state(&self) -> watch::Receiver<JobState> {
        self.state.clone()
    }

    /// Waits for its end.
    pub async fn end(&mut self) -> Phase {
        match self.state.wait_for(|state| state.phase.has_ended()).await {
            Ok(state) => state.phase.clone(),
            Err(_) => Phase::Failed(self.hub.ended().failure),
        }
    }

    /// The same, which goes on when nobody waits.
    pub fn kept(mut self) -> Self {
        self.cancels = false;
        self
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.cancels && !self.state.borrow().phase.has_ended() {
            self.hub.cancel(self.id);
        }
    }
}

type Loading = (ModelSource, oneshot::Sender<Result<ModelSummary, Failure>>);

/// What the thread has.
struct Clerk {
    session: Session,
    board: Arc<Mutex<Board>>,
    /// The first one was sent to the engine.
    loads: VecDeque<Loading>,
    plans: HashMap<u64, oneshot::Sender<Result<Forecast, Failure>>>,
    jobs: HashMap<JobId, watch::Sender<JobState>>,
}

impl Clerk {
    fn run(mut self, calls: &Receiver<Call>) {
        let events = self.session.events().clone();
        loop {
            select! {
                recv(events) -> event => match event {
                    Ok(Event::ShutDown) | Err(_) => break,
                    Ok(event) => self.hear(event),
                },
                recv(calls) -> call => match call {
                    Ok(Call::End) | Err(_) => return,
                    Ok(call) => self.serve(call),
                },
            }
        }
        let failure = Failure { message: "the engine has ended".to_owned(), advice: None };
        self.end_all(&failure);
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, command: Command) {
        let mut command = command;
        loop {
            match self.session.send(command) {
                Ok(()) => return,
                // The engine reads commands quickly, but hundreds can arrive at once.
                Err(Unsent::Full(waiting)) => command = *waiting,
                Err(Unsent::Ended(_)) => return,
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn serve(&mut self, call: Call) {
        match call {
            Call::Load(model, answer) => {
                self.loads.push_back((model, answer));
                if self.loads.len() == 1 {
                    self.load_next();
                }
            }
            Call::Plan(query, answer) => {
                // Whoever asked may be gone: clients that vanish are many.
                if !answer.is_closed() {
                    self.plans.insert(query.id, answer);
                    self.send(Command::Plan(query));
                }
            }
            Call::Run(job, states) => {
                self.jobs.insert(job.id, states);
                self.send(Command::Generate(job));
            }
            Call::Cancel(job) => self.send(Command::Cancel { job }),
            Call::Unload => self.send(Command::Unload),
            Call::End => {}
        }
    }

    fn load_next(&mut self) {
        if let Some((model, _)) = self.loads.front() {
            self.send(Command::Load { model: model.clone() });
        }
    }

    fn loaded(&mut self, result: Result<ModelSummary, Failure>) {
        if let Some((_, answer)) = self.loads.pop_front() {
            // Whoever asked may be gone.
            let _ = answer.send(result);
        }
        self.load_next();
    }

    fn hear(&mut self, event: Event) {
        match event {
            Event::Hardware(sample) => self.board().hardware = Some(sample),
            Event::ModelLoaded(summary) => self.loaded(Ok(*summary)),
            Event::NotLoaded { failure, .. } => self.loaded(Err(failure)),
            Event::Failed { job: None, failure } => {
                tracing::error!(failure.message, "the engine cannot go on");
                self.end_all(&failure);
            }
            Event::Planned { id, forecast, .. } => {
                if let Some(answer) = self.plans.remove(&id) {
                    let _ = answer.send(Ok(*forecast));
                }
            }
            Event::NotPlanned { id, failure } => {
                if let Some(answer) = self.plans.remove(&id) {
                    let _ = answer.send(Err(failure));
                }
            }
            Event::Started { job } => {
                // Of jobs that wait, another one may have been cancelled before it.
                let mut board = self.board();
                if let Some(place) = board.jobs.iter().position(|(other, _)| *other == job)
                    && let Some(started) = board.jobs.remove(place)
                {
                    board.jobs.push_front(started);
                }
                drop(board);
                self.change(job, |state| state.phase = Phase::Running);
            }
            Event::StageStarted { job, stage } => self.change(job, |state| state.stage = Some(stage.kind)),
            Event::Step { job, step, steps, seconds_left, .. } => self.change(job, |state| {
                (state.step, state.steps, state.seconds_left) = (step, steps, Some(seconds_left));
            }),
            Event::Preview { job, step, media } => {
                if let Some(first) = media.into_iter().next() {
                    self.change(job, |state| state.preview = Some((step, Arc::new(first))));
                }
            }
            Event::Text { job, text, is_whole: true } => self.change(job, |state| state.text = Some(text)),
            Event::NotSaved { job, failure } => self.change(job, |state| state.not_saved.push(failure)),
            Event::Finished { job, pictures, seconds } => {
                let made = pictures.into_iter().map(|picture| {
                    let (width, height) =
                        picture.media.first().map_or((0, 0), |frame| (frame.width, frame.height));
                    let frames = picture.media.frames().len();
                    Some(Made { seed: picture.seed, path: picture.path?, width, height, frames })
                });
                let made: Option<Vec<Made>> = made.collect();
                self.end(job, |state| match made {
                    Some(made) => Phase::Done { made, seconds },
                    None => Phase::Failed(state.not_saved.first().cloned().unwrap_or_else(|| Failure {
                        message: "an image could not be saved".to_owned(),
                        advice: Some("Check the folder that --output names.".to_owned()),
                    })),
                });
            }
            Event::Cancelled { job } => self.end(job, |_| Phase::Cancelled),
            Event::Failed { job: Some(job), failure } => self.end(job, |_| Phase::Failed(failure)),
            _ => {}
        }
    }

    fn change(&self, job: JobId, change: impl FnOnce(&mut JobState)) {
        if let Some(states) = self.jobs.get(&job) {
            states.send_modify(change);
        }
    }

    fn end(&mut self, job: JobId, phase: impl FnOnce(&JobState) -> Phase) {
        self.board().jobs.retain(|(other, _)| *other != job);
        if let Some(states) = self.jobs.remove(&job) {
            states.send_modify(|state| {
                state.phase = phase(state);
                state.preview = None;
            });
        }
    }

    /// Answers everybody who waits, because the engine is gone.
    fn end_all(&mut self, failure: &Failure) {
        self.board().ended = Some(failure.clone());
        self.loads.drain(..).for_each(|(_, answer)| drop(answer.send(Err(failure.clone()))));
        self.plans.drain().for_each(|(_, answer)| drop(answer.send(Err(failure.clone()))));
        let jobs: Vec<JobId> = self.jobs.keys().copied().collect();
        for job in jobs {
            self.end(job, |_| Phase::Failed(failure.clone()));
        }
    }
}
