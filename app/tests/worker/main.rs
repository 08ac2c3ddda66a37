//! The engine in its own process, which is killed, and corrupted pipes.

#![cfg(test)]
#![cfg(unix)]

#[cfg(target_os = "linux")]
mod chosen;
#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod elsewhere;
#[cfg(feature = "window")]
mod grid;
#[cfg(target_os = "linux")]
mod lanes;
#[cfg(target_os = "linux")]
mod messages;
mod pipe;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command as Program,
    time::{Duration, Instant},
};

use sluice_engine::{
    output::Output,
    request::{ModelSource, Request, Sampler},
    session::{
        Command, Event, Failure, Job, JobId, Picture, Session, SessionOptions, StageKind, WorkerProgram,
    },
};
use sluice_tools::{Likeness, RandomDtype};

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

fn program() -> WorkerProgram {
    WorkerProgram {
        engine: "CPU".to_owned(),
        path: env!("CARGO_BIN_EXE_sluice").into(),
        arguments: vec!["worker".into(), "--own".into()],
        // It counts with a typical CPU, and begins a second earlier.
        variables: vec![("SLUICE_UNMEASURED".into(), "1".into())],
    }
}

/// An engine in a process, and the id of that process.
struct Engine {
    session: Session,
    process: u32,
    restarts: Vec<Failure>,
}

impl Engine {
    /// One that has not said anything yet.
    fn start_unheard(data: &Path) -> Self {
        let options =
            SessionOptions { threads: Some(1), data: Some(data.to_owned()), ..SessionOptions::default() };
        let session = Session::in_process_of(vec![program()], None, options).unwrap();
        Self { session, process: 0, restarts: Vec::new() }
    }

    fn start(data: &Path) -> Self {
        let mut engine = Self::start_unheard(data);
        engine.until(|event| matches!(event, Event::Serving(_)));
        engine
    }

    fn send(&self, command: Command) {
        self.session.send(command).unwrap();
    }

    fn generate(&self, job: &Job) {
        self.send(Command::Generate(Box::new(job.clone())));
    }

    fn next(&mut self) -> Event {
        let event = self.session.events().recv_timeout(PATIENCE).expect("the engine says nothing");
        match &event {
            Event::Serving(serving) => self.process = serving.process,
            Event::Restarting { failure } => self.restarts.push(failure.clone()),
            _ => {}
        }
        event
    }

    fn until(&mut self, found: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.next();
            if found(&event) {
                return event;
            }
        }
    }

    fn pictures(&mut self, id: JobId) -> Vec<Picture> {
        let ends = |event: &Event| match event {
            Event::Finished { job, .. } | Event::Cancelled { job } => *job == id,
            Event::Failed { job, .. } => job.is_none_or(|job| job == id),
            _ => false,
        };
        match self.until(ends) {
            Event::Finished { pictures, .. } => pictures,
            other => panic!("no images: {other:?}"),
        }
    }

    fn kill(&self) {
        kill(self.process);
    }
}

fn kill(process: u32) {
    let status = Program::new("kill").args(["-KILL", &process.to_string()]).status().unwrap();
    assert!(status.success());
}

fn request() -> Request {
    Request { prompt: "a red circle".to_owned(), seed: 7, steps: 30, ..Request::default() }
}

fn job(id: u64, request: Request) -> Job {
    Job::new(JobId(id), request)
}

/// The result of an undisturbed engine.
fn undisturbed(request: &Request) -> Vec<Picture> {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(folder.path());
    engine.generate(&job(1, request.clone()));
    let pictures = engine.pictures(JobId(1));
    assert!(engine.restarts.is_empty());
    pictures
}

fn pixels(pictures: &[Picture]) -> Vec<&[u8]> {
    pictures.iter().flat_map(|picture| picture.media.frames()).map(|frame| frame.pixels.as_slice()).collect()
}

#[test]
fn a_process_draws_as_a_thread_does() {
    let session = Session::start(SessionOptions { threads: Some(1), ..SessionOptions::default() }).unwrap();
    session.send(Command::Generate(Box::new(job(1, request())))).unwrap();
    let own = loop {
        match session.events().recv_timeout(PATIENCE).unwrap() {
            Event::Finished { pictures, .. } => break pictures,
            Event::Failed { failure, .. } => panic!("{failure:?}"),
            _ => {}
        }
    };
    assert_eq!(pixels(&own), pixels(&undisturbed(&request())));
}

