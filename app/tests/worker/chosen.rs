//! Which engine `sluice worker` is: that for NVIDIA GPUs, which a script plays, where it is installed and starts.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use sluice_engine::{
    session::{Event, FromWorker, Hello, Serving, Session, SessionOptions},
    wire::write_record,
};

use super::{PATIENCE, elsewhere::at_home};

/// Puts a script in the place of the engine that `sluice engine install` installs. Returns its folder.
fn install(home: &Path, lines: &str) -> PathBuf {
    let folder = concat!(".local/share/sluice/engines/cuda-", env!("CARGO_PKG_VERSION"));
    let folder = home.join(folder);
    fs::create_dir_all(&folder).unwrap();
    let program = folder.join("sluice-cuda");
    fs::write(&program, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// What the engine says of itself to which `sluice worker` leads. The program is in the home folder: beside the one that was
/// built there may be an engine for GPUs.
fn serving(home: &Path) -> Serving {
    let program = home.join("sluice");
    if !program.exists() {
        let built = Path::new(env!("CARGO_BIN_EXE_sluice"));
        // Another file system may be where temporary folders are.
        fs::hard_link(built, &program).or_else(|_| fs::copy(built, &program).map(drop)).unwrap();
    }
    let command = at_home(home, &program, &["worker"]);
    let session = Session::behind(command, SessionOptions::default()).unwrap();
    loop {
        match session.events().recv_timeout(PATIENCE).unwrap() {
            Event::Serving(serving) => return serving,
            Event::Failed { failure, .. } => panic!("{failure:?}"),
            _ => {}
        }
    }
}

#[test]
fn an_engine_for_gpus_that_starts_takes_its_place_with_its_libraries() {
    let home = tempfile::tempdir().unwrap();
    let started = home.path().join("started");
    let lines = format!(
        "echo \"$$ $1 $LD_LIBRARY_PATH\" >>'{}'\nexec '{}' worker --own",
        started.display(),
        env!("CARGO_BIN_EXE_sluice")
    );
    let folder = install(home.path(), &lines);
    let serving = serving(home.path());
    assert_eq!(serving.instead_of, None);
    let started = fs::read_to_string(started).unwrap();
    let starts: Vec<&str> = started.lines().collect();
    assert_eq!(starts.len(), 2, "it is tried, and then used: {started}");
    // It is the process that the caller has started.
    let used = format!("{} worker {}", serving.process, folder.join("lib").display());
    assert!(starts[1].starts_with(&used), "{used} is not what was started: {started}");
}

#[test]
fn without_one_that_starts_it_is_the_processor_and_says_why() {
    let home = tempfile::tempdir().unwrap();
    let missing = serving(home.path());
    assert_eq!(missing.engine, "CPU");
    let why = missing.instead_of.unwrap().message;
    assert!(why.starts_with("The engine for NVIDIA GPUs is not installed: "), "{why}");

    install(home.path(), "echo 'error: there is no usable NVIDIA GPU' >&2\nexit 1");
    let broken = serving(home.path());
    assert_eq!(broken.engine, "CPU");
    let why = broken.instead_of.unwrap();
    assert_eq!(why.message, "the engine for NVIDIA GPUs does not start: there is no usable NVIDIA GPU");
    assert_eq!(why.advice.as_deref(), Some("Check that the NVIDIA driver is installed."));

    // It says more than a pipe holds.
    install(home.path(), "yes 'a line of a log' | head -n 20000 >&2\necho 'out of file handles' >&2\nexit 1");
    let why = serving(home.path()).instead_of.unwrap();
    assert_eq!(why.message, "the engine for NVIDIA GPUs does not start: out of file handles");
    assert_eq!(why.advice, None);
}

#[test]
fn one_of_another_version_is_not_used() {
    let home = tempfile::tempdir().unwrap();
    let mut bytes = Vec::new();
    let older = Hello { version: "0.0.1".to_owned(), ..Hello::own() };
    write_record(&mut bytes, &FromWorker::Hello(older)).unwrap();
    let hello = home.path().join("hello");
    fs::write(&hello, bytes).unwrap();
    install(home.path(), &format!("exec cat '{}'", hello.display()));
    let serving = serving(home.path());
    assert_eq!(serving.engine, "CPU");
    let why = serving.instead_of.unwrap();
    let other = "the engine for NVIDIA GPUs does not start: the engine is of version 0.0.1 (";
    assert!(why.message.starts_with(other), "{}", why.message);
    assert!(why.advice.unwrap().contains("sluice engine install"));
}
