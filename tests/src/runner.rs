//! A session that waits for its jobs.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use sluice_engine::{
    request::Request,
    session::{Command, Event, Failure, Job, JobId, Picture, Session, SessionOptions, Stage},
};

use crate::{
    checkpoint::{Run, load, save},
    original_names::Tensors,
};

/// Far longer than any job of the tests takes.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// How a job ended.
#[derive(Debug)]
pub enum End {
    /// With images.
    Finished(Vec<Picture>),
    /// With an error.
    Failed(Failure),
    /// By request.
    Cancelled,
}

/// A finished job.
#[derive(Debug)]
pub struct Outcome {
    /// All events since the job was sent.
    pub events: Vec<Event>,
    /// How it ended.
    pub end: End,
}

impl Outcome {
    /// The images of a job that must succeed.
    pub fn pictures(self) -> Result<Vec<Picture>> {
        match self.end {
            End::Finished(pictures) => Ok(pictures),
            End::Failed(failure) => Err(anyhow!("the job failed: {}", failure.message)),
            End::Cancelled => Err(anyhow!("the job was cancelled")),
        }
    }

    /// The error of a job that must fail.
    pub fn failure(self) -> Result<Failure> {
        match self.end {
            End::Failed(failure) => Ok(failure),
            other => Err(anyhow!("the job did not fail: {other:?}")),
        }
    }
}

/// A running engine, with ids for its jobs.
pub struct Runner {
    session: Session,
    next: u64,
}

impl Runner {
    /// Starts an engine that does not probe the hardware.
    pub fn start() -> Result<Self> {
        Self::with(SessionOptions::default())
    }

    /// Starts an engine with two threads, which small images can keep busy. With more, some threads allocate
    /// nothing, and predictions exceed the measurements.
    pub fn of_two_threads() -> Result<Self> {
        Self::with(SessionOptions { threads: Some(2), ..SessionOptions::default() })
    }

    /// Starts an engine with these options.
    pub fn with(options: SessionOptions) -> Result<Self> {
        Ok(Self { session: Session::start(options)?, next: 1 })
    }

    /// The session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Sends a command.
    pub fn send(&self, command: Command) -> Result<()> {
        self.session.send(command).map_err(|unsent| anyhow!("the engine does not take {unsent:?}"))
    }

    /// A job with a new id.
    pub fn job(&mut self, request: Request) -> Job {
        self.next += 1;
        Job::new(JobId(self.next), request)
    }

    /// The next event.
    pub fn event(&self) -> Result<Event> {
        self.session.events().recv_timeout(PATIENCE).context("the engine sends no events")
    }

    /// Events until the job ends.
    pub fn wait(&self, job: JobId) -> Result<Outcome> {
        let start = Instant::now();
        let mut events = Vec::new();
        while start.elapsed() < PATIENCE {
            let event = self.event()?;
            events.push(event.clone());
            let end = match event {
                Event::Finished { job: ended, pictures, .. } if ended == job => End::Finished(pictures),
                Event::Failed { job: Some(ended), failure } if ended == job => End::Failed(failure),
                Event::Cancelled { job: ended } if ended == job => End::Cancelled,
                _ => continue,
            };
            return Ok(Outcome { events, end });
        }
        bail!("{job:?} does not end");
    }

    /// Sends a job and waits for its end.
    pub fn run(&self, job: Job) -> Result<Outcome> {
        let id = job.id;
        self.send(Command::Generate(Box::new(job)))?;
        self.wait(id)
    }

    /// Sends a request and waits for its images.
    pub fn draw(&mut self, request: Request) -> Result<Vec<Picture>> {
        let job = self.job(request);
        self.run(job)?.pictures()
    }

    /// Sends a request and returns the images and the tensors of every stage. `latents` replaces the seed's
    /// noise.
    pub fn dump(&mut self, request: Request, latents: Option<&Tensors>) -> Result<(Vec<Picture>, Tensors)> {
        let folder = tempfile::tempdir()?;
        let mut job = self.job(request);
        let dump = folder.path().join("dump.safetensors");
        job.dump = Some(dump.clone());
        if let Some(latents) = latents {
            let path = folder.path().join("latents.safetensors");
            save(latents, &path)?;
            job.initial_latents = Some(path);
        }
        let pictures = self.run(job)?.pictures()?;
        Ok((pictures, load(&dump)?))
    }

    /// Repeats a reference run with the model at `model`.
    pub fn repeat(&mut self, run: &Run, model: &Path) -> Result<(Vec<Picture>, Tensors)> {
        self.dump(run.request(model), Some(&run.latents()?))
    }
}

/// The names of events, with stage or step: the order in which things happened.
pub fn story(events: &[Event], job: JobId) -> Vec<String> {
    let stage = |stage: &Stage| stage.name.to_lowercase();
    let tell = |event: &Event| match event {
        Event::Queued { job: of, .. } if *of == job => Some("queued".to_owned()),
        Event::Started { job: of } if *of == job => Some("started".to_owned()),
        Event::StageStarted { job: of, stage: which } if *of == job => {
            Some(format!("{} starts", stage(which)))
        }
        Event::StageFinished { job: of, stage: which, .. } if *of == job => {
            Some(format!("{} ends", stage(which)))
        }
        Event::Step { job: of, step, steps, .. } if *of == job => Some(format!("step {step} of {steps}")),
        Event::Finished { job: of, .. } if *of == job => Some("finished".to_owned()),
        Event::Cancelled { job: of } if *of == job => Some("cancelled".to_owned()),
        Event::Failed { job: Some(of), .. } if *of == job => Some("failed".to_owned()),
        _ => None,
    };
    events.iter().filter_map(tell).collect()
}