#[test]
fn each_model_is_answered_that_was_asked_for_before_the_engine_serves() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::start_unheard(folder.path());
    let missing = ModelSource::Path(folder.path().join("no such model.gguf"));
    for model in [missing.clone(), ModelSource::Starter] {
        engine.send(Command::Load { model });
    }
    let first = engine.until(|event| matches!(event, Event::NotLoaded { .. } | Event::ModelLoaded(_)));
    assert!(matches!(&first, Event::NotLoaded { model, .. } if *model == missing), "{first:?}");
    engine.until(|event| matches!(event, Event::ModelLoaded(_)));
}

/// In every stage, with a second job waiting that must not be affected.
#[test]
fn a_killed_engine_goes_on_where_it_was() {
    let second = Request { prompt: "a sailboat".to_owned(), steps: 3, ..request() };
    let (expected, waiting) = (undisturbed(&request()), undisturbed(&second));
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(folder.path());
    for (round, stage) in
        [StageKind::EncodePrompt, StageKind::Denoise, StageKind::Decode].into_iter().enumerate()
    {
        let (first, next) = (2 * round as u64 + 1, 2 * round as u64 + 2);
        engine.generate(&job(first, request()));
        engine.generate(&job(next, second.clone()));
        engine
            .until(|event| matches!(event, Event::StageStarted { stage: begun, .. } if begun.kind == stage));
        engine.kill();
        assert_eq!(pixels(&engine.pictures(JobId(first))), pixels(&expected), "{stage:?}");
        assert_eq!(pixels(&engine.pictures(JobId(next))), pixels(&waiting), "{stage:?}");
        assert_eq!(engine.restarts.len(), round + 1);
    }
    let left = fs::read_dir(folder.path().join("unfinished")).unwrap();
    let journals = left.filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "journal")
    });
    assert_eq!(journals.count(), 0, "what was computed is not needed any more");
}

/// At ten moments of a run. Steps take long enough that the run does not end before.
fn kill_again_and_again(sampler: Sampler) {
    let request = Request { sampler, steps: 60, batch: 2, width: 192, height: 192, ..request() };
    let expected = undisturbed(&request);
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(folder.path());
    engine.generate(&job(1, request));
    for kill in 1..=10 {
        engine.until(|event| matches!(event, Event::Step { step, .. } if *step >= 4 * kill));
        engine.kill();
        // Until then, steps of the killed process may still arrive.
        engine.until(|event| matches!(event, Event::Restarting { .. }));
    }
    assert_eq!(pixels(&engine.pictures(JobId(1))), pixels(&expected), "{sampler:?}");
    assert_eq!(engine.restarts.len(), 10);
    assert!(engine.restarts[0].message.contains("was killed"), "{:?}", engine.restarts);
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_with_the_same_bytes() {
    kill_again_and_again(Sampler::Euler);
}

#[test]
fn a_run_of_a_stochastic_sampler_that_is_killed_again_and_again_ends_with_the_same_bytes() {
    kill_again_and_again(Sampler::Dpmpp3mSde);
}

#[test]
fn a_run_of_a_multistep_sampler_that_is_killed_again_and_again_ends_with_the_same_bytes() {
    kill_again_and_again(Sampler::UniPc);
}

#[test]
fn a_run_of_a_sampler_of_two_stages_that_is_killed_again_and_again_ends_with_the_same_bytes() {
    kill_again_and_again(Sampler::Heun);
}

/// In every stage, and in the middle of the steps of both experts.
#[test]
fn a_clip_is_the_same_after_its_engine_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("wan-2.2-14b");
    assert!(
        Likeness::of("wan-2.2-14b")
            .unwrap()
            .tiny()
            .write(&model, RandomDtype::F32, Some(1), |_| true)
            .unwrap()
    );
    let request = Request {
        model: ModelSource::Path(model),
        // Decoding takes long enough to be killed.
        width: 128,
        height: 96,
        frames: 33,
        steps: 16,
        guidance: 3.0,
        ..request()
    };
    let expected = undisturbed(&request);
    assert_eq!(pixels(&expected).len(), 33);
    let data = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(data.path());
    engine.generate(&job(1, request));
    let begins =
        |event: &Event, kind| matches!(event, Event::StageStarted { stage, .. } if stage.kind == kind);
    engine.until(|event| begins(event, StageKind::EncodePrompt));
    engine.kill();
    for kill in [2, 5, 8, 11] {
        engine.until(|event| matches!(event, Event::Step { step, .. } if *step >= kill));
        engine.kill();
    }
    engine.until(|event| begins(event, StageKind::Decode));
    engine.kill();
    assert_eq!(pixels(&engine.pictures(JobId(1))), pixels(&expected));
    assert_eq!(engine.restarts.len(), 6);
}

