//! Starts an engine once, to see whether it runs here.

use std::{
    io,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{CudaEngineError, Installed, index::VERSION};
use crate::downloads::{DownloadError, Stop};

/// How long it may take to say its version.
const LONGEST: Duration = Duration::from_secs(60);
/// How often is looked whether it has.
const LOOK: Duration = Duration::from_millis(20);

/// Lets the program say its version, which takes all its libraries.
///
/// # Errors
/// If it does not start, or is of another version.
pub(super) fn try_once(installed: &Installed, stop: &Stop) -> Result<(), CudaEngineError> {
    let start = |reason: String| CudaEngineError::Start { reason };
    let began = Instant::now();
    let mut child = spawn(installed, began).map_err(|error| start(error.to_string()))?;
    loop {
        let is_late = began.elapsed() > LONGEST;
        if stop.is_stopped() || is_late {
            end(&mut child);
            return Err(if is_late {
                start("it does not answer".to_owned())
            } else {
                DownloadError::Stopped.into()
            });
        }
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) => thread::sleep(LOOK),
            Err(error) => return Err(start(error.to_string())),
        }
    }
    let output = child.wait_with_output().map_err(|error| start(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().rev().map(str::trim).find(|line| !line.is_empty());
        return Err(start(last.map_or_else(|| output.status.to_string(), str::to_owned)));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let found = said.split_whitespace().last().unwrap_or_default();
    match found == VERSION {
        true => Ok(()),
        false => Err(CudaEngineError::Version { found: found.to_owned(), own: VERSION.to_owned() }),
    }
}

/// Starts it. A process that is being started elsewhere may have its file open for writing for a moment.
fn spawn(installed: &Installed, began: Instant) -> io::Result<Child> {
    const PATIENCE: Duration = Duration::from_secs(5);
    loop {
        let mut command = Command::new(installed.program());
        command.arg("--version").envs(installed.variables());
        let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        match started {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && began.elapsed() < PATIENCE => {
                thread::sleep(LOOK);
            }
            done => return done,
        }
    }
}

fn end(child: &mut Child) {
    if let Err(error) = child.kill().and_then(|()| child.wait()) {
        tracing::warn!(%error, "the engine that was tried does not end");
    }
}
