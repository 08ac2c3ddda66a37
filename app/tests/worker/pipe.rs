//! Corrupted data in the pipes.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command as Program, Output, Stdio},
};

use sluice_engine::{
    request::{ModelSource, PromptFolders},
    session::{Command, Event, FromWorker, Hello, Session, SessionOptions, ToWorker, WorkerProgram},
    wire::{read_record, write_record},
};

use super::PATIENCE;

fn worker() -> Child {
    Program::new(env!("CARGO_BIN_EXE_sluice"))
        .args(["worker", "--own"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A worker's response to these bytes.
fn answer(bytes: &[u8]) -> Output {
    let mut child = worker();
    // It may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(bytes);
    child.wait_with_output().unwrap()
}

fn frames(messages: &[ToWorker]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        write_record(&mut bytes, message).unwrap();
    }
    bytes
}

fn hello() -> ToWorker {
    ToWorker::Hello(Hello::own())
}

fn start() -> ToWorker {
    ToWorker::Start {
        threads: Some(1),
        hardware: false,
        data: None,
        model_folders: Vec::new(),
        prompt_folders: PromptFolders::default(),
        visit: None,
    }
}

#[test]
fn a_worker_says_in_words_what_it_does_not_understand() {
    let mut cut_off = frames(&[hello(), start()]);
    cut_off.truncate(cut_off.len() - 3);
    let mut damaged = frames(&[hello()]);
    damaged[20] ^= 1;
    for (bytes, what) in [
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(), "claims to have"),
        (cut_off, "ended in the middle of a message"),
        (damaged, "damaged"),
        (frames(&[start()]), "did not begin with a greeting"),
        (frames(&[hello(), hello()]), "did not begin with a greeting"),
        ([frames(&[hello(), start()]), vec![7; 40]].concat(), "claims to have"),
    ] {
        let output = answer(&bytes);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{what}: {words}");
        assert!(words.contains(what) && !words.contains("panicked"), "{what}: {words}");
    }
}

#[test]
fn a_worker_ends_when_the_window_is_gone_or_another_one() {
    let other = Hello { source: "another".to_owned(), ..Hello::own() };
    for bytes in
        [Vec::new(), frames(&[hello()]), frames(&[hello(), start()]), frames(&[ToWorker::Hello(other)])]
    {
        let output = answer(&bytes);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words}");
        let first = read_record(&mut output.stdout.as_slice()).unwrap();
        assert!(matches!(first, Some(FromWorker::Hello(hello)) if hello == Hello::own()));
    }
}

/// A program that is not an engine.
fn script(folder: &Path, name: &str, lines: &str) -> WorkerProgram {
    let path: PathBuf = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    WorkerProgram { engine: name.to_owned(), path, arguments: Vec::new(), variables: Vec::new() }
}

fn hello_file(folder: &Path, hello: Hello) -> PathBuf {
    let path = folder.join("hello");
    let mut bytes = Vec::new();
    write_record(&mut bytes, &FromWorker::Hello(hello)).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

/// The engine that replaces an unusable one, and why.
fn instead_of(program: WorkerProgram) -> String {
    let programs = vec![program, super::program()];
    let session = Session::in_process_of(programs, None, SessionOptions::default()).unwrap();
    loop {
        match session.events().recv_timeout(PATIENCE).unwrap() {
            Event::Serving(serving) if serving.engine == "CPU" => {
                return serving.instead_of.expect("the other one was not tried").message;
            }
            _ => {}
        }
    }
}

#[test]
fn the_next_engine_serves_instead_of_one_that_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let missing = "echo 'error while loading shared libraries: libcublas.so.13: cannot open' >&2; exit 127";
    let why = instead_of(script(folder.path(), "missing-library", missing));
    assert!(why.contains("libcublas.so.13"), "{why}");

    let why = instead_of(script(folder.path(), "nonsense", "yes nonsense"));
    assert!(why.contains("claims to have"), "{why}");

    let hello = hello_file(folder.path(), Hello { version: "0.0.1".to_owned(), ..Hello::own() });
    let why = instead_of(script(folder.path(), "older", &format!("cat {}; cat", hello.display())));
    assert!(why.contains("0.0.1") && why.contains("but the window has version"), "{why}");

    let gone = WorkerProgram {
        engine: "CUDA".to_owned(),
        path: folder.path().join("not there"),
        arguments: Vec::new(),
        variables: Vec::new(),
    };
    let why = instead_of(gone);
    assert!(why.contains("not there"), "{why}");
}

/// Invalid data after a valid handshake costs a restart.
#[test]
fn an_engine_that_talks_nonsense_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let hello = hello_file(folder.path(), Hello::own());
    let lines = format!("cat {}; sleep 0.3; yes nonsense", hello.display());
    let program = script(folder.path(), "forgetful", &lines);
    let session = Session::in_process_of(vec![program], None, SessionOptions::default()).unwrap();
    let mut restarts = 0;
    while restarts < 2 {
        if let Event::Restarting { failure } = session.events().recv_timeout(PATIENCE).unwrap() {
            assert!(failure.message.contains("sent an invalid message"), "{failure:?}");
            restarts += 1;
        }
    }
}

#[test]
fn a_model_that_ends_every_engine_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let hello = hello_file(folder.path(), Hello::own());
    let program = script(folder.path(), "fragile", &format!("cat {}; sleep 0.3; exit 3", hello.display()));
    let session = Session::in_process_of(vec![program], None, SessionOptions::default()).unwrap();
    session.send(Command::Load { model: ModelSource::Starter }).unwrap();
    let mut restarts = 0;
    let failure = loop {
        match session.events().recv_timeout(PATIENCE).unwrap() {
            Event::Restarting { .. } => restarts += 1,
            Event::NotLoaded { model: ModelSource::Starter, failure } => break failure,
            _ => {}
        }
    };
    assert_eq!(restarts, 3);
    assert!(failure.message.contains("failed repeatedly"), "{failure:?}");
}

#[test]
fn without_any_engine_the_session_says_so_and_ends() {
    let folder = tempfile::tempdir().unwrap();
    let program = script(folder.path(), "dead", "exit 3");
    let session = Session::in_process_of(vec![program], None, SessionOptions::default()).unwrap();
    let mut said = false;
    loop {
        match session.events().recv_timeout(PATIENCE).unwrap() {
            Event::Failed { job: None, failure } => {
                assert!(failure.message.contains("0x3"), "{failure:?}");
                said = true;
            }
            Event::ShutDown => break,
            _ => {}
        }
    }
    assert!(said);
}