#[test]
fn finished_steps_are_not_computed_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(folder.path());
    engine.generate(&job(1, request()));
    engine.until(|event| matches!(event, Event::Step { step: 20, .. }));
    engine.kill();
    let next = engine.until(|event| matches!(event, Event::Restarting { .. } | Event::Finished { .. }));
    assert!(matches!(next, Event::Restarting { .. }), "{next:?}");
    let Event::Step { step, .. } = engine.until(|event| matches!(event, Event::Step { .. })) else {
        panic!()
    };
    assert!(step > 20, "step {step} was computed twice");
    engine.pictures(JobId(1));
}

/// With the commands that the window sends.
#[test]
fn a_paused_run_goes_on_to_the_same_bytes_after_its_weights_were_given_back() {
    let expected = undisturbed(&request());
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(folder.path());
    engine.generate(&job(1, request()));
    engine.until(|event| matches!(event, Event::Step { step: 12, .. }));
    for command in [Command::Pause { paused: true }, Command::Cancel { job: JobId(1) }, Command::Unload] {
        engine.send(command);
    }
    let (mut last, mut is_cancelled) = (12, false);
    loop {
        match engine.next() {
            Event::Step { step, .. } => last = step,
            Event::Cancelled { job } => is_cancelled = job == JobId(1),
            Event::Unloaded => break,
            _ => {}
        }
    }
    assert!(is_cancelled && last < 30, "stopped after {last} steps");
    engine.generate(&job(1, request()));
    engine.send(Command::Pause { paused: false });
    let Event::Step { step, .. } = engine.until(|event| matches!(event, Event::Step { .. })) else {
        panic!()
    };
    assert_eq!(step, last + 1, "finished steps are kept");
    assert_eq!(pixels(&engine.pictures(JobId(1))), pixels(&expected));
}

#[test]
fn a_job_that_kills_every_engine_is_given_up_and_the_next_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(folder.path());
    engine.generate(&job(1, request()));
    engine.generate(&job(2, request()));
    for _ in 0..3 {
        engine.until(|event| matches!(event, Event::StageStarted { stage, .. } if stage.kind == StageKind::EncodePrompt));
        engine.kill();
        engine.until(|event| matches!(event, Event::Restarting { .. }));
    }
    let event = engine.until(|event| matches!(event, Event::Failed { .. } | Event::Finished { .. }));
    let Event::Failed { job: Some(JobId(1)), failure } = event else { panic!("{event:?}") };
    assert!(failure.message.contains("failed repeatedly"), "{failure:?}");
    engine.pictures(JobId(2));
}

#[test]
fn a_cancelled_job_stays_cancelled_when_the_engine_dies() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(folder.path());
    engine.generate(&job(1, request()));
    engine.generate(&job(2, request()));
    engine.until(|event| matches!(event, Event::Step { step: 3, .. }));
    engine.kill();
    engine.send(Command::Cancel { job: JobId(2) });
    let cancelled = engine.until(|event| matches!(event, Event::Cancelled { .. } | Event::Finished { .. }));
    let cancelled = match cancelled {
        Event::Cancelled { job } => job,
        _ => {
            let Event::Cancelled { job } = engine.until(|event| matches!(event, Event::Cancelled { .. }))
            else {
                panic!()
            };
            return assert_eq!(job, JobId(2));
        }
    };
    assert_eq!(cancelled, JobId(2));
    engine.pictures(JobId(1));
}

