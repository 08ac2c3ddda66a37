//! Which engine `sluice worker` is: that for NVIDIA GPUs, which a script plays, where it is installed and starts.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use sluice_engine::session::{Event, Serving, Session, SessionOptions};

use super::{PATIENCE, elsewhere::command};

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

/// What the engine says of itself to which `sluice worker` leads.
fn serving(home: &Path) -> Serving {
    let session = Session::behind(command(home), SessionOptions::default()).unwrap();
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
    let why = broken.instead_of.unwrap().message;
    assert_eq!(why, "the engine for NVIDIA GPUs does not start: there is no usable NVIDIA GPU");
}
