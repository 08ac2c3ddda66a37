//! Limits of the process's memory: an image or an error, and never a signal.

use std::{
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

use super::{sluice, stderr, stdout};

/// The program with its memory limited to this many MiB by `ulimit` with `-v` or `-d`.
fn limited(folder: &Path, flag: &str, megabytes: u32, arguments: &[&str]) -> Output {
    let program = sluice(folder, arguments);
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("ulimit {flag} {}; exec \"$@\"", megabytes * 1024)).arg("sh");
    shell.arg(program.get_program()).args(program.get_args()).current_dir(folder);
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell.env_remove("MALLOC_ARENA_MAX").output().unwrap()
}

/// An image whose decoding takes over 100 MB if nothing limits it.
const IMAGE: [&str; 13] = [
    "generate",
    "--cpu",
    "--threads",
    "2",
    "--prompt",
    "a red circle",
    "--steps",
    "1",
    "--width",
    "512",
    "--height",
    "512",
    "--output",
];

#[test]
fn a_limited_process_draws_or_says_why_not() {
    let folder = TempDir::new().unwrap();
    // The fewest addresses in which there is room for the program file and its first allocations.
    let is_enough = |limit: &u32| limited(folder.path(), "-v", *limit, &["--version"]).status.success();
    let least = (60..110).find(is_enough).unwrap();
    let limits = [("-v", [least, least + 4, 110, 140, 170, 250]), ("-d", [10, 30, 50, 80, 120, 200])];
    let mut drawn = Vec::new();
    for (flag, limits) in limits {
        for limit in limits {
            let image = format!("{limit}{flag}.png");
            let output = limited(folder.path(), flag, limit, &[&IMAGE, [image.as_str()].as_slice()].concat());
            let said = stderr(&output);
            assert!(output.status.code().is_some(), "ended by a signal with {flag} {limit} MB: {said}");
            if output.status.success() {
                assert!(folder.path().join(image).is_file());
                drawn.push((flag, limit));
            } else {
                assert!(said.contains("error"), "{flag} {limit} MB: {said}");
            }
        }
    }
    assert!(drawn.contains(&("-v", 250)) && drawn.contains(&("-d", 200)), "{drawn:?}");
}

#[test]
fn the_machine_is_as_large_as_the_limit() {
    let folder = TempDir::new().unwrap();
    let probe = limited(folder.path(), "-d", 400, &["probe"]);
    assert!(stdout(&probe).contains("RAM   400 MB, "), "{}", stdout(&probe));
    assert!(stdout(&probe).contains("limited to 400 MB by ulimit -d"), "{}", stdout(&probe));
    let plan = limited(folder.path(), "-d", 400, &["plan", "--cpu", "--vram-budget", "4GB"]);
    assert!(stdout(&plan).contains(" of 400 MB of memory"), "{}", stdout(&plan));
}