/// Jobs that were unfinished when the window was closed are offered to the next window, and continue where
/// they were.
#[test]
fn jobs_outlive_the_window() {
    // The window must be gone long before the job could end.
    let request = Request { steps: 150, ..request() };
    let expected = undisturbed(&request);
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(folder.path());
    engine.generate(&job(1, request.clone()));
    engine.until(|event| matches!(event, Event::Step { step: 12, .. }));
    drop(engine);

    let mut engine = Engine::start_unheard(folder.path());
    let Event::Unfinished { jobs } = engine.next() else { panic!("the job is forgotten") };
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].request, request);
    engine.generate(&Job { id: JobId(9), ..jobs[0].clone() });
    let Event::Step { step, .. } = engine.until(|event| matches!(event, Event::Step { .. })) else {
        panic!()
    };
    assert!(step > 12, "step {step} was computed twice");
    assert_eq!(pixels(&engine.pictures(JobId(9))), pixels(&expected));
    drop(engine);

    let engine = Engine::start(folder.path());
    assert!(engine.restarts.is_empty());
    drop(engine);
}

/// An engine whose first job was cancelled.
fn cancelled_in_step_12(data: &Path, request: &Request) -> Engine {
    let mut engine = Engine::start(data);
    engine.generate(&job(1, request.clone()));
    engine.until(|event| matches!(event, Event::Step { step: 12, .. }));
    engine.send(Command::Cancel { job: JobId(1) });
    engine.until(|event| matches!(event, Event::Cancelled { .. }));
    engine
}

#[test]
fn a_cancelled_run_goes_on_where_it_was_when_it_is_wanted_again() {
    let request = Request { steps: 150, ..request() };
    let expected = undisturbed(&request);
    let folder = tempfile::tempdir().unwrap();
    let mut engine = cancelled_in_step_12(folder.path(), &request);
    engine.generate(&job(2, request));
    let Event::Step { step, .. } = engine.until(|event| matches!(event, Event::Step { .. })) else {
        panic!()
    };
    assert!(step > 12, "step {step} was computed twice");
    assert_eq!(pixels(&engine.pictures(JobId(2))), pixels(&expected));
}

/// The same after the window was closed and opened again.
#[test]
fn a_cancelled_run_goes_on_where_it_was_in_the_next_session() {
    let request = Request { steps: 150, ..request() };
    let expected = undisturbed(&request);
    let folder = tempfile::tempdir().unwrap();
    drop(cancelled_in_step_12(folder.path(), &request));

    let mut engine = Engine::start_unheard(folder.path());
    let Event::Resumable { jobs } = engine.next() else { panic!("the job is forgotten") };
    assert_eq!(jobs.iter().map(|job| &job.request).collect::<Vec<_>>(), [&request]);
    engine.generate(&Job { id: JobId(2), ..jobs[0].clone() });
    let Event::Step { step, .. } = engine.until(|event| matches!(event, Event::Step { .. })) else {
        panic!()
    };
    assert!(step > 12, "step {step} was computed twice");
    assert_eq!(pixels(&engine.pictures(JobId(2))), pixels(&expected));
    drop(engine);

    let mut engine = Engine::start_unheard(folder.path());
    assert!(matches!(engine.next(), Event::Serving(_)), "what is done is not offered again");
}

#[test]
fn forgotten_jobs_do_not_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Engine::start(folder.path());
    engine.generate(&job(1, request()));
    engine.until(|event| matches!(event, Event::Step { step: 2, .. }));
    drop(engine);
    let engine = Engine::start(folder.path());
    engine.send(Command::Forget);
    drop(engine);
    let options = SessionOptions { data: Some(folder.path().to_owned()), ..Default::default() };
    let session = Session::in_process_of(vec![program()], None, options).unwrap();
    let first = session.events().recv_timeout(PATIENCE).unwrap();
    assert!(matches!(first, Event::Serving(_)), "{first:?}");
}

/// An image that was saved before the process died is not saved twice.
#[test]
fn a_written_picture_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = folder.path().join("pictures");
    let mut engine = Engine::start(folder.path());
    let request = Request { batch: 3, steps: 2, ..request() };
    let job = Job { output: Some(Output::Folder(pictures.clone())), ..job(1, request) };
    engine.generate(&job);
    let started = Instant::now();
    let written = || fs::read_dir(&pictures).map_or(0, Iterator::count);
    while written() == 0 && started.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(1));
    }
    engine.kill();
    engine.pictures(JobId(1));
    let files: Vec<PathBuf> = fs::read_dir(&pictures).unwrap().map(|entry| entry.unwrap().path()).collect();
    let finished = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "png"));
    assert!((3..=4).contains(&finished.count()), "{files:?}");
}
