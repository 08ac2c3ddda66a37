//! `sluice worker` leads to the fastest engine of its computer: this program hands over to that for NVIDIA GPUs if it starts.

use std::{
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use sluice_engine::session::{Failure, WorkerProgram};

use super::{CUDA, Engines};

/// How long an engine may take to end that has nothing to read.
const LONGEST: Duration = Duration::from_secs(60);
/// How often is looked whether it has.
const LOOK: Duration = Duration::from_millis(20);

/// Lets the engine for NVIDIA GPUs go on in the place of this program. Returns only if it cannot, with the reason.
pub fn hand_over() -> Option<Failure> {
    let Engines { programs, without_cuda } = match Engines::find() {
        Ok(engines) => engines,
        Err(error) => return Some(does_not_start(&error.to_string())),
    };
    let Some(program) = programs.into_iter().find(|program| program.engine == CUDA) else {
        return without_cuda;
    };
    Some(does_not_start(&match starts(&program) {
        Ok(()) => become_program(&program),
        Err(reason) => reason,
    }))
}

fn does_not_start(reason: &str) -> Failure {
    Failure {
        message: format!("the engine for NVIDIA GPUs does not start: {reason}"),
        advice: Some("Check that the NVIDIA driver is installed.".to_owned()),
    }
}

fn command(program: &WorkerProgram) -> Command {
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).envs(program.variables.iter().cloned());
    command
}

/// Starts an engine with nothing to read. It looks for its libraries and a GPU, says hello, and ends.
fn starts(program: &WorkerProgram) -> Result<(), String> {
    let mut command = command(program);
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| error.to_string())?;
    let began = Instant::now();
    while child.try_wait().map_err(|error| error.to_string())?.is_none() {
        if began.elapsed() > LONGEST {
            end(&mut child);
            return Err("it does not answer".to_owned());
        }
        thread::sleep(LOOK);
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let last = last.map(|line| line.trim_start_matches("error: ").to_owned());
    Err(last.unwrap_or_else(|| output.status.to_string()))
}

fn end(child: &mut Child) {
    if let Err(error) = child.kill().and_then(|()| child.wait()) {
        tracing::warn!(%error, "the engine that was tried does not end");
    }
}

/// Replaces this process. Returns why it cannot.
#[cfg(unix)]
fn become_program(program: &WorkerProgram) -> String {
    use std::os::unix::process::CommandExt as _;
    command(program).exec().to_string()
}

/// Starts it with the pipes of this process, and ends as it does. Returns why it cannot be started.
#[cfg(not(unix))]
fn become_program(program: &WorkerProgram) -> String {
    match command(program).status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error.to_string(),
    }
}
