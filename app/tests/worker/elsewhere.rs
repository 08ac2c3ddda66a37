//! An engine behind a command, with folders of its own, whose connection breaks.

use std::{ffi::OsString, thread};

use sluice_engine::{
    output::Output,
    request::{Request, SourceImage},
    session::{Command, Event, Job, JobId, Session, SessionOptions, WorkerProgram},
};

use super::{
    Engine, PATIENCE,
    connection::{all, connection, relay},
    fs, job, pixels, request, undisturbed,
};

/// A command for an engine that keeps its files in `there`.
pub(super) fn command(there: &std::path::Path) -> WorkerProgram {
    at_home(there, env!("CARGO_BIN_EXE_sluice").as_ref(), &["worker", "--own"])
}

/// A command for a program whose home folder is `there`.
pub(super) fn at_home(there: &std::path::Path, program: &std::path::Path, further: &[&str]) -> WorkerProgram {
    let mut home = OsString::from("HOME=");
    home.push(there);
    let mut arguments: Vec<OsString> =
        vec!["-u".into(), "XDG_DATA_HOME".into(), home, "SLUICE_UNMEASURED=1".into(), program.into()];
    arguments.extend(further.iter().map(OsString::from));
    WorkerProgram { engine: "there".to_owned(), path: "env".into(), arguments, variables: Vec::new() }
}

fn behind(command: WorkerProgram) -> Engine {
    let options = SessionOptions { threads: Some(1), ..SessionOptions::default() };
    let session = Session::behind(command, options).unwrap();
    let mut engine = Engine { session, process: 0, restarts: Vec::new() };
    engine.until(|event| matches!(event, Event::Serving(_)));
    engine
}

/// A request with an image in this folder.
pub(super) fn with_input(folder: &std::path::Path) -> Request {
    let path = folder.join("start.png");
    let start = undisturbed(&Request { steps: 3, ..request() });
    sluice_engine::output::write_png(&path, &start[0].media, &settings()).unwrap();
    let source = Some(SourceImage { path, strength: 0.9, ..SourceImage::default() });
    Request { source, steps: 60, ..request() }
}

fn settings() -> sluice_engine::output::Settings {
    sluice_engine::output::Settings::new(&request(), "Starter", "z_image", 0)
}

/// The process is killed three times, and goes on with the journal and the input that it has.
#[test]
fn a_killed_engine_elsewhere_goes_on_where_it_was() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let request = with_input(here.path());
    let expected = undisturbed(&request);
    let mut engine = behind(command(there.path()));
    let output = here.path().join("result.png");
    engine.generate(&Job { output: Some(Output::File(output.clone())), ..job(1, request) });
    for kill in [8, 20, 32] {
        engine.until(|event| matches!(event, Event::Step { step, .. } if *step >= kill));
        engine.kill();
        engine.until(|event| matches!(event, Event::Restarting { .. }));
        let Event::Step { step, .. } = engine.until(|event| matches!(event, Event::Step { .. })) else {
            panic!()
        };
        assert!(step > kill, "step {step} was computed twice");
    }
    let pictures = engine.pictures(JobId(1));
    assert_eq!(pixels(&pictures), pixels(&expected));
    assert_eq!(pictures[0].path.as_deref(), Some(output.as_path()));
    assert!(output.is_file());
    assert_eq!(engine.restarts.len(), 3);
}

/// The connection breaks while both processes live on: the old worker has to let go before the new one goes on.
#[test]
fn a_broken_connection_is_made_again_and_nothing_is_lost() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let request = with_input(here.path());
    let expected = undisturbed(&request);
    let (bash, listener) = connection();
    let home = there.path().to_owned();
    let (sockets, connected) = std::sync::mpsc::channel();
    thread::spawn(move || while sockets.send(relay(&listener, &home, [all(), all()])).is_ok() {});
    let mut engine = behind(bash);
    let mut socket = connected.recv_timeout(PATIENCE).unwrap();
    engine.generate(&job(1, request));
    for kill in [10, 25] {
        engine.until(|event| matches!(event, Event::Step { step, .. } if *step >= kill));
        socket.shutdown(std::net::Shutdown::Both).unwrap();
        engine.until(|event| matches!(event, Event::Restarting { .. }));
        socket = connected.recv_timeout(PATIENCE).unwrap();
        let Event::Step { step, .. } = engine.until(|event| matches!(event, Event::Step { .. })) else {
            panic!()
        };
        assert!(step > kill, "step {step} was computed twice");
    }
    assert_eq!(pixels(&engine.pictures(JobId(1))), pixels(&expected));
    assert_eq!(engine.restarts.len(), 2);
}

#[test]
fn an_input_that_is_not_there_fails_only_its_job() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut engine = behind(command(there.path()));
    let path = here.path().join("missing.png");
    let source = Some(SourceImage { path: path.clone(), ..SourceImage::default() });
    engine.generate(&job(1, Request { source, ..request() }));
    engine.generate(&job(2, Request { steps: 2, ..request() }));
    let event = engine.until(|event| matches!(event, Event::Failed { .. } | Event::Finished { .. }));
    let Event::Failed { job: Some(JobId(1)), failure } = event else { panic!("{event:?}") };
    assert!(failure.message.contains(&path.display().to_string()), "{failure:?}");
    engine.pictures(JobId(2));
}

/// A job whose file is on its way is cancelled at once, and the next one is drawn.
#[test]
fn a_job_is_cancelled_while_its_file_is_sent() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = here.path().join("large.safetensors");
    fs::File::create(&path).unwrap().set_len(3 << 30).unwrap();
    let mut engine = behind(command(there.path()));
    let adapters = vec![sluice_engine::request::AdapterUse { path, weight: 1.0 }];
    engine.generate(&job(1, Request { adapters, ..request() }));
    thread::sleep(std::time::Duration::from_millis(300));
    engine.send(Command::Cancel { job: JobId(1) });
    let started = std::time::Instant::now();
    let event = engine.until(|event| {
        matches!(event, Event::Cancelled { .. } | Event::Failed { .. } | Event::Finished { .. })
    });
    assert!(matches!(event, Event::Cancelled { job: JobId(1) }), "{event:?}");
    assert!(started.elapsed() < std::time::Duration::from_secs(2), "{:?}", started.elapsed());
    engine.generate(&job(2, Request { steps: 2, ..request() }));
    engine.pictures(JobId(2));
}
